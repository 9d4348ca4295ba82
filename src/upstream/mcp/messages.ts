import { type JSONRPCMessage, parseJSONRPCMessage } from '@modelcontextprotocol/client';

/** JSON-RPC's code for "something went wrong inside", for servers whose errors have none. */
const INTERNAL_ERROR = -32603;

/**
 * Reads one message, or a batch of them, as servers really send them: without `jsonrpc`, with an error that is a bare
 * string. An answer that we drop instead would leave its request waiting for its whole timeout.
 * Throws where there is no message in the text.
 */
export function parseMessages(text: string): JSONRPCMessage[] {
  const value: unknown = JSON.parse(text);
  return (Array.isArray(value) ? value : [value]).map((item) => parseJSONRPCMessage(repaired(item)));
}

function repaired(item: unknown): unknown {
  if (item === null || typeof item !== 'object') throw new Error('not a JSON-RPC message');
  const message = item as Record<string, unknown>;
  if (message.jsonrpc === '2.0' && message.error === undefined) return message;
  const { error, ...rest } = message;
  // `error: null` beside a result is how JSON-RPC 1.0 said that there is none.
  return { ...rest, jsonrpc: '2.0', ...(error === undefined || error === null ? {} : { error: repairedError(error) }) };
}

function repairedError(error: unknown): { code: number; message: string; data?: unknown } {
  if (typeof error !== 'object' || error === null) return { code: INTERNAL_ERROR, message: String(error) };
  const { code, message, data } = error as Record<string, unknown>;
  return {
    code: Number.isSafeInteger(code) ? (code as number) : INTERNAL_ERROR,
    message: typeof message === 'string' ? message : 'the server gave no message',
    ...(data === undefined ? {} : { data }),
  };
}
