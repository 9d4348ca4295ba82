import { expect, test } from 'vitest';
import { deferred } from './deferred.js';
import { KeyedLock } from './keyed-lock.js';

test('work of one key waits for the work before it, and that of another key does not', async () => {
  const lock = new KeyedLock();
  const order: string[] = [];
  const gate = deferred<void>();
  const first = lock.run('a', async () => {
    await gate.promise;
    order.push('first');
  });
  const second = lock.run('a', async () => void order.push('second'));
  await lock.run('b', async () => void order.push('other'));
  gate.resolve();
  await Promise.all([first, second]);
  expect(order).toEqual(['other', 'first', 'second']);
});

test('work that fails does not keep the next from running', async () => {
  const lock = new KeyedLock();
  const failed = lock.run('a', async () => Promise.reject(new Error('no')));
  const next = lock.run('a', async () => 'yes');
  await expect(failed).rejects.toThrow('no');
  await expect(next).resolves.toBe('yes');
});
