import { afterEach, expect, test, vi } from 'vitest';
import { ProgramClock } from './program-clock.js';

afterEach(() => {
  vi.useRealTimers();
});

test('it never goes backwards, whatever the machine’s clock does', () => {
  vi.useFakeTimers({ now: 1_000 });
  const clock = new ProgramClock(5_000);
  expect(clock.now()).toBe(5_000);
  vi.setSystemTime(7_000);
  expect(clock.now()).toBe(7_000);
  vi.setSystemTime(6_000);
  expect(clock.now()).toBe(7_000);
});

test('a timer fires at its time and not before, and only the last one that was set', () => {
  vi.useFakeTimers({ now: 1_000 });
  const clock = new ProgramClock(1_000);
  const fired: number[] = [];
  clock.wakeAt(1_050, (atMs) => fired.push(atMs));
  clock.wakeAt(1_100.5, (atMs) => fired.push(atMs));
  vi.advanceTimersByTime(99);
  expect(fired).toEqual([]);
  vi.advanceTimersByTime(10);
  expect(fired).toEqual([1_101]);
});

test('a timer that was stopped, or set to nothing, does not fire', () => {
  vi.useFakeTimers({ now: 1_000 });
  const clock = new ProgramClock(1_000);
  const fired: number[] = [];
  clock.wakeAt(1_010, (atMs) => fired.push(atMs));
  clock.stop();
  clock.wakeAt(1_020, (atMs) => fired.push(atMs));
  clock.wakeAt(null, () => {});
  vi.advanceTimersByTime(1_000);
  expect(fired).toEqual([]);
});
