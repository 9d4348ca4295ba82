import type { Span, Tracer } from '../domain/trace.js';
import type { BrokerCall, BrokerOutcome } from './call.js';

/** Who counts calls, and how long they take. Servers are named as callers name them. */
export interface CallObserver {
  /** A call was answered, whatever became of it. */
  onCall(server: string, isSuccess: boolean, durationMs: number): void;
  /** A server was asked once. */
  onUpstreamCall(server: string, isSuccess: boolean, durationMs: number): void;
}

/** The step of a trace that one call is. Its name and its facts hold nothing of what is sent or answered. */
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
  // The message of an error may hold what was sent, or what was answered.
  if (!outcome.ok) span.fail(outcome.verdict ?? outcome.error.errorClass);
  span.set({ 'codemode.approval.state': outcome.approval?.state });
  span.end();
}
