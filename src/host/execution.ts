import { HostError } from '../domain/errors.js';
import type { CallerId, CallReply, ExecutionId, GuestCall, LogEntry, Program } from '../domain/execution.js';
import type { ExecutionReport } from '../sandbox/execution.js';
import type { Sandbox } from '../sandbox/sandbox.js';

/** Answers a call that a program made. */
export type AnswerCall = (call: GuestCall, signal: AbortSignal) => Promise<CallReply>;

export interface ExecuteOptions {
  readonly caller: CallerId;
  readonly program: Program;
  readonly execution?: ExecutionId;
  readonly answerCall: AnswerCall;
  readonly signal?: AbortSignal;
  readonly onLog?: (entry: LogEntry) => void;
}

/**
 * One program from start to end. The only place where the sandbox and what answers its calls meet: neither knows the
 * other.
 */
export async function execute(
  sandbox: Sandbox,
  { caller, program, execution: id, answerCall, signal, onLog }: ExecuteOptions,
): Promise<ExecutionReport> {
  if (isAborted(signal)) throw new HostError('cancelled', 'the run was cancelled before it started');
  const { execution, report } = await sandbox.start(
    { caller, program, ...(id === undefined ? {} : { execution: id }) },
    { onCall: answerCall, ...(onLog === undefined ? {} : { onLog }) },
  );
  const cancel = () => execution?.cancel();
  // It may have been cancelled while it was being compiled and placed.
  if (isAborted(signal)) cancel();
  signal?.addEventListener('abort', cancel, { once: true });
  try {
    return await report;
  } finally {
    signal?.removeEventListener('abort', cancel);
  }
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}
