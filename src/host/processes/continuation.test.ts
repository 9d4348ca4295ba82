import { expect, test } from 'vitest';
import type { CallerId, GuestCall } from '../../domain/run.js';
import type { AnyRecording } from '../recordings/recording.js';
import { Continuation, continuationOf } from './continuation.js';

const call = (target: string, argumentsJson = '[{}]') => ({ number: 9, target, argumentsJson }) as GuestCall;
const sent = { number: 1, target: 'a/write', argumentsJson: '[{}]', toolDigest: 'd', isSent: true } as const;
const OWNER = { caller: 'me' as CallerId, profile: 'runner', codeDigest: 'c', source: 's', language: 'python' };

test('an answer is given once, to the same call of the same tool as it was', () => {
  const continued = new Continuation('run', 7, [sent, sent]);
  expect(continued.take(call('a/write'), 'other')).toBeUndefined();
  expect(continued.take(call('a/write', '[{"x":1}]'), 'd')).toBeUndefined();
  expect([1, 2, 3].map(() => continued.take(call('a/write'), 'd'))).toEqual([sent, sent, undefined]);
  continued.giveBack(sent);
  expect(continued.answered).toBe(1);
  expect(continued.take(call('a/write'), 'd')).toBe(sent);
});

test('a call that did not reach its server is made', () => {
  const { isSent: _, ...refused } = sent;
  expect(new Continuation('run', 7, [refused]).take(call('a/write'), 'd')).toBeUndefined();
});

test('a program starts over without a decision, in another language and when the store fails', async () => {
  const recording = {
    runId: 'run',
    calls: [sent],
    program: { language: 'python', seed: 7 },
  } as unknown as AnyRecording;
  const of = (lastDecided: () => Promise<AnyRecording | undefined>, language = 'python') =>
    continuationOf({ lastDecided }, { ...OWNER, language });
  expect(await of(async () => recording)).toMatchObject({ runId: 'run', seed: 7 });
  expect(await of(async () => undefined)).toBeUndefined();
  expect(await of(async () => recording, 'node')).toBeUndefined();
  expect(await of(() => Promise.reject(new Error('disk')))).toBeUndefined();
});
