import type {
  FinishedSpan,
  Span,
  SpanAttributes,
  SpanKind,
  SpanOptions,
  TraceContext,
  Tracer,
} from '../domain/trace.js';
import { omitUndefined } from '../lib/omit-undefined.js';
import { takeRandom } from '../lib/secrets/random-supply.js';

/** Which traces are recorded. Every process decides the same way about the same trace. */
export interface Sampling {
  /** The share of traces that are recorded, from 0 to 1. */
  readonly ratio: number;
  /** Whether the caller's own sampling decision is honoured. */
  readonly followsCaller: boolean;
}

/** Names come from servers and can be any text. */
const MAX_TEXT = 256;
/** A larger drift means that the clock was set or the machine slept: the wall clock is read again. */
const MAX_DRIFT_MS = 100;

/** Records spans and passes each on when it ends. A span that never ends leaves nothing behind. */
export class SpanTracer implements Tracer {
  readonly #sampling: Sampling;
  readonly #onEnd: (span: FinishedSpan) => void;
  #originMs = Date.now() - performance.now();

  constructor(sampling: Sampling, onEnd: (span: FinishedSpan) => void) {
    this.#sampling = sampling;
    this.#onEnd = onEnd;
  }

  start(name: string, { parent, kind = 'internal', attributes, traceId }: SpanOptions = {}): Span {
    const id = parent?.traceId ?? traceId ?? newId(16);
    const isSampled = this.#isSampled(id, parent);
    const state = omitUndefined({ state: parent?.state });
    // An unrecorded span keeps its parent's id, because no trace viewer could find a new one.
    const spanId = isSampled || parent === undefined ? newId(8) : parent.spanId;
    const context = { traceId: id, spanId, isSampled, ...state };
    if (!isSampled) return new UnrecordedSpan(context);
    const now = performance.now();
    if (Math.abs(Date.now() - now - this.#originMs) > MAX_DRIFT_MS) this.#originMs = Date.now() - now;
    const span = new RecordedSpan({ name, kind, context, parent, startedAtMs: this.#originMs + now }, this.#onEnd);
    if (attributes !== undefined) span.set(attributes);
    return span;
  }

  #isSampled(traceId: string, parent: TraceContext | undefined): boolean {
    const { ratio, followsCaller } = this.#sampling;
    if (followsCaller && parent !== undefined) return parent.isSampled;
    // The last digits are random in every kind of trace id.
    return ratio >= 1 || Number.parseInt(traceId.slice(-8), 16) < ratio * 2 ** 32;
  }
}

interface SpanFacts {
  readonly name: string;
  readonly kind: SpanKind;
  readonly context: TraceContext;
  readonly parent: TraceContext | undefined;
  readonly startedAtMs: number;
}

class RecordedSpan implements Span {
  readonly #facts: SpanFacts;
  readonly #onEnd: (span: FinishedSpan) => void;
  readonly #from = performance.now();
  readonly #attributes: Record<string, string | number | boolean> = {};
  #errorType: string | undefined;
  #isOver = false;

  constructor(facts: SpanFacts, onEnd: (span: FinishedSpan) => void) {
    this.#facts = facts;
    this.#onEnd = onEnd;
  }

  get context(): TraceContext {
    return this.#facts.context;
  }

  set(attributes: SpanAttributes): void {
    for (const [name, value] of Object.entries(attributes))
      if (value !== undefined) this.#attributes[name] = typeof value === 'string' ? shortened(value) : value;
  }

  fail(errorType: string): void {
    this.#errorType = shortened(errorType);
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { name, kind, context, parent, startedAtMs } = this.#facts;
    this.#onEnd({
      ...{ name: shortened(name), kind, context, startedAtMs },
      durationMs: performance.now() - this.#from,
      attributes: this.#attributes,
      ...omitUndefined({ parentSpanId: parent?.spanId, errorType: this.#errorType }),
    });
  }
}

/** A span of an unrecorded trace: it only carries the context onwards. */
class UnrecordedSpan implements Span {
  readonly context: TraceContext;

  constructor(context: TraceContext) {
    this.context = context;
  }

  set(): void {}
  fail(): void {}
  end(): void {}
}

function newId(bytes: 8 | 16): string {
  return takeRandom(bytes).toString('hex');
}

function shortened(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT - 1)}…` : text;
}
