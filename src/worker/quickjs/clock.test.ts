import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { MAX_CLOCK_TICKS } from '../../domain/limits.js';
import { ProgramClock } from './clock.js';

const START = 1_700_000_000_000;
const fresh = () => ({ clockMs: START, clockReads: 0, clockTicks: 0 });
const NEW = { reads: 0, ticks: [] };

beforeEach(() => {
  vi.useFakeTimers({ now: START });
});
afterEach(() => {
  vi.useRealTimers();
});
const pass = (ms: number) => vi.setSystemTime(Date.now() + ms);

test('a read in another millisecond is reported with its ordinal, others only counted', () => {
  const clock = new ProgramClock(fresh(), NEW, START);
  expect([clock.read(), clock.read()]).toEqual([START, START]);
  pass(5);
  expect([clock.read(), clock.read()]).toEqual([START + 5, START + 5]);
  expect(clock.takeReport()).toEqual({ reads: 4, ticks: [2, 5] });
  expect(clock.takeReport()).toBeUndefined();
});

test('a rebuilt program reads the recorded times, then those of the machine', () => {
  pass(1_000);
  const clock = new ProgramClock(fresh(), { reads: 4, ticks: [1, 5, 3, 6] }, START);
  expect([1, 2, 3, 4].map(() => clock.read() - START)).toEqual([0, 5, 5, 6]);
  expect(clock.takeReport()).toBeUndefined();
  expect(clock.read() - START).toBe(1_000);
  expect(clock.takeReport()).toEqual({ reads: 5, ticks: [4, 1_000] });
});

test('a program resumed from an image continues after the clock reads in the image', () => {
  const state = { clockMs: START + 5, clockReads: 2, clockTicks: 1 };
  const clock = new ProgramClock(state, { reads: 4, ticks: [1, 5, 3, 9] }, START);
  expect([clock.read() - START, clock.read() - START]).toEqual([5, 9]);
});

test('a delivery moves it', () => {
  const clock = new ProgramClock(fresh(), NEW, START);
  clock.deliver(START + 7);
  expect(clock.read() - START).toBe(7);
  expect(clock.takeReport()).toEqual({ reads: 1, ticks: [] });
});

test('a journal of an older version has a clock that only deliveries move', () => {
  const clock = new ProgramClock(fresh(), null, START);
  pass(50);
  expect(clock.read()).toBe(START);
  clock.deliver(START + 9);
  expect(clock.read() - START).toBe(9);
  expect(clock.takeReport()).toBeUndefined();
});

test('a loop that reads for ten minutes has few ticks', () => {
  const state = fresh();
  const clock = new ProgramClock(state, NEW, START);
  for (let ms = 0; ms < 600_000; ms++) {
    pass(1);
    clock.read();
  }
  expect(clock.takeReport()?.ticks.length).toBeLessThan(6_000);
  expect(clock.read() - START).toBeGreaterThan(590_000);
});

test('a run that reads its clock in every slice has ticks until the end of its longest time', () => {
  const state = fresh();
  const clock = new ProgramClock(state, NEW, START);
  for (let index = 0; index < 20_000; index++) {
    pass(30);
    clock.deliver(Date.now() - 29);
    clock.read();
  }
  expect(state.clockTicks).toBeLessThan(MAX_CLOCK_TICKS);
  const before = clock.read();
  pass(300);
  expect(clock.read() - before).toBeGreaterThan(250);
});
