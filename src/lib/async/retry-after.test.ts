import { expect, test } from 'vitest';
import { retryAfterMs } from './retry-after.js';

test('the wait is read from seconds and from a date, and bounded', () => {
  const nowMs = Date.parse('2026-01-01T00:00:00Z');
  const read = (header: string | null) => retryAfterMs(header, nowMs);
  expect([read('7'), read('0'), read('Thu, 01 Jan 2026 00:00:30 GMT'), read('Wed, 31 Dec 2025 00:00:00 GMT')]).toEqual([
    7_000, 0, 30_000, 0,
  ]);
  expect([read(null), read(''), read('soon'), read('-1x')]).toEqual([undefined, undefined, undefined, undefined]);
  expect(read('999999999')).toBe(86_400_000);
});
