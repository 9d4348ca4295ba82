import type { CallerId, CallReply, GuestCall, Outcome, RunId } from './run.js';
import type { StopSignal } from './stop-signal.js';

/** Real interpreters: each program runs in its own process. */
export type ProcessLanguage = 'node' | 'python';
/** The kinds of process in a jail: an interpreter with its program, a compiled program, or the compiler. */
export type ProcessRole = ProcessLanguage | 'go' | 'go-build';
export const PROCESS_LANGUAGES = ['node', 'python'] as const satisfies readonly ProcessLanguage[];
/** The languages of programs that run in their own process. */
export type ProgramLanguage = ProcessLanguage | 'go';
export const PROGRAM_LANGUAGES = [...PROCESS_LANGUAGES, 'go'] as const satisfies readonly ProgramLanguage[];

/** The limits of one such program. */
export interface ProcessLimits {
  /** Computing and waiting for tools, counted from when the program has its process. */
  readonly timeoutMs: number;
  /** CPU time of all its processes together. Absent: limited only by its timeout. */
  readonly maxCpuMs?: number | undefined;
  /** Memory of all its processes together, beyond what its interpreter needs to start. */
  readonly maxMemoryBytes: number;
  /** Processes and threads at the same time. */
  readonly maxProcesses: number;
  readonly maxDiskBytes: number;
  /** How much of its output is kept. A program that prints far more is stopped. */
  readonly maxStdoutBytes: number;
  readonly maxStderrBytes: number;
}

export const DEFAULT_PROCESS_LIMITS: ProcessLimits = {
  timeoutMs: 30_000,
  maxMemoryBytes: 256 * 1024 * 1024,
  maxProcesses: 64,
  maxDiskBytes: 64 * 1024 * 1024,
  maxStdoutBytes: 1024 * 1024,
  maxStderrBytes: 256 * 1024,
};

/** A program for a real interpreter. `node` takes TypeScript and JavaScript: an ES module either way. */
export interface ProcessProgram {
  readonly language: ProcessLanguage;
  readonly source: string;
  /** Files in /workspace beside the program: relative paths and their text. The tools' client is always there. */
  readonly files: ReadonlyMap<string, string>;
  readonly limits: ProcessLimits;
  /** Seed of `random` and `Math.random`: a replay uses the same. Absent: the interpreter's own seed. */
  readonly seed?: number | undefined;
}

export interface ProcessHandlers {
  readonly caller: CallerId;
  /** Absent: a new id. */
  readonly runId?: RunId;
  /** Called when the program has left the queue, has its process, and starts. */
  onStarted?(): void;
  /** Answers a call of the program. A rejection reaches the program as an error without host details. */
  onCall(call: GuestCall, signal: AbortSignal, time: ProgramTime): Promise<CallReply>;
  readonly signal?: StopSignal;
}

/** A program's time limit is paused while it waits only for a person: `hold` pauses it, `spend` continues it. */
export interface ProgramTime {
  hold(): void;
  spend(): void;
}

/** The kept beginning of an output. */
export interface KeptOutput {
  readonly text: string;
  readonly isCut: boolean;
  readonly totalBytes: number;
}

/** Where a result came from: the program's `result`, its last line of output, or nowhere (it is then `null`). */
export type ResultSource = 'result' | 'stdout' | 'none';

/** How a program ended. Every started program has exactly one. */
export interface ProcessReport {
  readonly runId: RunId;
  readonly outcome: Outcome;
  readonly resultSource: ResultSource;
  readonly stdout: KeptOutput;
  readonly stderr: KeptOutput;
  /** The exit status of the process; undefined if the host or a signal ended it. */
  readonly exitCode: number | undefined;
  readonly signal: string | undefined;
  readonly durationMs: number;
  /** As last measured over all its processes; undefined if it ended before the first measurement. */
  readonly cpuMs: number | undefined;
  readonly peakMemoryBytes: number | undefined;
}

/** Whether a language is available; if not, why, and what to type. */
export type ProcessRuntimeStatus =
  | { readonly language: ProcessLanguage; readonly isAvailable: true; readonly version: string; readonly path: string }
  | { readonly language: ProcessLanguage; readonly isAvailable: false; readonly reason: string; readonly fix: string };

/** How many packages of Go's standard library are compiled, out of all that programs may import. */
export interface PackageProgress {
  readonly compiled: number;
  readonly total: number;
}

/** Whether the Go toolchain is available. */
export type GoStatus =
  | {
      readonly isAvailable: true;
      readonly version: string;
      readonly path: string;
      /** Progress of compiling the standard library on this machine. Reads the disk. */
      readonly packages?: () => PackageProgress;
    }
  | { readonly isAvailable: false; readonly reason: string; readonly fix: string };
