import { omitUndefined } from '../lib/omit-undefined.js';

/**
 * The trace of a request, by the W3C recommendation Trace Context. Plain data: it is stored with a suspended run and sent to
 * servers. It never contains data of a program.
 */
export interface TraceContext {
  /** 32 hexadecimal digits: the same from the first client to the last server. */
  readonly traceId: string;
  /** 16 hexadecimal digits: the id of the parent span. */
  readonly spanId: string;
  /** Whether the trace is recorded. */
  readonly isSampled: boolean;
  /** `tracestate`: data of upstream tracing systems. Passed on unchanged. */
  readonly state?: string;
}

/** A context as it is sent: in HTTP headers, or in `_meta` of MCP. No `baggage`, because it could contain users' data. */
export interface TraceCarrier {
  readonly traceparent: string;
  readonly tracestate?: string;
}

export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** One operation of a request, from its start to its end. */
export interface Span {
  readonly context: TraceContext;
  /** Adds attributes. Names, counts and kinds only: never arguments, results, or text from programs or people. */
  set(attributes: SpanAttributes): void;
  /** Marks the span as failed. `errorType` comes from a fixed list and is never a message. */
  fail(errorType: string): void;
  /** Only the first call counts. */
  end(): void;
}

export type SpanKind = 'internal' | 'server' | 'client';

export interface SpanOptions {
  /** The parent span. Absent: a new trace. */
  readonly parent?: TraceContext | undefined;
  readonly kind?: SpanKind;
  readonly attributes?: SpanAttributes;
  /** The id of a new trace, if it was published in advance. */
  readonly traceId?: string;
}

/** Starts spans. Absent if tracing is off: then nothing is measured. */
export interface Tracer {
  start(name: string, options?: SpanOptions): Span;
}

/** A span that has ended. */
export interface FinishedSpan {
  readonly name: string;
  readonly kind: SpanKind;
  readonly context: TraceContext;
  readonly parentSpanId?: string;
  readonly startedAtMs: number;
  readonly durationMs: number;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  readonly errorType?: string;
}

/** The spans of every request, on every surface. Names from the semantic conventions are used if they exist. */
export const SPANS = {
  /** A run: from the request until it ends or is suspended. */
  run: 'codemode.run',
  /** Connecting the servers that the run is about to use. */
  prepare: 'codemode.prepare',
  /** Waiting for a place, and starting the process. */
  start: 'codemode.start',
  /** A call waits for a person. */
  approval: 'codemode.approval',
} as const;

const TRACEPARENT = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(?:-[\x21-\x7e]*)?$/;
const VERSION_0_LENGTH = 55;
const MAX_PARENT_LENGTH = 256;
/** The minimum length that every system must pass on. A longer `tracestate` is dropped, not truncated. */
const MAX_STATE_LENGTH = 512;
const MAX_STATE_MEMBERS = 32;
const STATE_MEMBER = /^[a-z\d][a-z\d_\-*/@]{0,255}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;

/** Reads the context that a client sent. An invalid one is ignored: a broken trace is not a reason to refuse a request. */
export function readTraceContext(
  carrier: { readonly traceparent?: unknown; readonly tracestate?: unknown } | undefined,
): TraceContext | undefined {
  const { traceparent, tracestate } = carrier ?? {};
  if (typeof traceparent !== 'string' || traceparent.length > MAX_PARENT_LENGTH) return undefined;
  const [, version, traceId, spanId, flags] = TRACEPARENT.exec(traceparent) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  if (version === '00' && traceparent.length !== VERSION_0_LENGTH) return undefined;
  const state = readState(tracestate);
  const isSampled = (Number.parseInt(flags, 16) & 1) === 1;
  return { traceId, spanId, isSampled, ...omitUndefined({ state }) };
}

function readState(tracestate: unknown): string | undefined {
  if (typeof tracestate !== 'string' || tracestate.length > MAX_STATE_LENGTH) return undefined;
  const members = tracestate.split(',').flatMap((member) => (member.trim() === '' ? [] : [member.trim()]));
  const isValid = members.length <= MAX_STATE_MEMBERS && members.every((member) => STATE_MEMBER.test(member));
  return isValid && members.length > 0 ? members.join(',') : undefined;
}

/** The context in the form in which it is sent. */
export function traceCarrier({ traceId, spanId, isSampled, state }: TraceContext): TraceCarrier {
  const traceparent = `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
  return state === undefined ? { traceparent } : { traceparent, tracestate: state };
}
