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
  { caller, program, execution, answerCall, signal, onLog }: ExecuteOptions,
): Promise<ExecutionReport> {
  if (signal?.aborted === true) throw new HostError('cancelled', 'the run was cancelled before it started');
  const { report } = await sandbox.start(
    {
      caller,
      program,
      ...(execution === undefined ? {} : { execution }),
      ...(signal === undefined ? {} : { signal }),
    },
    { onCall: answerCall, ...(onLog === undefined ? {} : { onLog }) },
  );
  return report;
}
