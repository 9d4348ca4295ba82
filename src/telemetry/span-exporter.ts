import type { FinishedSpan } from '../domain/trace.js';
import { backoffMs } from '../lib/async/backoff.js';
import { LinkedAbort } from '../lib/async/linked-abort.js';
import { pause } from '../lib/async/pause.js';
import { otlpRequest, type ResourceAttributes } from './otlp.js';

export interface SpanExporterOptions {
  /** The collector's address for traces: `http://127.0.0.1:4318/v1/traces`. */
  readonly url: string;
  /** May be secret. */
  readonly headers: Readonly<Record<string, string>>;
  readonly resource: ResourceAttributes;
  readonly version: string;
  /** Called when spans begin to be lost, and not again until a batch has been delivered. */
  readonly onProblem: (problem: string) => void;
}

/** Spans queued for sending. Further spans are dropped, which bounds the memory that a slow or dead collector costs. */
const MAX_QUEUED = 4_096;
const MAX_BATCH = 512;
/** Spans that end together are sent together. */
const GATHER_MS = 500;
const REQUEST_TIMEOUT_MS = 10_000;
/** Attempts per batch, the first one included. */
const MAX_ATTEMPTS = 4;
const BACKOFF = { firstMs: 1_000, maxMs: 10_000, factor: 2 };
const RETRYABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);
/** For the spans left when the host closes: closing takes at most this much longer. */
const CLOSE_TIMEOUT_MS = 1_000;

/**
 * Sends spans to a collector by OTLP over HTTP, in the background. Only close() waits for it, for a bounded time. Spans that cannot
 * be sent are dropped, and the problem is reported once.
 */
export class SpanExporter {
  readonly #options: SpanExporterOptions;
  /** Aborted when there is no time left for a retry. */
  readonly #closing = new AbortController();
  /** Aborted when there is no time left at all. */
  readonly #closed = new AbortController();
  #queue: FinishedSpan[] = [];
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;
  #isFailing = false;

  constructor(options: SpanExporterOptions) {
    this.#options = options;
  }

  add(span: FinishedSpan): void {
    if (this.#closed.signal.aborted) return;
    if (this.#queue.length >= MAX_QUEUED) return this.#complain(`more than ${MAX_QUEUED} spans wait to be sent`);
    this.#queue.push(span);
    if (this.#queue.length >= MAX_BATCH) this.#send();
    else this.#sendSoon();
  }

  /** Sends the queued spans. Resolves after a second at the latest, even if the collector does not answer. */
  async close(): Promise<void> {
    const patience = setTimeout(() => this.#closed.abort(), CLOSE_TIMEOUT_MS);
    this.#closing.abort();
    this.#send();
    while (this.#sending !== undefined) await this.#sending;
    clearTimeout(patience);
    this.#closed.abort();
  }

  #sendSoon(): void {
    this.#timer ??= setTimeout(() => this.#send(), GATHER_MS).unref();
  }

  /** Only one batch is in flight at a time. Other spans wait in the bounded queue. */
  #send(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#sending !== undefined || this.#queue.length === 0 || this.#closed.signal.aborted) return;
    const batch = this.#queue.slice(0, MAX_BATCH);
    this.#queue = this.#queue.slice(MAX_BATCH);
    this.#sending = this.#deliver(batch).then(() => {
      this.#sending = undefined;
      if (this.#queue.length >= MAX_BATCH || this.#closing.signal.aborted) this.#send();
      else if (this.#queue.length > 0) this.#sendSoon();
    });
  }

  async #deliver(batch: readonly FinishedSpan[]): Promise<void> {
    const { resource, version } = this.#options;
    const body = otlpRequest(batch, resource, version);
    for (let attempt = 1; ; attempt++) {
      const refusal = await this.#post(body);
      this.#isFailing = refusal === undefined ? false : this.#isFailing;
      if (refusal === undefined) return;
      this.#complain(refusal.reason);
      if (this.#closing.signal.aborted) {
        this.#queue = [];
        return;
      }
      if (!refusal.isRetryable || attempt === MAX_ATTEMPTS) return;
      await pause(backoffMs(attempt, BACKOFF), this.#closing.signal, { isRef: false });
    }
  }

  async #post(body: string): Promise<{ readonly reason: string; readonly isRetryable: boolean } | undefined> {
    const { url, headers } = this.#options;
    // Not `AbortSignal.any`: Node 20 may collect the deadline, and then it never fires.
    const ends = new LinkedAbort([this.#closed.signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]);
    try {
      const answer = await fetch(url, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body,
        // The headers are meant for this address only.
        redirect: 'manual',
        signal: ends.signal,
      });
      await answer.body?.cancel();
      if (answer.ok) return undefined;
      return { reason: `it answered with status ${answer.status}`, isRetryable: RETRYABLE.has(answer.status) };
    } catch (error) {
      return { reason: reasonOf(error), isRetryable: true };
    } finally {
      ends.release();
    }
  }

  #complain(reason: string): void {
    if (this.#isFailing) return;
    this.#isFailing = true;
    const { origin, pathname } = new URL(this.#options.url);
    this.#options.onProblem(`traces are being lost: ${origin}${pathname} cannot be used: ${reason}`);
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError' || error.name === 'AbortError') return 'it does not answer in time';
  const code = (error.cause as NodeJS.ErrnoException | undefined)?.code;
  return code ?? error.message;
}
