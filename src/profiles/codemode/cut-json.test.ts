import { expect, test } from 'vitest';
import { cutJson } from './cut-json.js';

const rows = Array.from({ length: 50 }, (_, id) => ({ id, name: `row "${id}" \\ é`, tags: ['a', 'b'] }));
const VALUES: readonly unknown[] = [
  rows,
  { rows, after: 1 },
  'x'.repeat(500),
  { text: '\u0001"\\'.repeat(200) },
  ['\\'.repeat(300)],
  [[[[1, 2, 3]], { a: null, b: true }]],
  { 'a long key that is cut in two': { b: 1 } },
  123_456_789,
];

test('every beginning of a JSON text is JSON, and part of the value', () => {
  for (const value of VALUES) {
    const json = JSON.stringify(value);
    for (let characters = 1; characters <= json.length; characters += 1)
      expect(() => JSON.parse(cutJson(json, characters))).not.toThrow();
    expect(cutJson(json, json.length)).toBe(json);
  }
});

test('lists keep their first items whole, and a long string its beginning', () => {
  const json = JSON.stringify(rows);
  const cut = JSON.parse(cutJson(json, 200)) as unknown[];
  expect(cut.length).toBeGreaterThan(2);
  expect(cut.slice(0, -1)).toEqual(rows.slice(0, cut.length - 1));
  expect(JSON.parse(cutJson(JSON.stringify({ text: 'y'.repeat(500) }), 100))).toEqual({ text: 'y'.repeat(91) });
});
