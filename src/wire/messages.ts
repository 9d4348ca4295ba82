import type { ProcessRole } from '../domain/process-program.js';
import type {
  CallNumber,
  ConsoleLevel,
  CutOff,
  Failure,
  LostValues,
  ResourceUsage,
  RunId,
  SourceLanguage,
  SourcePosition,
  UnawaitedCalls,
} from '../domain/run.js';

/** Raised whenever the meaning of a message changes. Both ends must name the same number. */
export const PROTOCOL = 5;

/** Maximum JSON of one call's arguments or of a result. A worker refuses more with an error; the host kills a worker that sends more. */
export const MAX_VALUE_BYTES = 32 * 1024 * 1024;

/** Maximum number of reported places of lost values in a result. */
export const MAX_LOST_PLACES = 3;

/** Maximum number of reported unawaited calls. */
export const MAX_UNAWAITED_CALLS = 3;

/** Maximum number of reported source positions for one call. */
export const MAX_CALL_PLACES = 4;

/** The largest image of a suspended program. Its frame stays below what the host reads in one piece. */
export const MAX_IMAGE_BYTES = 255 * 1024 * 1024;

export type WorkerRole = 'quickjs' | 'v8';

/**
 * How a program's clock moved while it computed. Reads are numbered over the whole run. `ticks` has a pair for each read
 * that returned a new millisecond: its number, and the milliseconds since the start. `reads` is the number of reads: up to
 * there, a read without a tick returned the same millisecond as the one before.
 */
export interface ClockRecord {
  readonly reads: number;
  readonly ticks: readonly number[];
}

/**
 * Messages of the host to a worker. A message that starts a program, or delivers something to one, is answered by exactly
 * one of `execution/waiting`, `execution/end`, `execution/unfit` and `execution/suspended`, in order. So the host always knows which
 * program a worker is computing, and which one to blame when the worker does not answer.
 */
export type HostToWorker =
  /** The first message. A worker of another protocol or build is not used. No body. */
  | { readonly type: 'host/hello'; readonly protocol: number; readonly build: string }
  /** Body: JSON of the virtual modules. Sent once to a worker; later messages name it by its digest. */
  | { readonly type: 'library/load'; readonly library: string }
  /**
   * Starts a program. Body: the source, unchanged, UTF-8; before the source of a script the JSON of its input, before a body
   * the JSON of its context. A source that does not parse is answered by `execution/end`.
   */
  | {
      readonly type: 'execution/start';
      readonly execution: RunId;
      readonly library: string;
      readonly language: SourceLanguage;
      readonly seed: string;
      readonly startedAtMs: number;
      readonly timeoutMs: number;
      readonly maxMemoryBytes: number;
      readonly maxLogBytes: number;
      /** Share of a CPU core over its time; 1 for a whole core. */
      readonly cpuQuota: number;
      readonly blocking: boolean;
      readonly script: { readonly calls: readonly string[]; readonly inputBytes: number } | null;
      readonly body: {
        readonly module: string;
        readonly names: readonly string[];
        readonly contextBytes: number;
      } | null;
      /** Null: the clock moves only with deliveries, as in journals of older versions. */
      readonly clock: ClockRecord | null;
      /** CPU time without a pause after which the worker sends `execution/computing`; null: never. */
      readonly pausesAfterMs: number | null;
    }
  /** Restores a suspended program. Body: an image from `execution/suspended` of a worker of the same build. */
  | {
      readonly type: 'execution/resume';
      readonly execution: RunId;
      readonly library: string;
      readonly timeoutMs: number;
      readonly clock: ClockRecord | null;
      readonly pausesAfterMs: number | null;
    }
  /** Asks for the image of a program. If it would be too large, the answer is `execution/waiting` and the program stays. */
  | { readonly type: 'execution/suspend'; readonly execution: RunId }
  /** The answer to `execution/computing`: the program goes on. */
  | { readonly type: 'execution/continue'; readonly execution: RunId }
  /** Ends a program, also one that is paused. */
  | { readonly type: 'execution/cancel'; readonly execution: RunId }
  /** The time of a program that waits is over. Answered by `execution/end`: with its result where its last line has run. */
  | { readonly type: 'execution/finish'; readonly execution: RunId }
  /** The reply to a call. Body: JSON of the value. */
  | { readonly type: 'call/result'; readonly execution: RunId; readonly call: CallNumber; readonly atMs: number }
  /** The error of a call. Body: JSON of a `GuestError`. */
  | { readonly type: 'call/error'; readonly execution: RunId; readonly call: CallNumber; readonly atMs: number }
  /** Asks where in the source an open call was made. Answered by `call/site`, then by `execution/waiting`. */
  | { readonly type: 'call/locate'; readonly execution: RunId; readonly call: CallNumber }
  /** The program's next timer is due. */
  | { readonly type: 'timer/fire'; readonly execution: RunId; readonly atMs: number };

