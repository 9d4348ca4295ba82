import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { BusyPoll } from './busy-poll.js';

afterEach(() => {
  vi.restoreAllMocks();
});

/** How often it polls until it has stopped. */
async function pollsAfter(stay: (poll: BusyPoll) => void, runnable = () => 2): Promise<number> {
  const immediate = vi.spyOn(globalThis, 'setImmediate');
  stay(new BusyPoll(runnable, 2));
  await sleep(20);
  const polls = immediate.mock.calls.length;
  await sleep(20);
  expect(immediate).toHaveBeenCalledTimes(polls);
  return polls;
}

test('it polls more than once, and then stops', async () => {
  const now = vi.spyOn(performance, 'now');
  for (const atMs of [0, 0.03, 0.06, 0.09]) now.mockReturnValueOnce(atMs);
  now.mockReturnValue(0.11);
  expect(await pollsAfter((poll) => poll.stay())).toBe(4);
});

test('another answer makes it poll longer, not twice as often', async () => {
  const now = vi.spyOn(performance, 'now');
  for (const atMs of [0, 0.05, 0.12]) now.mockReturnValueOnce(atMs);
  now.mockReturnValue(0.16);
  const polls = await pollsAfter((poll) => {
    poll.stay();
    poll.stay();
  });
  expect(polls).toBe(2);
});

test('it does not poll while the machine has more work than cores', async () => {
  expect(
    await pollsAfter(
      (poll) => poll.stay(),
      () => 3,
    ),
  ).toBe(0);
});

test('it looks for other work every 5 ms, not for each answer', async () => {
  const now = vi.spyOn(performance, 'now');
  const runnable = vi.fn(() => 3);
  const polls = await pollsAfter((poll) => {
    for (const atMs of [100, 102, 104.9, 105, 106]) {
      now.mockReturnValueOnce(atMs);
      poll.stay();
    }
  }, runnable);
  expect([polls, runnable.mock.calls.length]).toEqual([0, 2]);
});
