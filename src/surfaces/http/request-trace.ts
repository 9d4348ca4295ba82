import type { IncomingHttpHeaders } from 'node:http';
import { readTraceContext, type TraceContext } from '../../domain/trace.js';

/** What a client says its request is a part of. */
export function traceOfHeaders({ traceparent, tracestate }: IncomingHttpHeaders): TraceContext | undefined {
  return readTraceContext({
    traceparent,
    // It may be given in several headers, which are one list.
    tracestate: Array.isArray(tracestate) ? tracestate.join(',') : tracestate,
  });
}
