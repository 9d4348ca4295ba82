import type { Config } from '../../config/schema/schema.js';
import { DEFAULT_LIMITS } from '../../domain/limits.js';
import { DEFAULT_PROCESS_LIMITS, type ProcessLimits } from '../../domain/process-program.js';

/** The configuration for programs on real interpreters. */
export interface RunnerSettings {
  readonly limits: ProcessLimits;
  /** The maximum for any request. */
  readonly most: Pick<ProcessLimits, 'timeoutMs' | 'maxMemoryBytes'>;
  readonly maxToolCalls: number;
  /** Limit for the line on stdout, or for the response of the MCP tool. */
  readonly maxLineBytes: number;
  /** How much of a program's output is passed on. */
  readonly maxPrintedBytes: number;
  readonly approvalWaitMs: number;
  readonly redactsPersonalData: boolean;
}

/** A private key in PEM format. */
const LONGEST_SECRET_BYTES = 16 * 1024;

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
      maxCpuMs: runner.cpu,
      // More than the line may have: its last line may be the result, and the error should say that the result is too large.
      maxStdoutBytes: Math.max(DEFAULT_PROCESS_LIMITS.maxStdoutBytes, runner.stdout),
      // Cut only after redaction: half a secret is not recognised, and would leak.
      maxStderrBytes: runner.stderr + LONGEST_SECRET_BYTES,
    },
    most: { timeoutMs: maximum.timeout, maxMemoryBytes: maximum.memory },
    maxToolCalls: limits.calls ?? DEFAULT_LIMITS.maxToolCalls,
    maxLineBytes: runner.stdout,
    maxPrintedBytes: runner.stderr,
    approvalWaitMs: runner.approvalWait,
    redactsPersonalData: runner.redactPersonalData,
  };
}

const MAX_EXCERPT_CHARACTERS = 8_000;

/** How much of a program's output goes beside an answer that a model reads. */
export function excerptCharacters({ maxPrintedBytes }: Pick<RunnerSettings, 'maxPrintedBytes'>): number {
  return Math.min(MAX_EXCERPT_CHARACTERS, maxPrintedBytes);
}
