import type { JSONRPCMessage, RequestId, Transport, TransportSendOptions } from '@modelcontextprotocol/client';
import type { JsonObject } from '../../domain/json.js';
import { type CallTaker, DirectCalls } from './calls/direct-calls.js';
import { STREAM_LOST } from './failures.js';
import type { ReadBudget, RequestKind } from './read-budget.js';

/** Where the sanitizer puts the server's real answer, out of reach of the client library's schemas. */
export const RAW = 'codemode/raw';
/** Stays open for as long as the connection, and has no answer. */
const LISTEN = 'subscriptions/listen';

/**
 * Sits between the client library and a transport, and makes the library tolerate what real servers do:
 *
 * - Answers to `tools/list` and `tools/call` pass as an empty, valid result with the real one beside it (`RAW`). The library
 *   validates them as a whole, so one odd tool or content block would fail the whole answer. We read them ourselves.
 * - A handshake with missing names is completed.
 * - A request whose answer stream ends without the answer fails at once, not after its timeout.
 * - Questions are delivered after the answers that came before them.
 * - An answer to a cancelled request is dropped here. The library would turn all of it into an error text.
 * - Unsolicited messages count against the budget of the connection, and so do responses that the server does not read.
 * - Tool calls over a pipe or a socket do not pass through the library at all (`call`).
 */
export class SanitizingTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;

  readonly inner: Transport;
  readonly #budget: ReadBudget;
  readonly #waiting = new Map<RequestId, string>();
  readonly #calls: DirectCalls;

  constructor(inner: Transport, budget: ReadBudget) {
    this.inner = inner;
    this.#budget = budget;
    this.#calls = new DirectCalls(inner, budget);
  }

  /** Calls a tool. The answer goes to `taker` as the server wrote it. Returns the function that cancels the call. */
  call(parameters: JsonObject, taker: CallTaker, envelope?: JsonObject): (reason: string) => void {
    return this.#calls.begin(parameters, taker, envelope);
  }

  get sessionId(): string | undefined {
    return this.inner.sessionId;
  }

  get hasPerRequestStream(): boolean {
    return this.inner.hasPerRequestStream === true;
  }

  setProtocolVersion(version: string): void {
    this.inner.setProtocolVersion?.(version);
  }

  setSupportedProtocolVersions(versions: string[]): void {
    this.inner.setSupportedProtocolVersions?.(versions);
  }

  start(): Promise<void> {
    this.inner.onclose = () => {
      this.#waiting.clear();
      try {
        this.onclose?.();
      } finally {
        this.#calls.close();
      }
    };
    this.inner.onerror = (error) => this.onerror?.(error);
    this.inner.onmessage = (message: JSONRPCMessage) => this.#receive(message);
    return this.inner.start();
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (!('method' in message)) return this.#budget.answering(this.inner.send(message, options));
    if (!('id' in message)) {
      const cancelled =
        message.method === 'notifications/cancelled'
          ? (message.params as { requestId?: RequestId }).requestId
          : undefined;
      if (cancelled !== undefined) this.#forget(cancelled);
      return this.inner.send(message, options);
    }
    const { id } = message;
    this.#waiting.set(id, message.method);
    if (message.method !== LISTEN) this.#budget.asked(kindOf(message.method));
    options?.requestSignal?.addEventListener('abort', () => this.#forget(id), { once: true });
    const onRequestStreamEnd = (): void => {
      options?.onRequestStreamEnd?.();
      // A listening stream has no answer to wait for; its end is handled separately.
      if (this.#waiting.get(id) !== LISTEN) this.#fail(id);
    };
    try {
      await this.inner.send(message, { ...options, onRequestStreamEnd });
    } catch (error) {
      this.#forget(id);
      throw error;
    }
  }

  close(): Promise<void> {
    return this.inner.close();
  }

  /** Nobody waits for this answer any more. */
  #forget(id: RequestId): void {
    const method = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (method !== undefined && method !== LISTEN) this.#budget.cancelled(kindOf(method));
  }

  #fail(id: RequestId): void {
    const method = this.#waiting.get(id);
    if (method === undefined) return;
    this.#waiting.delete(id);
    this.#budget.answered(kindOf(method));
    const error = { code: STREAM_LOST, message: 'the stream with the answer ended before the answer came' };
    this.onmessage?.({ jsonrpc: '2.0', id, error });
  }

  #receive(message: JSONRPCMessage): void {
    if (this.#budget.isOver) return;
    if ('method' in message) {
      this.#budget.unasked();
      if (this.#calls.takeProgress(message)) return;
      // A question after an answer no longer belongs to that call, even if both arrive at once: the call ends first.
      if ('id' in message || message.method === 'notifications/cancelled')
        setImmediate(() => this.onmessage?.(message));
      else this.onmessage?.(message);
      return;
    }
    if (message.id === undefined) return this.#budget.unasked();
    if (this.#calls.takeAnswer(message)) return;
    // Some servers return a numeric request id as text.
    const id = this.#waiting.has(message.id) ? message.id : Number(message.id);
    const method = this.#waiting.get(id);
    if (method === undefined) return this.#budget.unasked();
    this.#waiting.delete(id);
    if (method !== LISTEN) this.#budget.answered(kindOf(method));
    const answer =
      'result' in message ? { ...message, id, result: sanitized(method, message.result) } : { ...message, id };
    // The library handles answers at once but notifications a turn later, so the last progress of a call would be lost.
    queueMicrotask(() => this.onmessage?.(answer));
  }
}

/**
 * The same for transports with a single channel (a pipe, a socket). The library recognizes them by these two properties, and takes
 * silence there as a sign of an older server, not of an outage.
 */
export class SanitizingChannel extends SanitizingTransport {
  readonly stderr = null;
  readonly pid = null;
}

function kindOf(method: string): RequestKind {
  return method === 'tools/call' || method.startsWith('tasks/') ? 'call' : 'other';
}

type Result = { [key: string]: unknown };

function sanitized(method: string, result: Result): Result {
  switch (method) {
    case 'initialize':
      return completedHandshake(result);
    case 'tools/list':
      return { tools: [], resultType: 'complete', ttlMs: 0, cacheScope: 'private', [RAW]: result };
    case 'tools/call':
      // The library passes such a result on unchanged. `call.ts` answers its questions and calls again.
      if (result.resultType === 'input_required') return result;
      return { content: [], resultType: 'complete', [RAW]: result };
    case 'tasks/get':
    case 'tasks/result':
      return { content: [], resultType: 'complete', [RAW]: result };
    default:
      return result;
  }
}

function completedHandshake(result: Result): Result {
  const info = asObject(result.serverInfo);
  const capabilities = Object.entries(asObject(result.capabilities)).filter(
    ([, value]) => value !== null && value !== false,
  );
  const { instructions, ...rest } = result;
  return {
    ...rest,
    ...(typeof instructions === 'string' ? { instructions } : {}),
    capabilities: Object.fromEntries(capabilities.map(([name, value]) => [name, asObject(value)])),
    serverInfo: {
      name: typeof info.name === 'string' ? info.name : 'unnamed',
      version: typeof info.version === 'string' ? info.version : 'unknown',
    },
  };
}

function asObject(value: unknown): Result {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Result) : {};
}
