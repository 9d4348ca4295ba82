import { expect, test } from 'vitest';
import type { CallerId } from '../../domain/run.js';
import { ProcessSlots } from './process-slots.js';

const [a, b] = ['a', 'b'] as CallerId[] as [CallerId, CallerId];

test('turns are given in the order of coming, but never more to one caller than it may have', async () => {
  const turns = new ProcessSlots({ maxRunning: 2, maxRunningPerCaller: 1, maxQueued: 10 });
  const order: string[] = [];
  const first = await turns.take(a);
  const second = turns.take(a).then((giveBack) => {
    order.push('a again');
    return giveBack;
  });
  const other = await turns.take(b);
  order.push('b');
  first();
  // Said twice, it is given back once.
  first();
  (await second)();
  other();
  expect(order).toEqual(['b', 'a again']);
  await Promise.all([turns.take(a), turns.take(b)]);
});

test('one that waits too many is refused, and one that is cancelled leaves the line', async () => {
  const turns = new ProcessSlots({ maxRunning: 1, maxRunningPerCaller: 1, maxQueued: 1 });
  const giveBack = await turns.take(a);
  const stop = new AbortController();
  const waiting = turns.take(b, stop.signal);
  await expect(turns.take(b)).rejects.toMatchObject({ code: 'sandbox_busy' });
  stop.abort();
  await expect(waiting).rejects.toMatchObject({ code: 'cancelled' });
  const next = turns.take(b);
  giveBack();
  (await next)();
  await expect(turns.take(a, AbortSignal.abort())).rejects.toMatchObject({ code: 'cancelled' });
});

test('a flood of one caller keeps nobody else out: it gives up the place it took last', async () => {
  const turns = new ProcessSlots({ maxRunning: 1, maxRunningPerCaller: 1, maxQueued: 3 });
  const giveBack = await turns.take(a);
  const flood = [turns.take(a), turns.take(a), turns.take(a)];
  await expect(turns.take(a)).rejects.toMatchObject({ code: 'sandbox_busy' });
  const other = turns.take(b);
  await expect(flood[2]).rejects.toMatchObject({ code: 'sandbox_busy' });
  // Each has its share now: one more of either is refused.
  for (const caller of [a, b]) await expect(turns.take(caller)).rejects.toMatchObject({ code: 'sandbox_busy' });
  giveBack();
  for (const turn of [flood[0], flood[1], other]) (await turn)?.();
});