/** Messages of a worker to the host. All of them are hostile until `parse.ts` has accepted them. */
export type WorkerToHost =
  /** The answer to `host/hello`. */
  | { readonly type: 'worker/ready'; readonly protocol: number; readonly build: string; readonly role: WorkerRole }
  /** A program calls something. Body: JSON array of the arguments. */
  | {
      readonly type: 'call/request';
      readonly execution: RunId;
      readonly call: CallNumber;
      readonly target: string;
    }
  /** The answer to `call/locate`: the innermost position first, then its callers. Empty if the stack shows none. */
  | {
      readonly type: 'call/site';
      readonly execution: RunId;
      readonly call: CallNumber;
      readonly places: readonly SourcePosition[];
    }
  /** A log entry. Body: its text, UTF-8. Entries are numbered from 0, so that a rebuilt program does not repeat them. */
  | {
      readonly type: 'execution/log';
      readonly execution: RunId;
      readonly entry: number;
      readonly level: ConsoleLevel;
      readonly atMs: number;
    }
  /** How the clock moved since the last such message. Sent before the calls that the program made after these reads. */
  | ({ readonly type: 'clock/read'; readonly execution: RunId } & ClockRecord)
  /** The program waits for a delivery. `wakeAtMs`: when its next timer is due, by its own clock. */
  | {
      readonly type: 'execution/waiting';
      readonly execution: RunId;
      readonly wakeAtMs: number | null;
      readonly usage: ResourceUsage;
    }
  /**
   * The program has computed for `pausesAfterMs` and is paused until `execution/continue` or `execution/cancel` arrives. Said
   * once between two answers, by QuickJS workers only.
   */
  | { readonly type: 'execution/computing'; readonly execution: RunId }
  /**
   * Of a V8 worker only, instead of an answer: the program uses what this V8 lacks or does otherwise than QuickJS. Nothing of
   * it has run.
   */
  | { readonly type: 'execution/unfit'; readonly execution: RunId; readonly reason: string }
  /** The answer to `execution/suspend`. Body: the image; none of a V8 worker, whose programs are rebuilt from their journals. */
  | { readonly type: 'execution/suspended'; readonly execution: RunId }
  /** The program has ended. Body: JSON of the result; of a failed program, of what it had assigned by then, or nothing. */
  | {
      readonly type: 'execution/end';
      readonly execution: RunId;
      readonly failure: Failure | null;
      readonly logsCut: boolean;
      readonly usage: ResourceUsage;
      readonly lost?: LostValues;
      readonly unawaited?: UnawaitedCalls;
      readonly stillOpen?: UnawaitedCalls;
      readonly cutOff?: CutOff;
    };

/**
 * Messages of the host to a process that runs one program on a real interpreter. Replies to calls are those of
 * `HostToWorker`; their `atMs` moves no clock, because these programs use the machine's.
 */
export type HostToProcess =
  | Extract<HostToWorker, { type: 'host/hello' | 'call/result' | 'call/error' }>
  /** Starts the program; sent once. Body: JSON of a `ProcessStart`. */
  | { readonly type: 'process/start'; readonly execution: RunId }
  /** How much time a Go program has left. `isHeld`: its time is paused while a person is asked. */
  | {
      readonly type: 'process/time';
      readonly execution: RunId;
      readonly leftMs: number;
      readonly isHeld: boolean;
    };

export interface ProcessStart {
  readonly source: string;
  /** Files of the workspace: path relative to it, and content. */
  readonly files: readonly (readonly [path: string, text: string])[];
  /** For programs in Go, whose context has a deadline. */
  readonly leftMs?: number;
  /** Seed of the program's random numbers. */
  readonly seed?: number;
}

/** Messages of such a process to the host. The program can write to the same descriptor, so each is only a claim. */
export type ProcessToHost =
  /** The answer to `host/hello`. */
  | {
      readonly type: 'worker/ready';
      readonly protocol: number;
      readonly build: string;
      readonly role: ProcessRole;
    }
  /** The program calls something. Body: JSON array of the arguments. `line`: where in the source, for the first calls, if known. */
  | (Extract<WorkerToHost, { type: 'call/request' }> & { readonly line?: number })
  /** A file from a compiler; programs have none. Body: its bytes. */
  | { readonly type: 'process/file'; readonly execution: RunId; readonly name: string }
  /**
   * The program has ended, and everything it printed is written. Body: JSON of its `result`, of one that failed what it had
   * set by then; empty if it set none.
   */
  | {
      readonly type: 'process/end';
      readonly execution: RunId;
      readonly failure: Failure | null;
      readonly exitCode: number;
    };
