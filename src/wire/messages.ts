import type {
  CallNumber,
  ExecutionId,
  Failure,
  LogLevel,
  LostValues,
  ResourceUsage,
  SourceLanguage,
  SourcePosition,
  UnawaitedCalls,
} from '../domain/execution.js';
import type { ProcessRole } from '../domain/process-program.js';

/** Raised whenever the meaning of a message changes. Both ends must name the same one. */
export const PROTOCOL = 5;

/** The most JSON in one call's arguments or in a result. A worker refuses more by name; the host ends one that sends it. */
export const MAX_VALUE_BYTES = 32 * 1024 * 1024;

/** The most places of values that a result lost. */
export const MAX_LOST_PLACES = 3;

/** The most calls that are told of those nobody waited for. */
export const MAX_UNAWAITED_CALLS = 3;

/** The most places that are told of one call. */
export const MAX_CALL_PLACES = 4;

/** The most a suspended program may take on its way to the host: its frame stays below what the host reads in one piece. */
export const MAX_IMAGE_BYTES = 255 * 1024 * 1024;

export type WorkerRole = 'quickjs';

/**
 * How a program's clock moved while it computed. Reads are numbered over the whole run; `ticks` has a pair for each read
 * that found another millisecond than the one before: its number, and the milliseconds since the start. `reads` is how
 * many there were: up to there, a read without a tick found the clock where it was.
 */
export interface ClockRecord {
  readonly reads: number;
  readonly ticks: readonly number[];
}

/**
 * What the host tells a worker. A message that starts a program, or delivers something to one, is answered by exactly
 * one of `execution/waiting`, `execution/end` and `execution/suspended`, in order: so the host always knows which
 * program a worker is computing, and whom to blame when it stays silent.
 */
export type HostToWorker =
  | { readonly type: 'host/hello'; readonly protocol: number; readonly build: string }
  /** Body: JSON of the virtual modules. Sent once to a worker, named by digest from then on. */
  | { readonly type: 'library/load'; readonly library: string }
  /**
   * Body: the source as its author wrote it, UTF-8. One that does not parse is answered by `execution/end`. In front of
   * the source of a script stands the JSON of its input, in front of a body the JSON of its context.
   */
  | {
      readonly type: 'execution/start';
      readonly execution: ExecutionId;
      readonly library: string;
      readonly language: SourceLanguage;
      readonly seed: string;
      readonly startedAtMs: number;
      readonly timeoutMs: number;
      readonly maxMemoryBytes: number;
      readonly maxLogBytes: number;
      /** Share of a processor over its time; 1 where it may have a whole one. */
      readonly cpuQuota: number;
      readonly blocking: boolean;
      readonly script: { readonly calls: readonly string[]; readonly inputBytes: number } | null;
      readonly body: {
        readonly module: string;
        readonly names: readonly string[];
        readonly contextBytes: number;
      } | null;
      /** Null: its clock moves only when something is delivered, as in journals of older versions. */
      readonly clock: ClockRecord | null;
    }
  /** Body: an image made by `execution/suspended` in a worker of the same build. */
  | {
      readonly type: 'execution/resume';
      readonly execution: ExecutionId;
      readonly library: string;
      readonly timeoutMs: number;
      readonly clock: ClockRecord | null;
    }
  /** Answered by `execution/waiting` where the image would be too large: the program stays where it is. */
  | { readonly type: 'execution/suspend'; readonly execution: ExecutionId }
  | { readonly type: 'execution/cancel'; readonly execution: ExecutionId }
  /** Body: JSON of the value. */
  | { readonly type: 'call/result'; readonly execution: ExecutionId; readonly call: CallNumber; readonly atMs: number }
  /** Body: JSON of a `GuestError`. */
  | { readonly type: 'call/error'; readonly execution: ExecutionId; readonly call: CallNumber; readonly atMs: number }
  /** Where in the source was this open call made? Answered by `call/site`, and then by `execution/waiting`. */
  | { readonly type: 'call/locate'; readonly execution: ExecutionId; readonly call: CallNumber }
  /** The time the program asked to be woken at has come. */
  | { readonly type: 'timer/fire'; readonly execution: ExecutionId; readonly atMs: number };

