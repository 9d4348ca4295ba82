import { describe, expect, test } from 'vitest';
import type { CallVerdict } from '../../domain/audit.js';
import type { ToolReply } from '../../domain/upstream.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { envelopeOf } from './envelope.js';

const seen = (reply: Parameters<typeof envelopeOf>[0]) => {
  const answer = envelopeOf(reply);
  if (!answer.ok) throw new Error('call_tool never throws');
  return JSON.parse(String(answer.json)) as unknown;
};
const text = (value: string) => ({ type: 'text', text: value });
const resultOf = (reply: Partial<ToolReply>) =>
  seen({ ok: true, warnings: [], reply: { content: [], isError: false, ...reply } as ToolReply });

describe('what call_tool returns', () => {
  test.each([
    ['structured content', { structuredContent: { a: 1 }, content: [text('ignored')] }, { a: 1 }],
    ['a text that is not JSON', { content: [text('plain')] }, 'plain'],
    ['a text that holds an object', { content: [text(' {"name":"octocat"} ')] }, { name: 'octocat' }],
    ['a text that holds a list', { content: [text('[1,{"b":2}]')] }, [1, { b: 2 }]],
    ['a text that holds another value', { content: [text('42')] }, '42'],
    ['a text that begins like JSON', { content: [text('{not json')] }, '{not json'],
    ['several blocks', { content: [text('{}'), text('b')] }, { content: [text('{}'), text('b')] }],
  ])('%s', (_, reply, result) => {
    expect(resultOf(reply)).toEqual({ ok: true, result });
  });

  test('a text that holds millions of values stays a text', () => {
    const json = `[${'{},'.repeat(1_000_001)}{}]`;
    expect(resultOf({ content: [text(json)] })).toEqual({ ok: true, result: json });
  });

  test('a key that would change an object arrives as a key', () => {
    const json = '{"__proto__":{"polluted":true},"a":1}';
    expect(Object.keys((resultOf({ content: [text(json)] }) as { result: object }).result)).toEqual(['__proto__', 'a']);
  });

  test.each<[CallVerdict | undefined, string, string, string]>([
    ['tool_error', 'ToolCallError', 'TOOL_ERROR', 'it failed'],
    ['invalid_arguments', 'SchemaValidationError', 'INVALID_ARGS', 'it failed. Do this.'],
    ['denied', 'ToolCallError', 'DENIED', 'it failed. Do this.'],
    ['unauthorized', 'AuthenticationError', 'AUTHENTICATION_REQUIRED', 'it failed. Do this.'],
    ['timeout', 'ToolCallError', 'TOOL_TIMEOUT', 'it failed. Do this.'],
    ['not_sent', 'ToolCallError', 'CALL_FAILED', 'it failed. Do this.'],
    [undefined, 'ServerNotFoundError', 'SERVER_NOT_FOUND', 'it failed. Do this.'],
    [undefined, 'ToolNotFoundError', 'TOOL_NOT_FOUND', 'it failed. Do this.'],
    [undefined, 'ToolCallError', 'CALL_FAILED', 'it failed. Do this.'],
  ])('a failure with verdict %s and class %s is %s', (verdict, errorClass, code, message) => {
    const error = { errorClass, message: 'it failed', hint: 'Do this.' };
    expect(seen({ ok: false, error, ...omitUndefined({ verdict }) })).toEqual({
      ok: false,
      error: { code, message },
    });
  });

  test('a call that nobody approved in time says what the user has to type', () => {
    const error = { errorClass: 'ToolCallError', message: 'it asks', hint: 'x', fields: { approvalId: 'abc' } };
    expect(seen({ ok: false, error, verdict: 'pending' })).toEqual({
      ok: false,
      error: {
        code: 'APPROVAL_REQUIRED',
        message:
          'it asks. Ask the user to type: codemode approvals approve abc. Then run the same script again, unchanged: the call is made, once.',
      },
    });
  });
});
