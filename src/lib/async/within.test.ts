import { expect, test } from 'vitest';
import { deferred } from './deferred.js';
import { within } from './within.js';

test('gives what the promise settles to, or says that it is late', async () => {
  expect(await within(Promise.resolve('soon'), 1_000)).toBe('soon');
  await expect(within(Promise.reject(new Error('broken')), 1_000)).rejects.toThrow('broken');
  expect(await within(deferred<string>().promise, 1)).toBe('late');
});
