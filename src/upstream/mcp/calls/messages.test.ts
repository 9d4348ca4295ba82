import { ProtocolError, parseJSONRPCMessage } from '@modelcontextprotocol/client';
import { describe, expect, test } from 'vitest';
import { failureOf, MALFORMED_ANSWER } from '../failures.js';
import { parseMessages, usualAnswer } from './messages.js';

const parsed = (message: object) => parseMessages(JSON.stringify({ jsonrpc: '2.0', ...message }))[0];

describe('an answer without a result', () => {
  test.each([
    ['null', { id: 1, result: null }],
    ['a string', { id: 1, result: 'done' }],
    ['a list', { id: 1, result: [] }],
    ['nothing', { id: 1 }],
    ['nothing and no error', { id: 1, result: null, error: null }],
  ])('such as %s is an error of its request', (_, message) => {
    expect(parsed(message)).toMatchObject({ id: 1, error: { code: MALFORMED_ANSWER } });
  });

  test('is an invalid reply of a call that may have taken effect', () => {
    const error = new ProtocolError(MALFORMED_ANSWER, 'the answer has no result');
    expect(failureOf(error)).toEqual({
      failure: { kind: 'invalid_reply', mayHaveRun: true, message: 'the answer has no result' },
      connection: 'usable',
    });
  });
});

test('an error beside a result that is null stays an error', () => {
  const error = { code: -32_000, message: 'no' };
  expect(parsed({ id: 1, result: null, error })).toMatchObject({ id: 1, error });
});

test('a request and a notification are not answers', () => {
  expect(parsed({ id: 1, method: 'ping' })).toMatchObject({ id: 1, method: 'ping' });
  expect(parsed({ method: 'notifications/progress', params: { progressToken: 1, progress: 1 } })).toMatchObject({
    method: 'notifications/progress',
  });
});

test("a usual answer is read directly with the library's result; others go to the library", () => {
  const ids: unknown[] = [1, 0, -1, 1.5, 2 ** 60, 'a', '', null, undefined, {}, true];
  const results: unknown[] = [{}, { a: 1 }, { _meta: {} }, { _meta: 1 }, [], null, 'a', 1, undefined];
  const others: object[] = [
    {},
    { extra: 1 },
    { method: 'ping' },
    { error: { code: 1, message: '' } },
    { jsonrpc: '1.0' },
  ];
  let taken = 0;
  for (const id of ids)
    for (const result of results)
      for (const other of others) {
        const item = JSON.parse(JSON.stringify({ jsonrpc: '2.0', id, result, ...other })) as object;
        const usual = usualAnswer(item);
        if (usual === undefined) continue;
        taken += 1;
        expect(parseJSONRPCMessage(item)).toEqual(usual);
      }
  expect(taken).toBeGreaterThan(5);
  expect(usualAnswer([{ jsonrpc: '2.0', id: 1, result: {} }])).toBeUndefined();
});
