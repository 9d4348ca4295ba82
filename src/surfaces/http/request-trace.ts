import type { IncomingHttpHeaders } from 'node:http';
import { readTraceContext, type TraceContext } from '../../domain/trace.js';

/** The trace that the client's request belongs to. */
export function traceOfHeaders({ traceparent, tracestate }: IncomingHttpHeaders): TraceContext | undefined {
  return readTraceContext({
    traceparent,
    // It may be sent in several headers, which form one list.
    tracestate: Array.isArray(tracestate) ? tracestate.join(',') : tracestate,
  });
}
