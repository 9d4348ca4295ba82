import { expect, test } from 'vitest';
import { backoffMs } from './backoff.js';

const OPTIONS = { firstMs: 100, maxMs: 1_000, factor: 2 };

test('waits grow up to a bound, and a random half of each is left out', () => {
  const attempts = [1, 2, 3, 4, 5, 100];
  expect(attempts.map((attempt) => backoffMs(attempt, OPTIONS, () => 1))).toEqual([100, 200, 400, 800, 1_000, 1_000]);
  expect(attempts.map((attempt) => backoffMs(attempt, OPTIONS, () => 0))).toEqual([50, 100, 200, 400, 500, 500]);
});
