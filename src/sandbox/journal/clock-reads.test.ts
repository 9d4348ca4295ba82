import { expect, test } from 'vitest';
import { MAX_CLOCK_TICKS } from '../../domain/limits.js';
import { ClockReads } from './clock-reads.js';

test('reports that follow each other are entered', () => {
  const book = new ClockReads({ reads: 3, ticks: [2, 10] });
  expect(book.enter(5, [3, 11])).toBeUndefined();
  expect(book.enter(6, [])).toBeUndefined();
  expect(book.enter(9, [6, 12, 8, 13])).toBeUndefined();
});

test.each([
  ['as many reads as before', 3, []],
  ['fewer reads', 2, []],
  ['half a pair', 9, [4]],
  ['a read that was reported before', 9, [1, 5]],
  ['reads out of order', 9, [6, 5, 5, 6]],
  ['a read beyond its count', 9, [9, 5]],
  ['more than a run may have', 1e9, Array.from({ length: 2 * MAX_CLOCK_TICKS + 2 }, (_, index) => index + 3)],
])('a report with %s is refused', (_, reads, ticks) => {
  expect(new ClockReads({ reads: 3, ticks: [2, 10] }).enter(reads, ticks)).toMatch(/^it (reported|read)/);
});

test('a flood of reports is refused', () => {
  const book = new ClockReads(null);
  let reads = 0;
  while (book.enter(++reads, []) === undefined && reads < 1e6);
  expect(reads).toBe(500_001);
});
