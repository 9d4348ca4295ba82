import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { Wakefulness } from './wakefulness.js';

afterEach(() => {
  vi.restoreAllMocks();
});

/** How often it looks around, until it has stopped. */
async function looksAfter(stay: (wakefulness: Wakefulness) => void): Promise<number> {
  const immediate = vi.spyOn(globalThis, 'setImmediate');
  stay(new Wakefulness());
  await sleep(20);
  const looks = immediate.mock.calls.length;
  await sleep(20);
  expect(immediate).toHaveBeenCalledTimes(looks);
  return looks;
}

test('it looks around more than once, and then sleeps', async () => {
  const now = vi.spyOn(performance, 'now');
  for (const atMs of [0, 0.03, 0.06, 0.09]) now.mockReturnValueOnce(atMs);
  now.mockReturnValue(0.11);
  expect(await looksAfter((wakefulness) => wakefulness.stay())).toBe(4);
});

test('an answer more makes it longer, not twice', async () => {
  const now = vi.spyOn(performance, 'now');
  for (const atMs of [0, 0.05, 0.12]) now.mockReturnValueOnce(atMs);
  now.mockReturnValue(0.16);
  const looks = await looksAfter((wakefulness) => {
    wakefulness.stay();
    wakefulness.stay();
  });
  expect(looks).toBe(2);
});
