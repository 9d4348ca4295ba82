import { expect, test } from 'vitest';
import { Allowance } from './allowance.js';

test('a burst costs no wait, and what is taken beyond it is waited for', () => {
  const allowance = new Allowance({ burst: 100, perSecond: 10 }, 0);
  allowance.take(100, 0);
  expect(allowance.waitMs(0)).toBe(0);
  allowance.take(5, 0);
  expect(allowance.waitMs(0)).toBe(500);
  expect(allowance.waitMs(500)).toBe(0);
});

test('a debt lasts until a tenth of the burst has come back', () => {
  const allowance = new Allowance({ burst: 100, perSecond: 10 }, 0);
  allowance.take(101, 0);
  expect(allowance.inDebtMs(400)).toBe(400);
  expect(allowance.inDebtMs(900)).toBe(900);
  expect(allowance.inDebtMs(1_200)).toBe(0);
});

test('taking again before the debt is paid keeps its beginning', () => {
  const allowance = new Allowance({ burst: 10, perSecond: 10 }, 0);
  for (let atMs = 0; atMs <= 5_000; atMs += 100) allowance.take(2, atMs);
  expect(allowance.inDebtMs(5_000)).toBeGreaterThan(4_000);
});
