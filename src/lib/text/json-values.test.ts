import { expect, test } from 'vitest';
import { countValues } from './json-values.js';

test.each<[string, string, number]>([
  ['a value alone', '1', 0],
  ['items and their array', '[1,2,3]', 3],
  ['members and their object', '{"a":1,"b":2}', 2],
  ['empty objects', '[{},{},{}]', 6],
  ['nothing in strings', '["[{,","\\"[,\\\\",{"a,{":"[["}]', 4],
  ['no further than the most', `[${'1,'.repeat(1_000)}1]`, 11],
  ['up to a string without an end', '[1,"2,3,4', 2],
])('counts %s', (_, json, values) => {
  expect(countValues(json, 10)).toBe(values);
});
