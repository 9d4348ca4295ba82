import { expect, test } from 'vitest';
import { deferred } from './deferred.js';

test('a deferred promise is settled from outside, once', async () => {
  const resolved = deferred<number>();
  resolved.resolve(1);
  resolved.resolve(2);
  resolved.reject(new Error('too late'));
  await expect(resolved.promise).resolves.toBe(1);

  const rejected = deferred<number>();
  rejected.reject(new Error('no'));
  rejected.resolve(1);
  await expect(rejected.promise).rejects.toThrow('no');
});

test('a deferred promise follows another one', async () => {
  const first = deferred<string>();
  const second = deferred<string>();
  // Its functions can be passed on alone.
  void second.promise.then(first.resolve, first.reject);
  second.resolve('through');
  await expect(first.promise).resolves.toBe('through');
});
