import { expect, test } from 'vitest';
import { LinkedAbort } from './linked-abort.js';

test('the first of several signals aborts, with its reason', () => {
  const [first, second] = [new AbortController(), new AbortController()];
  const linked = new LinkedAbort([first.signal, undefined, second.signal]);
  second.abort('gone');
  first.abort('late');
  expect([linked.signal.aborted, linked.signal.reason]).toEqual([true, 'gone']);
});

test('a source that was aborted before counts', () => {
  expect(new LinkedAbort([AbortSignal.abort('before')]).signal.reason).toBe('before');
});

test('a released source has no effect any more, and the others still do', () => {
  const [released, kept] = [new AbortController(), new AbortController()];
  const linked = new LinkedAbort([released.signal, kept.signal]);
  linked.release([released.signal]);
  released.abort();
  expect(linked.signal.aborted).toBe(false);
  kept.abort();
  expect(linked.signal.aborted).toBe(true);
});
