import { expect, test } from 'vitest';
import { takeRandom } from './random-supply.js';

test('no bytes are given out twice, over many supplies', () => {
  const seen = new Set(Array.from({ length: 5_000 }, () => takeRandom(12).toString('hex')));
  expect(seen.size).toBe(5_000);
});

test('as many are given as were asked for, also more than a supply', () => {
  for (const bytes of [1, 8, 4_095, 4_096, 4_097, 100_000]) expect(takeRandom(bytes)).toHaveLength(bytes);
  expect(takeRandom(8)).not.toEqual(takeRandom(8));
});

test('what was given stays as it is when more is taken', () => {
  const kept = takeRandom(16);
  const before = kept.toString('hex');
  for (let n = 0; n < 1_000; n++) takeRandom(16);
  expect(kept.toString('hex')).toBe(before);
});
