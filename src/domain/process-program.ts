import type { CallerId, CallReply, ExecutionId, GuestCall, Outcome } from './execution.js';
import type { StopSignal } from './stop-signal.js';

/** Real interpreters, each program in a process of its own. */
export type ProcessLanguage = 'node' | 'python';
/** What a process in a jail may be: an interpreter with its program, a compiled program, or what compiles one. */
export type ProcessRole = ProcessLanguage | 'go' | 'go-build';
export const PROCESS_LANGUAGES = ['node', 'python'] as const satisfies readonly ProcessLanguage[];
/** What programs of agents are written in that are processes of their own. */
export type ProgramLanguage = ProcessLanguage | 'go';
export const PROGRAM_LANGUAGES = [...PROCESS_LANGUAGES, 'go'] as const satisfies readonly ProgramLanguage[];

/** What one such program may spend. */
export interface ProcessLimits {
  /** Computing and waiting for tools, from the moment the program has its process. */
  readonly timeoutMs: number;
  /** Processor time of all its processes together. Absent: as much as it gets in its time. */
  readonly maxCpuMs?: number | undefined;
  /** All processes of the program together, beyond what its interpreter takes before it does anything. */
  readonly maxMemoryBytes: number;
  /** Processes and threads at the same time. */
  readonly maxProcesses: number;
  readonly maxDiskBytes: number;
  /** Kept of what it prints; far more than this ends it. */
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
  /** What lies in /workspace beside it: relative paths and their text. The client of the tools is there by itself. */
  readonly files: ReadonlyMap<string, string>;
  readonly limits: ProcessLimits;
  /** What `random` and `Math.random` begin with: a replay has the same. Absent: whatever the interpreter takes. */
  readonly seed?: number | undefined;
}

export interface ProcessHandlers {
  readonly caller: CallerId;
  /** Absent: a new one. */
  readonly execution?: ExecutionId;
  /** It has its turn and its process, and begins now. */
  onStarted?(): void;
  /** Answers a call of the program. A rejection reaches it as an error that says nothing of ours. */
  onCall(call: GuestCall, signal: AbortSignal, time: ProgramTime): Promise<CallReply>;
  /** What the program writes to stderr, as it comes, up to the limit. */
  onStderr?(text: string): void;
  readonly signal?: StopSignal;
}

/** A program's time stands still while it waits for nothing but a person: hold it, then let it go on. */
export interface ProgramTime {
  hold(): void;
  spend(): void;
}

/** What is kept of an output: its beginning. */
export interface KeptOutput {
  readonly text: string;
  readonly isCut: boolean;
  readonly totalBytes: number;
}

/** Where a result came from: the program's `result`, its last line of output, or nowhere (it is then `null`). */
export type ResultSource = 'result' | 'stdout' | 'none';

/** How a program ended. There is exactly one for each that was started, whatever it does. */
export interface ProcessReport {
  readonly execution: ExecutionId;
  readonly outcome: Outcome;
  readonly resultSource: ResultSource;
  readonly stdout: KeptOutput;
  readonly stderr: KeptOutput;
  /** As the program or its process said it; undefined where the host ended it or a signal did. */
  readonly exitCode: number | undefined;
  readonly signal: string | undefined;
  readonly durationMs: number;
  /** As last seen from outside, over all its processes; undefined where it was over before anybody looked. */
  readonly cpuMs: number | undefined;
  readonly peakMemoryBytes: number | undefined;
}

/** Whether a language is there, and if not, why, and what to type. */
export type ProcessRuntimeStatus =
  | { readonly language: ProcessLanguage; readonly isAvailable: true; readonly version: string; readonly path: string }
  | { readonly language: ProcessLanguage; readonly isAvailable: false; readonly reason: string; readonly fix: string };

/** Packages of Go's standard library that are compiled, of all that programs may import. */
export interface PackageProgress {
  readonly compiled: number;
  readonly total: number;
}

/** The same of the Go toolchain. */
export type GoStatus =
  | {
      readonly isAvailable: true;
      readonly version: string;
      readonly path: string;
      /** How far its standard library has been compiled here. Looks at the disk. */
      readonly packages?: () => PackageProgress;
    }
  | { readonly isAvailable: false; readonly reason: string; readonly fix: string };
