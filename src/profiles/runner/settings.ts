import type { Config } from '../../config/schema.js';
import { DEFAULT_LIMITS } from '../../domain/limits.js';
import { DEFAULT_PROCESS_LIMITS, type ProcessLimits } from '../../domain/process-program.js';

/** What the configuration says about programs on real interpreters. */
export interface RunnerSettings {
  readonly limits: ProcessLimits;
  /** What no request goes beyond. */
  readonly most: Pick<ProcessLimits, 'timeoutMs' | 'maxMemoryBytes'>;
  readonly maxToolCalls: number;
  /** The line on standard output, or the answer of a tool. */
  readonly maxLineBytes: number;
  readonly approvalWaitMs: number;
  readonly hidesPersonalData: boolean;
}

export function runnerSettings({ runner, sandbox: { limits } }: Config): RunnerSettings {
  const {
    timeout = DEFAULT_PROCESS_LIMITS.timeoutMs,
    memory = DEFAULT_PROCESS_LIMITS.maxMemoryBytes,
    maximum,
  } = limits;
  return {
    limits: {
      ...DEFAULT_PROCESS_LIMITS,
      timeoutMs: Math.min(timeout, maximum.timeout),
      maxMemoryBytes: Math.min(memory, maximum.memory),
      maxProcesses: runner.processes,
      maxDiskBytes: runner.disk,
      // More than the line may have: its last line may be the result, and that it is too large should be said of it.
      maxStdoutBytes: Math.max(DEFAULT_PROCESS_LIMITS.maxStdoutBytes, runner.stdout),
      maxStderrBytes: Math.max(1, runner.stderr),
    },
    most: { timeoutMs: maximum.timeout, maxMemoryBytes: maximum.memory },
    maxToolCalls: limits.calls ?? DEFAULT_LIMITS.maxToolCalls,
    maxLineBytes: runner.stdout,
    approvalWaitMs: runner.approvalWait,
    hidesPersonalData: runner.redactPersonalData,
  };
}
