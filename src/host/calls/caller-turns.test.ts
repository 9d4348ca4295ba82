import { expect, test } from 'vitest';
import type { CallerId } from '../../domain/run.js';
import { CallerTurns } from './caller-turns.js';

const [mallory, bob] = ['mallory', 'bob'] as CallerId[] as [CallerId, CallerId];
const { signal } = new AbortController();

test('others get a turn of the event loop between two pieces of work of one caller', async () => {
  const turns = new CallerTurns();
  const done: string[] = [];
  const all = [1, 2, 3].map((n) => turns.take(mallory, signal, () => done.push(`mallory ${n}`)));
  const everybody = (async () => {
    for (const n of [1, 2, 3]) {
      await new Promise((resolve) => setImmediate(resolve));
      done.push(`turn ${n}`);
    }
  })();
  await Promise.all([...all, everybody]);
  expect(done.filter((what) => what !== 'turn 3')).toEqual(['mallory 1', 'turn 1', 'mallory 2', 'turn 2', 'mallory 3']);
});

test('a caller does not wait for another, and what fails holds up nothing', async () => {
  const turns = new CallerTurns();
  let open = (): void => {};
  const held = turns.take(mallory, signal, () => new Promise<void>((resolve) => (open = resolve)));
  expect(await turns.take(bob, signal, () => 'bob')).toBe('bob');
  const failing = turns.take(mallory, signal, () => Promise.reject(new Error('no')));
  const next = turns.take(mallory, signal, () => 'next');
  open();
  await held;
  await expect(failing).rejects.toThrow('no');
  expect(await next).toBe('next');
});

test('nothing is done for a program that ended before its turn came', async () => {
  const turns = new CallerTurns();
  const over = new AbortController();
  const first = turns.take(mallory, over.signal, () => over.abort());
  let isDone = false;
  const second = turns.take(mallory, over.signal, () => {
    isDone = true;
  });
  await first;
  expect([await second, isDone]).toEqual([undefined, false]);
});

test('the steps of large calls of one caller have turns of their own, and small calls none', async () => {
  const turns = new CallerTurns();
  let turn = 0;
  let isOver = false;
  const count = () => {
    turn++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const seen: number[] = [];
  const large = ' '.repeat(300_000);
  const note = () => void seen.push(turn);
  const one = async () => {
    const { delegate } = await turns.inSteps('mallory' as CallerId, large, { onSending: note }, note);
    await delegate.onSending();
  };
  await Promise.all([one(), one(), one()]);
  isOver = true;
  expect(seen).toHaveLength(6);
  expect(new Set(seen).size).toBe(6);
  const small = { onSending: () => {} };
  expect((await turns.inSteps('mallory' as CallerId, '[]', small, () => 1)).delegate).toBe(small);
});
