import { isInputRequiredResult, type ServerContext } from '@modelcontextprotocol/server';
import { readTraceContext, type Span, type TraceContext, type Tracer } from '../../domain/trace.js';
import type { CallResult } from './elicitation-call.js';

const MAX_ID_CHARACTERS = 64;

/** The trace context of the client's request: from the message itself, else from the HTTP headers. */
export function traceOf({ mcpReq, http }: ServerContext): TraceContext | undefined {
  const { traceparent, tracestate } = mcpReq._meta ?? {};
  const headers = http?.req?.headers;
  return (
    readTraceContext({ traceparent, tracestate }) ??
    readTraceContext({ traceparent: headers?.get('traceparent'), tracestate: headers?.get('tracestate') })
  );
}

/** The span of one request. `toolName`: undefined if the tool is not listed, because the name may be any text. */
export function startRequestSpan(tracer: Tracer, context: ServerContext, toolName: string | undefined): Span {
  const { id } = context.mcpReq;
  return tracer.start(toolName === undefined ? 'tools/call' : `tools/call ${toolName}`, {
    parent: traceOf(context),
    kind: 'server',
    attributes: {
      'mcp.method.name': 'tools/call',
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': toolName,
      'jsonrpc.request.id': String(id).length > MAX_ID_CHARACTERS ? undefined : String(id),
      'network.transport': context.http === undefined ? 'pipe' : 'tcp',
    },
  });
}

/** By the conventions, a result with `isError` is an error of type `tool_error`. */
export function noteResult(span: Span | undefined, result: CallResult): CallResult {
  if (span !== undefined && !isInputRequiredResult(result) && result.isError === true) span.fail('tool_error');
  return result;
}
