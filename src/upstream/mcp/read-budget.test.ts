import { expect, test, vi } from 'vitest';
import { ReadBudget, type ReadLimits } from './read-budget.js';

const MEBIBYTE = 1024 * 1024;
const LIMITS: ReadLimits = {
  messages: { burst: 100, perSecond: 1_000 },
  bytes: { burst: 1_000, perSecond: 1_000_000 },
  patienceMs: 50,
  maxUntakenAnswers: 3,
};

function open(limits: Partial<ReadLimits> = {}) {
  const reasons: string[] = [];
  const budget = new ReadBudget(256 * MEBIBYTE, (reason) => reasons.push(reason), { ...LIMITS, ...limits });
  return { budget, reasons };
}

test('a burst is read at once, what comes after it is waited for', () => {
  const { budget } = open();
  for (let n = 0; n < 100; n += 1) budget.unasked();
  expect(budget.waitMs()).toBe(0);
  for (let n = 0; n < 100; n += 1) budget.unasked();
  expect(budget.waitMs()).toBeGreaterThan(50);
});

test('a server that stays over its budget is cut off, once, with the reason', async () => {
  const { budget, reasons } = open();
  await vi.waitFor(
    () => {
      for (let n = 0; n < 500; n += 1) budget.unasked();
      budget.waitMs();
      expect(budget.isOver).toBe(true);
    },
    { interval: 5 },
  );
  budget.waitMs();
  expect(reasons).toEqual(['it sent more than 1000 messages a second unsolicited, for 0.05 s']);
});

test('the answer to a call costs nothing, however long; unsolicited messages cost their bytes', () => {
  const { budget } = open();
  budget.asked('call');
  budget.read(200 * MEBIBYTE);
  expect(budget.waitMs()).toBe(0);
  budget.answered('call');
  budget.read(2_000);
  expect(budget.waitMs()).toBeGreaterThan(0);
});

test('only results of tools may be long', () => {
  const { budget, reasons } = open();
  expect(budget.maxMessageBytes).toBe(16 * MEBIBYTE);
  budget.asked('other');
  expect(budget.maxMessageBytes).toBe(32 * MEBIBYTE);
  budget.asked('call');
  expect(budget.maxMessageBytes).toBe(256 * MEBIBYTE);
  budget.cancelled('call');
  // It may still be answered.
  expect(budget.maxMessageBytes).toBe(256 * MEBIBYTE);
  budget.tooLong();
  expect(reasons).toEqual(['it sent more than 32 MiB in one message that is not the result of a tool']);
});

test('a server that does not take the answers to its own requests is cut off', async () => {
  const { budget, reasons } = open();
  for (let n = 0; n < 3; n += 1) await budget.answering(Promise.resolve());
  expect(reasons).toEqual([]);
  for (let n = 0; n < 4; n += 1) void budget.answering(new Promise(() => {}));
  expect(reasons).toEqual(['it sends requests and does not read the answers: 3 are waiting for it']);
});
