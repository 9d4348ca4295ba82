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

test('lists keep only whole items, and objects whole keys', () => {
  const open = Array.from({ length: 50 }, (_, id) => ({ id, status: 'open', lines: [{ sku: 'long name' }] }));
  for (const [value, rowsOf] of [
    [open, (cut: unknown) => cut],
    [{ page: 1, open }, (cut: unknown) => (cut as { open?: unknown }).open ?? []],
  ] as const) {
    const json = JSON.stringify(value);
    for (let characters = 100; characters < json.length; characters += 1) {
      const rows = rowsOf(JSON.parse(cutJson(json, characters))) as unknown[];
      expect(rows).toEqual(open.slice(0, rows.length));
      expect(rows.length).toBeGreaterThan(0);
    }
  }
  const record = { id: 7, state: 'open', owner: { name: 'Ada Lovelace' } };
  const json = JSON.stringify(record);
  for (let characters = 1; characters < json.length; characters += 1)
    expect(record).toMatchObject(JSON.parse(cutJson(json, characters)) as object);
});

test('a long string in first place is cut and marked as cut', () => {
  const text = 'y'.repeat(500);
  expect(JSON.parse(cutJson(JSON.stringify({ text }), 100))).toEqual({
    text: `${'y'.repeat(91)}… (409 more characters)`,
  });
  expect(JSON.parse(cutJson(JSON.stringify(text), 100))).toBe(`${'y'.repeat(99)}… (401 more characters)`);
  expect(JSON.parse(cutJson(JSON.stringify([{ id: 1 }, { text }]), 100))).toEqual([{ id: 1 }]);
});
