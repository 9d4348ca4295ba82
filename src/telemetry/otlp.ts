import type { FinishedSpan, SpanKind } from '../domain/trace.js';
import { omitUndefined } from '../lib/omit-undefined.js';

/** Attributes of the program itself, sent with every batch. */
export type ResourceAttributes = Readonly<Record<string, string>>;

const KINDS: Readonly<Record<SpanKind, number>> = { internal: 1, server: 2, client: 3 };
const STATUS_ERROR = 2;
const SAMPLED = 1;

/** Spans in the JSON encoding of OTLP (`ExportTraceServiceRequest`): ids as hexadecimal, 64-bit numbers as text. */
export function otlpRequest(spans: readonly FinishedSpan[], resource: ResourceAttributes, version: string): string {
  return JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: attributesOf(resource) },
        scopeSpans: [{ scope: { name: 'codemode', version }, spans: spans.map(otlpSpan) }],
      },
    ],
  });
}

function otlpSpan({
  name,
  kind,
  context,
  parentSpanId,
  startedAtMs,
  durationMs,
  attributes,
  errorType,
}: FinishedSpan): object {
  const { traceId, spanId, state } = context;
  return {
    traceId,
    spanId,
    ...omitUndefined({ traceState: state, parentSpanId }),
    flags: SAMPLED,
    name,
    kind: KINDS[kind],
    startTimeUnixNano: nanoseconds(startedAtMs),
    endTimeUnixNano: nanoseconds(startedAtMs + durationMs),
    attributes: attributesOf(errorType === undefined ? attributes : { ...attributes, 'error.type': errorType }),
    status: errorType === undefined ? {} : { code: STATUS_ERROR },
  };
}

function attributesOf(attributes: FinishedSpan['attributes']): object[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: otlpValue(value) }));
}

function otlpValue(value: string | number | boolean): object {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

/** Rounded to whole microseconds: a double of this size holds no more precision. */
function nanoseconds(ms: number): string {
  return `${Math.round(ms * 1_000)}000`;
}
