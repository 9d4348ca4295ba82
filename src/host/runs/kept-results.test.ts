import { expect, test } from 'vitest';
import type { CallerId } from '../../domain/run.js';
import { KeptResults, type ResultContext } from './kept-results.js';

const CONTEXT = { onReceived: () => {} } as unknown as ResultContext;
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
