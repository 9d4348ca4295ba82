import { ProtocolError } from '@modelcontextprotocol/client';
import { describe, expect, test } from 'vitest';
import { failureOf, MALFORMED_ANSWER } from './failures.js';
import { parseMessages } from './messages.js';

const parsed = (message: object) => parseMessages(JSON.stringify({ jsonrpc: '2.0', ...message }))[0];

describe('an answer without a result', () => {
  test.each([
    ['null', { id: 1, result: null }],
    ['a text', { id: 1, result: 'done' }],
    ['a list', { id: 1, result: [] }],
    ['nothing', { id: 1 }],
    ['nothing and no error', { id: 1, result: null, error: null }],
  ])('but %s is an error of its request', (_, message) => {
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

test('a request and a notification are no answers', () => {
  expect(parsed({ id: 1, method: 'ping' })).toMatchObject({ id: 1, method: 'ping' });
  expect(parsed({ method: 'notifications/progress', params: { progressToken: 1, progress: 1 } })).toMatchObject({
    method: 'notifications/progress',
  });
});
