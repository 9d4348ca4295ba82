import { describe, expect, test } from 'vitest';
import { MALFORMED_ANSWER } from '../failures.js';
import { eventRepair } from './event-repair.js';

/** What comes out of a stream for these events, cut into pieces of so many bytes. */
async function repaired(text: string, requestId: number | undefined, pieceBytes = 1_000_000): Promise<string> {
  const bytes = Buffer.from(text);
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < bytes.length; at += pieceBytes) controller.enqueue(bytes.subarray(at, at + pieceBytes));
      controller.close();
    },
  }).pipeThrough(eventRepair(requestId));
  const pieces: Uint8Array[] = [];
  for await (const piece of stream) pieces.push(piece);
  return Buffer.concat(pieces).toString('utf8');
}

const event = (message: unknown) => `event: message\ndata: ${JSON.stringify(message)}\n\n`;
const error = (id: number, message: string) =>
  `data: ${JSON.stringify({ jsonrpc: '2.0', id, error: { code: MALFORMED_ANSWER, message } })}\n\n`;

describe('an answer that the client library would drop', () => {
  test.each([
    ['no result', event({ jsonrpc: '2.0', id: 7, result: null }), error(7, 'the answer has no result')],
    ['half a message', 'data: {"jsonrpc":"2.0","id":7,"resu\n\n', error(7, 'the answer is not JSON')],
    ['another field', event({ jsonrpc: '2.0', id: 7, result: {}, took: 3 }), error(7, 'the answer has no result')],
    [
      'no version',
      event({ id: 7, result: { content: [] } }),
      `data: ${JSON.stringify({ jsonrpc: '2.0', id: 7, result: { content: [] } })}\n\n`,
    ],
    [
      'a batch',
      event([{ jsonrpc: '2.0', id: 7, result: { a: 1 } }]),
      `data: ${JSON.stringify({ jsonrpc: '2.0', id: 7, result: { a: 1 } })}\n\n`,
    ],
    ['windows lines', 'data: {"jsonrpc":"2.0","id":7}\r\n\r\n', error(7, 'the answer has no result')],
  ])('is followed by its replacement: %s', async (_, text, added) => {
    for (const pieceBytes of [1, 7, 1_000_000]) expect(await repaired(text, 7, pieceBytes)).toBe(text + added);
  });
});

test.each([
  ['a right answer', event({ jsonrpc: '2.0', id: 7, result: { content: [] } })],
  ['an error', event({ jsonrpc: '2.0', id: 7, error: { code: -32_000, message: 'no' } })],
  ['a notification that is none', event({ method: 'notifications/progress' })],
  ['half a notification', 'data: {"jsonrpc":"2.0","method":"notifications/pro\n\n'],
  ['text', 'data: ping\n\n: comment\n\n'],
  ['another kind of event', 'event: ping\ndata: {broken\n\n'],
  ['a long answer', event({ id: 7, result: { text: 'x'.repeat(100_000) } })],
  ['a long answer in lines', `data: {\n${'data: {"a": "b",\n'.repeat(20_000)}data: }\n\n`],
])('%s passes as it is', async (_, text) => {
  for (const pieceBytes of [997, 1_000_000]) expect(await repaired(text, 7, pieceBytes)).toBe(text);
});

test('what cannot be read is nobody’s answer on a stream of all of them', async () => {
  const text = 'data: {"jsonrpc"\n\n';
  expect(await repaired(text, undefined)).toBe(text);
});
