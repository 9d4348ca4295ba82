import { type JSONRPCMessage, parseJSONRPCMessage } from '@modelcontextprotocol/client';
import { omitUndefined } from '../../../lib/omit-undefined.js';
import { withMarkedNumbers, withNumbers } from '../../../lib/text/exact-numbers.js';
import { MALFORMED_ANSWER } from '../failures.js';

/** JSON-RPC's code for "something went wrong inside", for servers whose errors have none. */
const INTERNAL_ERROR = -32603;

/** Messages in one batch. They are read in one go, so that a longer one would stop the host. */
export const MAX_BATCH = 1_000;

/**
 * Reads one message, or a batch of them, as servers really send them: without `jsonrpc`, with an error that is a bare
 * string. An answer that we drop instead would leave its request waiting for its whole timeout.
 * Throws where there is no message in the text.
 */
export function parseMessages(text: string): JSONRPCMessage[] {
  const items = listOf(JSON.parse(text));
  if (items.length > MAX_BATCH) throw new Error(`a batch of ${items.length} messages; at most ${MAX_BATCH} are read`);
  const messages = items.map((item) => usualAnswer(item) ?? parseJSONRPCMessage(repaired(item)));
  const marked = withMarkedNumbers(text);
  if (marked === text) return messages;
  for (const [index, item] of listOf(JSON.parse(marked)).entries()) keepNumbers(messages[index], item);
  return messages;
}

/**
 * Nearly every message of a server: a result and nothing else. The library's schema takes 50 µs for one, this less than one.
 * Whatever is not exactly that is left to the schema; a test holds both to the same verdict.
 */
export function usualAnswer(item: unknown): JSONRPCMessage | undefined {
  if (item === null || typeof item !== 'object' || Array.isArray(item)) return undefined;
  const { jsonrpc, id, result } = item as Record<string, unknown>;
  const isAnswer = jsonrpc === '2.0' && (typeof id === 'string' || Number.isSafeInteger(id));
  if (!isAnswer || result === null || typeof result !== 'object' || Array.isArray(result)) return undefined;
  return Object.keys(item).length === 3 && !Object.hasOwn(result, '_meta') ? (item as JSONRPCMessage) : undefined;
}

/**
 * What is in for answers that the client library does not take from an event stream; none where it takes them, or where this
 * is not an answer. `requestId`: what a text that begins as a message and cannot be read is the answer to, where that is known.
 */
export function standIns(text: string, requestId: number | undefined): JSONRPCMessage[] {
  if (!/^\s*[{[]/.test(text)) return [];
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    const isQuestion = /"method"\s*:/.test(text.slice(0, LOOKED_AT_CHARACTERS));
    return requestId === undefined || isQuestion ? [] : [malformedAnswer(requestId, 'the answer is not JSON')];
  }
  // The library takes no batch from a stream.
  const isBatch = Array.isArray(value);
  return listOf(value)
    .slice(0, MAX_BATCH)
    .filter((item) => isAnswer(item))
    .flatMap((item) => (isBatch || !isTaken(item) ? [standIn(item)] : []));
}

/** A message names its method before it says anything long. */
const LOOKED_AT_CHARACTERS = 200;

/** As it was meant, or what is wrong with it. */
function standIn(item: Record<string, unknown> & { id: number | string }): JSONRPCMessage {
  try {
    return parseJSONRPCMessage(repaired(item));
  } catch {
    return malformedAnswer(item.id, 'the answer has no result');
  }
}

function isTaken(item: unknown): boolean {
  try {
    parseJSONRPCMessage(item);
    return true;
  } catch {
    return false;
  }
}

function isAnswer(item: unknown): item is Record<string, unknown> & { id: number | string } {
  if (item === null || typeof item !== 'object') return false;
  const { id, method } = item as Record<string, unknown>;
  return method === undefined && (typeof id === 'number' || typeof id === 'string');
}

function malformedAnswer(id: number | string, message: string): JSONRPCMessage {
  return { jsonrpc: '2.0', id, error: { code: MALFORMED_ANSWER, message } };
}

/** The structured content of a result as text, where it has whole numbers that JavaScript rounds. */
export const EXACT = Symbol('structured content as the server wrote it');

function keepNumbers(message: JSONRPCMessage | undefined, marked: unknown): void {
  if (message === undefined || !('result' in message)) return;
  const { structuredContent } = (marked as { result: { structuredContent?: unknown } }).result;
  if (structuredContent === undefined) return;
  const json = JSON.stringify(structuredContent);
  const exact = withNumbers(json);
  if (exact !== json) Object.assign(message.result, { [EXACT]: exact });
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [value];
}

function repaired(item: unknown): unknown {
  if (item === null || typeof item !== 'object') throw new Error('not a JSON-RPC message');
  const message = item as Record<string, unknown>;
  if (isMalformedAnswer(message)) return malformedAnswer(message.id as number | string, 'the answer has no result');
  if (message.jsonrpc === '2.0' && message.error === undefined) return message;
  const { error, ...all } = message;
  // Beside an error, JSON-RPC 1.0 has a result that is null.
  const { result, ...others } = all;
  const rest = result === null ? others : all;
  // `error: null` beside a result is how JSON-RPC 1.0 said that there is none.
  return { ...rest, jsonrpc: '2.0', ...(error === undefined || error === null ? {} : { error: repairedError(error) }) };
}

/** An answer to a request of ours that has neither a result nor an error. */
function isMalformedAnswer({ id, method, result, error }: Record<string, unknown>): boolean {
  if (method !== undefined || (typeof id !== 'number' && typeof id !== 'string')) return false;
  const isResult = typeof result === 'object' && result !== null && !Array.isArray(result);
  return !isResult && (error === undefined || error === null);
}

function repairedError(error: unknown): { code: number; message: string; data?: unknown } {
  if (typeof error !== 'object' || error === null) return { code: INTERNAL_ERROR, message: String(error) };
  const { code, message, data } = error as Record<string, unknown>;
  return {
    code: Number.isSafeInteger(code) ? (code as number) : INTERNAL_ERROR,
    message: typeof message === 'string' ? message : 'the server gave no message',
    ...omitUndefined({ data }),
  };
}