/** What a worker tells the host. All of it is hostile until `parse.ts` has read it. */
export type WorkerToHost =
  | { readonly type: 'worker/ready'; readonly protocol: number; readonly build: string; readonly role: WorkerRole }
  /** Body: JSON array of the arguments. */
  | {
      readonly type: 'call/request';
      readonly execution: ExecutionId;
      readonly call: CallNumber;
      readonly target: string;
    }
  /** The innermost place first, then those it was called from. None where the stack of the call shows none. */
  | {
      readonly type: 'call/site';
      readonly execution: ExecutionId;
      readonly call: CallNumber;
      readonly places: readonly SourcePosition[];
    }
  /** Body: the message as UTF-8. Numbered from 0, so that a rebuilt program does not say it twice. */
  | {
      readonly type: 'execution/log';
      readonly execution: ExecutionId;
      readonly entry: number;
      readonly level: LogLevel;
      readonly atMs: number;
    }
  /** How its clock moved since the last one. Comes before the calls that the program made after these reads. */
  | ({ readonly type: 'clock/read'; readonly execution: ExecutionId } & ClockRecord)
  /** Nothing more can be done until something is delivered. `wakeAtMs`: when the next timer is due, by the program's clock. */
  | {
      readonly type: 'execution/waiting';
      readonly execution: ExecutionId;
      readonly wakeAtMs: number | null;
      readonly usage: ResourceUsage;
    }
  /** Body: the image. */
  | { readonly type: 'execution/suspended'; readonly execution: ExecutionId }
  /** Body: JSON of the result; of a program that failed, of what it had assigned by then, or nothing. */
  | {
      readonly type: 'execution/end';
      readonly execution: ExecutionId;
      readonly failure: Failure | null;
      readonly logsCut: boolean;
      readonly usage: ResourceUsage;
      readonly lost?: LostValues;
      readonly unawaited?: UnawaitedCalls;
    };

/**
 * What the host tells a process that runs one program on a real interpreter. The answers of calls are those of
 * `HostToWorker`; `atMs` tells the time and moves no clock: these programs have the machine's.
 */
export type HostToProcess =
  | Extract<HostToWorker, { type: 'host/hello' | 'call/result' | 'call/error' }>
  /** Body: JSON of a `ProcessStart`. Said once. */
  | { readonly type: 'process/start'; readonly execution: ExecutionId }
  /** How much time is left before a program in Go has to come to its end. It stands still while a person is asked. */
  | {
      readonly type: 'process/time';
      readonly execution: ExecutionId;
      readonly leftMs: number;
      readonly isHeld: boolean;
    };

export interface ProcessStart {
  readonly source: string;
  /** Files of the workspace: path relative to it, and content. */
  readonly files: readonly (readonly [path: string, text: string])[];
  /** For programs in Go, whose context has a deadline. */
  readonly leftMs?: number;
  /** What random numbers of the program begin with. */
  readonly seed?: number;
}

/** What such a process tells the host. The program can write to the same descriptor, so none of it is more than a claim. */
export type ProcessToHost =
  | {
      readonly type: 'worker/ready';
      readonly protocol: number;
      readonly build: string;
      readonly role: ProcessRole;
    }
  | Extract<WorkerToHost, { type: 'call/request' }>
  /** Body: a file that a compiler hands over. Programs have none to give. */
  | { readonly type: 'process/file'; readonly execution: ExecutionId; readonly name: string }
  /**
   * The program has come to its end, and everything it printed is written. Body: JSON of its `result`; empty where it
   * set none, or failed.
   */
  | {
      readonly type: 'process/end';
      readonly execution: ExecutionId;
      readonly failure: Failure | null;
      readonly exitCode: number;
    };
