import { expect, test } from 'vitest';
import { partOfResult } from './part-of-result.js';

const json = JSON.stringify({ rows: [{ status: 'open' }], 'a/b': 1 });

test('a part is named by keys with dots between', () => {
  expect(partOfResult(json, { path: 'rows.0.status' })).toEqual({ json: '"open"' });
  expect(partOfResult(json, { path: 'a/b' })).toEqual({ json: '1' });
});

test('a JSON Pointer is answered with the path to write', () => {
  for (const path of ['/rows/0/status', 'rows/0/status'])
    expect(partOfResult(json, { path })).toEqual({
      problem: expect.stringContaining('write the path with dots: "rows.0.status"'),
    });
});
