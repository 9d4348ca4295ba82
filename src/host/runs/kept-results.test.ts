import { expect, test } from 'vitest';
import type { CallerId } from '../../domain/run.js';
import { CallerTurns } from '../calls/caller-turns.js';
import { KeptResults, type OtherHosts, type ResultContext } from './kept-results.js';

const { signal } = new AbortController();
const CONTEXT = { onReceived: () => {}, turns: new CallerTurns(), signal } as unknown as ResultContext;
const ann = 'subject ann' as CallerId;

test('sessions of one caller share a bound, and each gets its own results only', async () => {
  const results = new KeptResults();
  const [one, two] = [
    { caller: ann, sessionId: 'one' },
    { caller: ann, sessionId: 'two' },
  ];
  const load = async (owner: typeof one, handle: string) =>
    (await results.answer('@results/load', [handle], owner, CONTEXT)).ok;
  const first = results.keep(one, '1');
  expect([await load(one, first), await load(two, first)]).toEqual([true, false]);
  results.forget(two);
  expect(await load(one, first)).toBe(true);
  // 64 of the second session push out the first of the first.
  for (let count = 0; count < 64; count += 1) results.keep(two, '2');
  expect(await load(one, first)).toBe(false);
  const third = results.keep(one, '3');
  results.forget(one);
  expect(await load(one, third)).toBe(false);
});

test('what a resumed run keeps without a session is for every session of its caller', async () => {
  const results = new KeptResults();
  const handle = results.keep({ caller: ann }, '1');
  const owner = { caller: ann, sessionId: 'one' };
  expect(await results.answer('@results/load', [handle], owner, CONTEXT)).toMatchObject({ ok: true });
  const stranger = { caller: 'subject bob' as CallerId };
  expect(await results.answer('@results/load', [handle], stranger, CONTEXT)).toMatchObject({ ok: false });
});

test('a result without a session is found by another host, only for its caller, origin unknown', async () => {
  const shared = new Map<string, string>();
  const others: OtherHosts = {
    results: {
      write: async (caller, handle, json) => void shared.set(`${caller} ${handle}`, json),
      read: async (caller, handle) => shared.get(`${caller} ${handle}`),
      remove: async (caller, handle) => void shared.delete(`${caller} ${handle}`),
    },
    isInProgress: async () => false,
  };
  const [one, two] = [new KeptResults(undefined, others), new KeptResults(undefined, others)];
  const handle = one.keep({ caller: ann }, '[1,2]');
  const ofSession = one.keep({ caller: ann, sessionId: 's' }, '[3]');
  const received: unknown[] = [];
  const context = { ...CONTEXT, onReceived: (each: unknown) => void received.push(each) };
  const load = (at: KeptResults, name: string, caller: CallerId) =>
    at.answer('@results/load', [name], { caller }, context);
  expect(await load(two, handle, ann)).toEqual({ ok: true, json: '[1,2]' });
  expect(received).toEqual(['unknown']);
  expect(await load(two, handle, 'subject bob' as CallerId)).toMatchObject({ ok: false });
  expect(await load(two, ofSession, ann)).toMatchObject({ ok: false });
  for (let count = 0; count < 64; count += 1) one.keep({ caller: ann }, '2');
  expect(await load(two, handle, ann)).toMatchObject({ ok: false });
});

test('waiting for a run that is under way on another host lasts until it is stored', async () => {
  let looks = 0;
  const suspended = {
    outcomeOf: async () => (looks++ < 2 ? undefined : { state: 'succeeded', response: { result: 7 }, approvals: [] }),
  };
  const results = new KeptResults(undefined, { isInProgress: async (_, caller) => caller === ann });
  const context = { ...CONTEXT, suspended, signal: new AbortController().signal, remainingMs: () => 60_000 };
  const wait = (caller: CallerId) =>
    results.answer('@results/wait', ['run'], { caller }, context as unknown as ResultContext);
  expect(await wait('subject bob' as CallerId)).toMatchObject({ ok: false });
  expect(await wait(ann)).toEqual({ ok: true, json: '{"result":7}' });
});
