import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { pause } from './pause.js';

test('a pause ends early when its signal aborts, and leaves no listener', async () => {
  const stop = new AbortController();
  const paused = pause(60_000, stop.signal);
  stop.abort();
  await paused;
  await pause(60_000, stop.signal);
  expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
});

test('a pause that is over leaves no listener', async () => {
  const { signal } = new AbortController();
  await pause(1, signal);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});
