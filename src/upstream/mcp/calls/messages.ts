import { type JSONRPCMessage, parseJSONRPCMessage } from '@modelcontextprotocol/client';
import { omitUndefined } from '../../../lib/omit-undefined.js';
import { withMarkedNumbers, withNumbers } from '../../../lib/text/exact-numbers.js';
import { excessOf } from '../../../lib/text/json-excess.js';
import { MALFORMED_ANSWER } from '../failures.js';

/** JSON-RPC's code for an internal error, for servers whose errors have no code. */
const INTERNAL_ERROR = -32603;

/** Messages in one batch. A batch is parsed synchronously, so a longer one would block the host. */
export const MAX_BATCH = 1_000;

/**
 * Reads one message, or a batch, as real servers send them: without `jsonrpc`, with an error that is a bare string. If we dropped
 * such an answer, its request would wait for its whole timeout. Throws if the text has no message.
 */
export function parseMessages(text: string): JSONRPCMessage[] {
  const excess = excessOf(text);
  if (excess !== undefined) return [unparsedAnswer(text, `the answer has ${excess}`)];
  const items = listOf(JSON.parse(text));
  if (items.length > MAX_BATCH) throw new Error(`a batch of ${items.length} messages; at most ${MAX_BATCH} are read`);
  const messages = items.map((item) => usualAnswer(item) ?? parseJSONRPCMessage(repaired(item)));
  const marked = withMarkedNumbers(text);
  if (marked === text) return messages;
  for (const [index, item] of listOf(JSON.parse(marked)).entries()) keepNumbers(messages[index], item);
  return messages;
}

/** Stands for an answer that would take too long to parse. Servers name its request at one end of it. Throws if it is not there. */
function unparsedAnswer(text: string, why: string): JSONRPCMessage {
  const id =
    /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,15})\s*,/.exec(text.slice(0, LOOKED_AT_CHARACTERS)) ??
    /,\s*"id"\s*:\s*(\d{1,15})\s*\}\s*$/.exec(text.slice(-LOOKED_AT_CHARACTERS));
  if (id === null) throw new Error(why);
  return malformedAnswer(Number(id[1]), why);
}

/**
 * The fast path for nearly every message of a server: a result and nothing else. The library's schema takes 50 µs for one, this
 * less than one. Anything else is left to the schema. A test checks that both agree.
 */
export function usualAnswer(item: unknown): JSONRPCMessage | undefined {
  if (item === null || typeof item !== 'object' || Array.isArray(item)) return undefined;
  const { jsonrpc, id, result } = item as Record<string, unknown>;
  const isAnswer = jsonrpc === '2.0' && (typeof id === 'string' || Number.isSafeInteger(id));
  if (!isAnswer || result === null || typeof result !== 'object' || Array.isArray(result)) return undefined;
  return Object.keys(item).length === 3 && !Object.hasOwn(result, '_meta') ? (item as JSONRPCMessage) : undefined;
}

/**
 * Replacements for answers that the client library does not accept from an event stream. Empty if it accepts them, or if this is
 * not an answer. `requestId`: the request that an unparsable message answers, if that is known.
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
  // The library accepts no batch from a stream.
  const isBatch = Array.isArray(value);
  return listOf(value)
    .slice(0, MAX_BATCH)
    .filter((item) => isAnswer(item))
    .flatMap((item) => (isBatch || !isTaken(item) ? [standIn(item)] : []));
}

/** A message names its method within this many characters. */
const LOOKED_AT_CHARACTERS = 200;

/** The repaired answer, or an error that says what is wrong with it. */
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

/** The structured content of a result as text, if it has integers that JavaScript would round. */
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
  // JSON-RPC 1.0 sends `result: null` beside an error.
  const { result, ...others } = all;
  const rest = result === null ? others : all;
  // JSON-RPC 1.0 sends `error: null` beside a result.
  return { ...rest, jsonrpc: '2.0', ...(error === undefined || error === null ? {} : { error: repairedError(error) }) };
}

/** Whether this answers a request of ours but has neither a result nor an error. */
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
