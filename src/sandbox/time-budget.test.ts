import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { TimeBudget } from './time-budget.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

function openBudget(totalMs: number): { budget: TimeBudget; spent: () => number } {
  let spent = 0;
  const budget = new TimeBudget(totalMs, () => {
    spent++;
  });
  return { budget, spent: () => spent };
}

describe('a time budget', () => {
  test('is whole until it is started', () => {
    const { budget, spent } = openBudget(100);
    vi.advanceTimersByTime(1_000);
    expect([budget.remainingMs, spent()]).toEqual([100, 0]);
  });

  test('is spent while it runs, and says so once, when nothing is left', () => {
    const { budget, spent } = openBudget(100);
    budget.start();
    vi.advanceTimersByTime(99);
    expect([budget.remainingMs, spent()]).toEqual([1, 0]);
    vi.advanceTimersByTime(1);
    expect([budget.remainingMs, spent()]).toEqual([0, 1]);
    vi.advanceTimersByTime(1_000);
    expect(spent()).toBe(1);
  });

  test('keeps what is left while it is stopped', () => {
    const { budget, spent } = openBudget(100);
    budget.start();
    vi.advanceTimersByTime(60);
    budget.stop();
    vi.advanceTimersByTime(10_000);
    expect([budget.remainingMs, spent()]).toEqual([40, 0]);
    budget.start();
    vi.advanceTimersByTime(39);
    expect(spent()).toBe(0);
    vi.advanceTimersByTime(1);
    expect(spent()).toBe(1);
  });

  test('does not begin again when it is started twice, and loses nothing when it is stopped twice', () => {
    const { budget, spent } = openBudget(100);
    budget.start();
    vi.advanceTimersByTime(60);
    budget.start();
    vi.advanceTimersByTime(40);
    expect(spent()).toBe(1);
    budget.stop();
    budget.stop();
    expect(budget.remainingMs).toBe(0);
  });

  test('that was empty from the beginning is spent at once, but not before its owner has gone on', () => {
    const { budget, spent } = openBudget(-5);
    budget.start();
    expect(spent()).toBe(0);
    vi.advanceTimersByTime(0);
    expect(spent()).toBe(1);
  });

  test('longer than any timer of Node does not run out at once', () => {
    const { budget, spent } = openBudget(2 ** 40);
    budget.start();
    vi.advanceTimersByTime(2 ** 31 - 2);
    expect(spent()).toBe(0);
  });
});
