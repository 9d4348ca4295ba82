import type { Span, Tracer } from '../domain/trace.js';
import type { BrokerCall, BrokerOutcome } from './call.js';

/** Counts calls and measures their duration. Servers have the names that callers use. */
export interface CallObserver {
  /** A call has ended, successfully or not. */
  onCall(server: string, isSuccess: boolean, durationMs: number): void;
  /** One request to a server has ended. */
  onUpstreamCall(server: string, isSuccess: boolean, durationMs: number): void;
}

/** Starts the span of one call. Its name and attributes contain nothing of what is sent or answered. */
export function startCallSpan(tracer: Tracer, { run, tool, serverPath, number }: BrokerCall): Span {
  return tracer.start(`execute_tool ${tool.name}`, {
    parent: run.trace,
    attributes: {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': tool.name,
      'gen_ai.tool.type': 'extension',
      'codemode.server': serverPath,
      'codemode.run.id': run.runId,
      'codemode.call.number': number,
      'codemode.call.parent': run.parentCall,
    },
  });
}

export function endCallSpan(span: Span, outcome: BrokerOutcome): void {
  // An error's message may contain what was sent or answered.
  if (!outcome.ok) span.fail(outcome.verdict ?? outcome.error.errorClass);
  span.set({ 'codemode.approval.state': outcome.approval?.state });
  span.end();
}
