import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { failureOf, NotSentError } from './failures.js';

const http = (status: number, message = 'x') =>
  new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, message, { status, statusText: '' });
const socket = (code: string) => new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code }) });

test('what certainly did not reach the tool may be repeated, everything else may have run', () => {
  const verdict = (error: unknown) => {
    const { failure, connection } = failureOf(error);
    return [failure.kind, failure.mayHaveRun, connection];
  };
  expect([
    verdict(new NotSentError('x')),
    verdict(new Error('Not connected')),
    verdict(socket('ECONNREFUSED')),
    verdict(http(404)),
    verdict(http(400, 'Bad Request: No valid session ID provided')),
    verdict(http(401)),
    verdict(http(429)),
    verdict(new ProtocolError(-32602, 'no such tool')),
    verdict(new ProtocolError(-32603, 'boom')),
    verdict(http(502)),
    verdict(socket('ECONNRESET')),
    verdict(new SdkError(SdkErrorCode.ConnectionClosed, 'x')),
    verdict(new SdkError(SdkErrorCode.RequestTimeout, 'x')),
    verdict(new Error('who knows')),
  ]).toEqual([
    ['not_sent', false, 'lost'],
    ['not_sent', false, 'lost'],
    ['not_sent', false, 'suspect'],
    ['not_sent', false, 'lost'],
    ['not_sent', false, 'lost'],
    ['unauthorized', false, 'usable'],
    ['refused', false, 'usable'],
    ['refused', false, 'usable'],
    ['refused', true, 'usable'],
    ['outcome_unknown', true, 'usable'],
    ['outcome_unknown', true, 'suspect'],
    ['outcome_unknown', true, 'lost'],
    ['timeout', true, 'usable'],
    ['invalid_reply', true, 'usable'],
  ]);
});
