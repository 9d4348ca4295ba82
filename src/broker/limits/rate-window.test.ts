import { expect, test } from 'vitest';
import { RateWindow } from './rate-window.js';

test('no second has more calls than the rate, wherever it begins', () => {
  const window = new RateWindow();
  const made: number[] = [];
  for (let nowMs = 0; nowMs < 5_000; nowMs += 7) {
    if (window.waitMs(5, nowMs) > 0) continue;
    window.take(nowMs);
    made.push(nowMs);
  }
  const counts = made.map((from) => made.filter((each) => each >= from && each < from + 1_000).length);
  expect(Math.max(...counts)).toBe(5);
  expect(made.length).toBeGreaterThanOrEqual(25);
});

test('the wait ends when the call that is in the way is a second old', () => {
  const window = new RateWindow();
  for (const nowMs of [0, 400]) window.take(nowMs);
  expect([window.waitMs(2, 500), window.waitMs(2, 1_000), window.waitMs(1, 1_000)]).toEqual([500, 0, 400]);
  expect([window.isEmpty(1_399), window.isEmpty(1_400)]).toEqual([false, true]);
});
