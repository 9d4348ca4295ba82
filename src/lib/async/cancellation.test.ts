import { expect, test } from 'vitest';
import { Cancellation } from './cancellation.js';

const over = () => new Error('it is over');

test('a signal taken before the cancellation aborts once', () => {
  const cancellation = new Cancellation(over);
  const heard: unknown[] = [];
  const { signal } = cancellation;
  signal.addEventListener('abort', () => heard.push(signal.reason));
  expect(signal.aborted).toBe(false);
  cancellation.cancel();
  cancellation.cancel();
  expect(heard).toEqual([over()]);
});

test('a signal that is asked for afterwards is aborted from the start', () => {
  const cancellation = new Cancellation(over);
  cancellation.cancel();
  expect(cancellation.signal.aborted).toBe(true);
  expect(cancellation.signal.reason).toEqual(over());
});

test('there is one signal, however often it is asked for', () => {
  const cancellation = new Cancellation(over);
  expect(cancellation.signal).toBe(cancellation.signal);
});

test('who listens is told once, and who has stopped listening is not', () => {
  const cancellation = new Cancellation();
  const told: string[] = [];
  const gone = () => told.push('gone');
  cancellation.addEventListener('abort', () => told.push('here'));
  cancellation.addEventListener('abort', gone);
  cancellation.removeEventListener('abort', gone);
  expect(cancellation.aborted).toBe(false);
  cancellation.cancel();
  cancellation.cancel();
  expect(told).toEqual(['here']);
  expect(cancellation.aborted).toBe(true);
});

test('a listener sees that it is called off, and may stop listening', () => {
  const cancellation = new Cancellation();
  let seen: boolean | undefined;
  const listener = () => {
    seen = cancellation.aborted;
    cancellation.removeEventListener('abort', listener);
  };
  cancellation.addEventListener('abort', listener);
  cancellation.cancel();
  expect(seen).toBe(true);
});
