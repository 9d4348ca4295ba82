import { expect, test } from 'vitest';
import type { CallerId } from '../../domain/execution.js';
import { Turns } from './turns.js';

const [a, b] = ['a', 'b'] as CallerId[] as [CallerId, CallerId];

test('turns are given in the order of coming, but never more to one caller than it may have', async () => {
  const turns = new Turns({ maxRunning: 2, maxRunningPerCaller: 1, maxQueued: 10 });
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
  const turns = new Turns({ maxRunning: 1, maxRunningPerCaller: 1, maxQueued: 1 });
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
