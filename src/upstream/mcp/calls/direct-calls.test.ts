import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { deferred } from '../../../lib/async/deferred.js';
import { failureOf } from '../failures.js';
import { ReadBudget } from '../read-budget.js';
import { DirectCalls } from './direct-calls.js';

type Sent = { id?: number; method: string; params: Record<string, unknown> };

function open() {
  const sent: Sent[] = [];
  const transport = {
    send: async (message: JSONRPCMessage) => void sent.push(message as Sent),
  } as unknown as Transport;
  const budget = new ReadBudget(10_000, () => {});
  return { calls: new DirectCalls(transport, budget), sent, budget };
}

/** Makes a call and notes what its taker is told. */
function begin(calls: DirectCalls, onProgress?: (progress: unknown) => void) {
  const told: unknown[] = [];
  const ended = deferred<void>();
  const cancel = calls.begin(
    { name: 'add', arguments: {} },
    {
      onResult: (result) => {
        told.push(result);
        ended.resolve();
      },
      onFailure: (error) => {
        told.push(failureOf(error));
        ended.resolve();
      },
      ...(onProgress && { onProgress }),
    },
  );
  return { told, cancel, ended: ended.promise };
}

const answer = (id: unknown, rest: object) => ({ jsonrpc: '2.0', id, ...rest }) as never;

test('each call gets its own answer, once, also where the server sends its number back as text', () => {
  const { calls, sent } = open();
  const [first, second] = [begin(calls), begin(calls)];
  expect(calls.takeAnswer(answer(String(sent[1]?.id), { result: { n: 2 } }))).toBe(true);
  expect(calls.takeAnswer(answer(sent[0]?.id, { result: { n: 1 } }))).toBe(true);
  expect([first.told, second.told]).toEqual([[{ n: 1 }], [{ n: 2 }]]);
  expect(calls.takeAnswer(answer(sent[0]?.id, { result: { n: 3 } }))).toBe(false);
  expect(first.told).toHaveLength(1);
});

test('an error of the server is refused with its code and data', () => {
  const { calls, sent } = open();
  const { told } = begin(calls);
  calls.takeAnswer(answer(sent[0]?.id, { error: { code: -32_602, message: 'no such tool', data: { a: 1 } } }));
  expect(told).toMatchObject([
    { failure: { kind: 'refused', code: -32_602, mayHaveRun: false }, connection: 'usable' },
  ]);
});

test('a cancelled call tells the server, and a late answer reaches nobody', () => {
  const { calls, sent, budget } = open();
  const { told, cancel } = begin(calls);
  cancel('enough');
  cancel('again');
  expect(sent.slice(1)).toEqual([
    { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: sent[0]?.id, reason: 'enough' } },
  ]);
  expect(calls.takeAnswer(answer(sent[0]?.id, { result: {} }))).toBe(false);
  expect(told).toEqual([]);
  // The answer may still come, as long as that of a call.
  expect(budget.maxMessageBytes).toBe(10_000);
});

test('in the newer era the word that a call is cancelled carries the envelope', () => {
  const { calls, sent } = open();
  const envelope = { version: '2026-07-28' };
  calls.begin({ name: 'add', _meta: envelope }, { onResult: () => {}, onFailure: () => {} }, envelope)('enough');
  expect(sent.map(({ params }) => params._meta)).toEqual([envelope, envelope]);
});

test('calls open when the connection ends have an unknown outcome, and later ones are not sent', async () => {
  const { calls, sent } = open();
  const before = begin(calls);
  calls.close();
  const after = begin(calls);
  await after.ended;
  expect(before.told).toMatchObject([{ failure: { kind: 'outcome_unknown', mayHaveRun: true }, connection: 'lost' }]);
  expect(after.told).toMatchObject([{ failure: { kind: 'not_sent', mayHaveRun: false }, connection: 'lost' }]);
  expect(sent).toHaveLength(1);
});

test('progress reaches its own call only, and other notifications are passed on', () => {
  const { calls, sent } = open();
  const seen: unknown[] = [];
  begin(calls, (progress) => seen.push(progress));
  begin(calls);
  const tell = (params: object) => calls.takeProgress(answer(undefined, { method: 'notifications/progress', params }));
  const { progressToken } = (sent[0] as Sent).params._meta as { progressToken: number };
  expect(sent[1]?.params._meta).toBeUndefined();
  expect(tell({ progressToken, progress: 1, total: 2, message: 'half' })).toBe(true);
  expect(tell({ progressToken, progress: 'much' })).toBe(false);
  expect(tell({ progressToken, progress: 1, message: 7 })).toBe(false);
  expect(tell({ progressToken: sent[1]?.id, progress: 1 })).toBe(false);
  expect(seen).toEqual([{ progress: 1, total: 2, message: 'half' }]);
});

test('a call that the transport does not take was not sent', async () => {
  const transport = { send: () => Promise.reject(new Error('ended')) } as unknown as Transport;
  const { told, ended } = begin(new DirectCalls(transport, new ReadBudget(10_000, () => {})));
  await ended;
  expect(told).toHaveLength(1);
});
