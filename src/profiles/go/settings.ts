import type { Config } from '../../config/schema/schema.js';
import { DEFAULT_LIMITS } from '../../domain/limits.js';
import { DEFAULT_PROCESS_LIMITS, type ProcessLimits } from '../../domain/process-program.js';

/** The configuration for Go programs. */
export interface GoSettings {
  readonly limits: ProcessLimits;
  readonly maxToolCalls: number;
  readonly approvalWaitMs: number;
}

export function goSettings({ go, sandbox: { limits } }: Config): GoSettings {
  const {
    timeout = DEFAULT_PROCESS_LIMITS.timeoutMs,
    memory = DEFAULT_PROCESS_LIMITS.maxMemoryBytes,
    logs = DEFAULT_LIMITS.maxLogBytes,
    calls = DEFAULT_LIMITS.maxToolCalls,
    maximum,
  } = limits;
  const outputBytes = Math.max(1, Math.min(logs, maximum.logs));
  return {
    limits: {
      ...DEFAULT_PROCESS_LIMITS,
      timeoutMs: Math.min(timeout, maximum.timeout),
      maxMemoryBytes: Math.min(memory, maximum.memory),
      maxProcesses: go.processes,
      // The output is the answer, and a model has to read it.
      maxStdoutBytes: outputBytes,
      // A crash report is written to stderr, after everything that was logged.
      maxStderrBytes: Math.max(outputBytes, DEFAULT_PROCESS_LIMITS.maxStderrBytes),
    },
    maxToolCalls: Math.min(calls, maximum.calls),
    approvalWaitMs: go.approvalWait,
  };
}
