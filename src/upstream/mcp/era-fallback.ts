import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type JSONRPCMessage,
  LATEST_PROTOCOL_VERSION,
  METHOD_NOT_FOUND,
  type RequestId,
  type Transport,
  type TransportSendOptions,
} from '@modelcontextprotocol/client';

/** Far from the ids that the client library counts up from 0. A number, because some older servers do not accept text as an id. */
const INITIALIZE_ID = 2_000_000_000;
/** How long to wait for a server that offered the newer era and ignores `initialize`. */
const REFUSAL_GRACE_MS = 1_000;

type Answer = Extract<JSONRPCMessage, { result: unknown } | { error: unknown }>;
type SentRequest = Extract<JSONRPCMessage, { id: RequestId; method: string }>;

/**
 * Finds out the protocol era of a server on a pipe or socket that is silent at first.
 *
 * The newer era begins with `server/discover`. Silence has two causes that look the same: an older server that ignores unknown
 * requests, and a server of either era that is still starting. The client library decides after a fixed time that the server is an
 * older one, so a newer server that starts slowly is lost. Therefore this transport sends `initialize` after `silenceMs`, while
 * `server/discover` is still open, and lets the answers decide, whenever they come:
 *
 * - `initialize` succeeds: the older era. The library is told that `server/discover` does not exist, and its own `initialize` is
 *   answered with the result that has already arrived.
 * - `initialize` is refused: the newer era, if `server/discover` was answered with a result.
 */
export class EraFallback implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;

  readonly #inner: Transport;
  readonly #silenceMs: number;
  #timer: NodeJS.Timeout | undefined;
  #discover: SentRequest | undefined;
  #discovered: Answer | undefined;
  /** Our own `initialize` was sent, and the era is not known yet. */
  #isUndecided = false;
  #initialized: Answer | undefined;

  constructor(inner: Transport, silenceMs: number) {
    this.#inner = inner;
    this.#silenceMs = silenceMs;
  }

  start(): Promise<void> {
    this.#inner.onclose = () => {
      clearTimeout(this.#timer);
      this.onclose?.();
    };
    this.#inner.onerror = (error) => this.onerror?.(error);
    this.#inner.onmessage = (message: JSONRPCMessage) => this.#receive(message);
    return this.#inner.start();
  }

  async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    if (isRequest(message)) {
      if (message.method === 'initialize' && this.#initialized !== undefined) {
        const answer = { ...this.#initialized, id: message.id };
        this.#initialized = undefined;
        queueMicrotask(() => this.onmessage?.(answer));
        return;
      }
      if (message.method === 'server/discover' && this.#discover === undefined) {
        this.#discover = message;
        this.#timer = setTimeout(() => this.#ask(message), this.#silenceMs);
      }
    }
    return this.#inner.send(message, options);
  }

  close(): Promise<void> {
    clearTimeout(this.#timer);
    return this.#inner.close();
  }

  #ask({ params }: SentRequest): void {
    const { [CLIENT_INFO_META_KEY]: clientInfo, [CLIENT_CAPABILITIES_META_KEY]: capabilities = {} } = (params?._meta ??
      {}) as Record<string, unknown>;
    this.#isUndecided = true;
    const request = {
      jsonrpc: '2.0',
      id: INITIALIZE_ID,
      method: 'initialize',
      params: { protocolVersion: LATEST_PROTOCOL_VERSION, capabilities, clientInfo },
    } as JSONRPCMessage;
    this.#inner.send(request).catch((error: Error) => this.onerror?.(error));
  }

  #receive(message: JSONRPCMessage): void {
    if ('method' in message) return this.onmessage?.(message);
    if (isTo(message, INITIALIZE_ID)) return this.#isUndecided ? this.#decide(message) : undefined;
    if (this.#discover === undefined || !isTo(message, this.#discover.id)) return this.onmessage?.(message);
    clearTimeout(this.#timer);
    if (!this.#isUndecided) return this.onmessage?.(message);
    this.#discovered = message;
    // A server that accepts both is of the older era once it gets `initialize`, so that answer decides.
    if ('result' in message) this.#timer = setTimeout(() => this.#settle(message), REFUSAL_GRACE_MS);
  }

  #decide(answer: Answer): void {
    if ('error' in answer && this.#discovered !== undefined && 'result' in this.#discovered)
      return this.#settle(this.#discovered);
    // `initialize` was refused and `server/discover` is still open: its answer decides.
    if ('error' in answer && this.#discovered === undefined) {
      this.#isUndecided = false;
      return;
    }
    this.#initialized = answer;
    this.#settle(NO_SUCH_METHOD);
  }

  #settle(answer: Answer): void {
    clearTimeout(this.#timer);
    this.#isUndecided = false;
    this.onmessage?.({ ...answer, id: this.#discover?.id as RequestId });
  }
}

const NO_SUCH_METHOD: Answer = {
  jsonrpc: '2.0',
  id: 0,
  error: { code: METHOD_NOT_FOUND, message: 'the server speaks the older protocol' },
};

function isRequest(message: JSONRPCMessage): message is SentRequest {
  return 'method' in message && 'id' in message;
}

/** Some servers return a numeric request id as text. */
function isTo(answer: Answer, id: RequestId): boolean {
  return typeof answer.id === 'number' ? answer.id === id : answer.id === String(id);
}
