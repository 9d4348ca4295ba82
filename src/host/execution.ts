import { HostError } from '../domain/errors.js';
import type { CallerId, CallReply, GuestCall, LogEntry, Outcome, Program } from '../domain/execution.js';
import type { Journal } from '../sandbox/journal.js';
import type { Sandbox } from '../sandbox/sandbox.js';

/** Answers a call that a program made. The broker stands behind it. */
export type CallTool = (call: GuestCall, signal: AbortSignal) => Promise<CallReply>;

export interface TraceEntry {
  readonly target: string;
  readonly durationMs: number;
  readonly ok: boolean;
  readonly error?: string;
}

export interface ExecutionSummary {
  readonly outcome: Outcome;
  readonly logs: readonly LogEntry[];
  readonly logsCut: boolean;
  readonly trace: readonly TraceEntry[];
  readonly durationMs: number;
  /** Everything needed to run it again. Absent where the source did not even parse. */
  readonly journal: Journal;
}

export interface ExecuteOptions {
  readonly caller: CallerId;
  readonly program: Program;
  readonly callTool: CallTool;
  readonly signal?: AbortSignal;
  readonly onLog?: (entry: LogEntry) => void;
}

/**
 * One program from start to end. The only place where the sandbox and what answers its calls meet: neither knows the
 * other.
 */
export async function execute(
  sandbox: Sandbox,
  { caller, program, callTool, signal, onLog }: ExecuteOptions,
): Promise<ExecutionSummary> {
  if (signal?.aborted === true) throw new HostError('cancelled', 'the run was cancelled before it started');
  const trace: TraceEntry[] = [];
  let calls = 0;
  const onCall = async (call: GuestCall, callSignal: AbortSignal): Promise<CallReply> => {
    if (++calls > program.limits.maxToolCalls) return tooManyCalls(program.limits.maxToolCalls);
    const startedAt = performance.now();
    const reply = await callTool(call, callSignal);
    const entry = { target: call.target, durationMs: Math.round(performance.now() - startedAt), ok: reply.ok };
    trace.push(reply.ok ? entry : { ...entry, error: `${reply.error.errorClass}: ${reply.error.message}` });
    return reply;
  };
  const { execution, report } = await sandbox.start(
    { caller, program },
    { onCall, ...(onLog === undefined ? {} : { onLog }) },
  );
  const cancel = () => execution?.cancel();
  signal?.addEventListener('abort', cancel, { once: true });
  try {
    const { outcome, logs, logsCut, durationMs, journal } = await report;
    return { outcome, logs, logsCut, trace, durationMs, journal };
  } finally {
    signal?.removeEventListener('abort', cancel);
  }
}

/** The program can catch it; every further call meets it again. */
function tooManyCalls(maxToolCalls: number): CallReply {
  return {
    ok: false,
    error: {
      errorClass: 'SandboxLimitError',
      message: `the program has made its ${maxToolCalls} tool calls`,
      hint: 'Ask for more in one call (filters, larger pages), or raise limits.maxToolCalls.',
      fields: { limit: 'maxToolCalls' },
    },
  };
}
