import {
  type JSONRPCMessage,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  type Transport,
} from '@modelcontextprotocol/client';
import type { JsonObject } from '../../../domain/json.js';
import type { CallProgress } from '../../../domain/upstream.js';
import { omitUndefined } from '../../../lib/omit-undefined.js';
import { NotSentError } from '../failures.js';
import type { ReadBudget } from '../read-budget.js';

/** Far from the ids that the client library counts up from 0. A number, because some older servers do not accept text as an id. */
const FIRST_ID = 1_000_000_000;

/** The receiver of a call's answer. Exactly one of `onResult` and `onFailure` is called, once. */
export interface CallTaker {
  /** The object that the server wrote, unchecked. */
  onResult(result: JsonObject): void;
  onFailure(error: unknown): void;
  onProgress?: ((progress: CallProgress) => void) | undefined;
}

type Answer = Extract<JSONRPCMessage, { result: unknown } | { error: unknown }>;
type Told = Extract<JSONRPCMessage, { method: string }>;

/**
 * Tool calls on a transport with a single channel, written and read without the client library. The library takes 100 µs for one
 * call (schemas for every message, a timer, a signal and five promises), and three times as much in a process that has just
 * started. This class does what the library does for other requests: ids, progress, cancellation, and an error for every open call
 * when the connection ends.
 */
export class DirectCalls {
  readonly #transport: Transport;
  readonly #budget: ReadBudget;
  readonly #open = new Map<number, CallTaker>();
  #nextId = FIRST_ID;
  #isClosed = false;

  constructor(transport: Transport, budget: ReadBudget) {
    this.#transport = transport;
    this.#budget = budget;
  }

  /**
   * Sends a call. Returns the function that cancels it: the server is told, and the taker gets no further events. `envelope`: what
   * every message of the newer era carries; `parameters` already include it.
   */
  begin(parameters: JsonObject, taker: CallTaker, envelope?: JsonObject): (reason: string) => void {
    if (this.#isClosed) {
      queueMicrotask(() => taker.onFailure(new NotSentError('Not connected')));
      return () => {};
    }
    const id = this.#nextId++;
    this.#open.set(id, taker);
    this.#budget.asked('call');
    const params = taker.onProgress === undefined ? parameters : withToken(parameters, id);
    this.#transport.send({ jsonrpc: '2.0', id, method: 'tools/call', params }).catch((error: unknown) => {
      if (this.#forget(id)) taker.onFailure(error);
    });
    return (reason) => {
      if (!this.#forget(id)) return;
      const told = { requestId: id, reason, ...omitUndefined({ _meta: envelope }) };
      const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: told } as const;
      // If the server does not read its input, the call itself reports that, not its cancellation.
      this.#transport.send(cancelled).catch(() => {});
    };
  }

  /** Whether this is the answer to one of these calls. If so, it is delivered. */
  takeAnswer(message: Answer): boolean {
    // Some servers return a numeric request id as text.
    const id = Number(message.id);
    const taker = this.#open.get(id);
    if (taker === undefined) return false;
    this.#open.delete(id);
    this.#budget.answered('call');
    if ('result' in message) taker.onResult(message.result as JsonObject);
    else taker.onFailure(ProtocolError.fromError(message.error.code, message.error.message, message.error.data));
    return true;
  }

  /** Whether this is a progress notification for one of these calls. If so, it is delivered. */
  takeProgress({ method, params }: Told): boolean {
    if (method !== 'notifications/progress' || this.#open.size === 0) return false;
    const { progressToken, progress, total, message } = (params ?? {}) as Record<string, unknown>;
    const onProgress = this.#open.get(Number(progressToken))?.onProgress;
    // A malformed notification is left to the library, which has the error message for it.
    if (onProgress === undefined || typeof progress !== 'number') return false;
    if ((total !== undefined && typeof total !== 'number') || (message !== undefined && typeof message !== 'string'))
      return false;
    onProgress({ progress, ...omitUndefined({ total, message }) });
    return true;
  }

  /** The connection has ended: whether the calls took effect is unknown. */
  close(): void {
    this.#isClosed = true;
    const open = [...this.#open.values()];
    this.#open.clear();
    for (const taker of open) taker.onFailure(new SdkError(SdkErrorCode.ConnectionClosed, 'Connection closed'));
  }

  #forget(id: number): boolean {
    const isOpen = this.#open.delete(id);
    if (isOpen) this.#budget.cancelled('call');
    return isOpen;
  }
}

function withToken(parameters: JsonObject, progressToken: number): JsonObject {
  const { _meta: meta } = parameters as { _meta?: JsonObject };
  return { ...parameters, _meta: { ...meta, progressToken } };
}
