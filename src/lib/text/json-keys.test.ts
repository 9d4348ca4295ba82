import { expect, test } from 'vitest';
import { hasTooManyKeys } from './json-keys.js';

const members = (count: number, key: (index: number) => string, between = ':') =>
  `{${Array.from({ length: count }, (_, index) => `"${key(index)}"${between}"text, \\"not a key\\":1"`).join()}}`;

test.each<[string, string, boolean]>([
  ['many different keys', members(11, (index) => `k${index}`), true],
  ['as many as there may be', members(10, (index) => `k${index}`), false],
  ['the same key in many objects', `[${Array(100).fill('{"key":1}').join()}]`, false],
  [
    'different keys, one in each object',
    `[${Array.from({ length: 11 }, (_, index) => `{"k${index}":1}`).join()}]`,
    true,
  ],
  ['white space before the colon', members(11, (index) => `k${index}`, ' \t\r\n:'), true],
  ['keys that end with a backslash', members(11, (index) => `k${index}\\\\`), true],
  ['keys with quotes', members(11, (index) => `\\"${index}\\":`), true],
  ['text that looks like keys', JSON.stringify(members(100, (index) => `k${index}`)), false],
  ['a string without an end', `{"a":"${'x'.repeat(100)}`, false],
])('%s', (_name, json, expected) => {
  expect(hasTooManyKeys(json, 10)).toBe(expected);
});
