import type { EngineChoice } from './engine.js';
import type { JsonObject, JsonValue } from './json.js';
import { type Limits, MAXIMUM_LIMITS } from './limits.js';

/** Branded types, so that ids of different things do not mix. */
export type RunId = string & { readonly __brand: 'RunId' };
/** A run is queued, then running. It may be suspended and queued again any number of times. It ends in one of the last three states. */
export type RunState = 'queued' | 'running' | 'suspended' | EndedState;
/** All run states. */
export const RUN_STATES = [
  'queued',
  'running',
  'suspended',
  'succeeded',
  'failed',
  'cancelled',
] as const satisfies readonly RunState[];
export type EndedState = 'succeeded' | 'failed' | 'cancelled';
/** Figures of an ended run. */
export interface RunFigures {
  /** Number of tool calls, including refused and failed ones. */
  readonly calls: number;
  /** Bytes of the tools' answers to the program. */
  readonly toolBytes: number;
}
/** Number of a call within its run: 1, 2, 3... in the order in which the program made them. */
export type CallNumber = number;
/** The authenticated party that a run belongs to. Runs of different callers never share a process. */
export type CallerId = string & { readonly __brand: 'CallerId' };
/** The local user, who starts codemode on this machine and talks to it over a pipe. Always the same caller. */
export const LOCAL_CALLER = 'stdio' as CallerId;

export type SourceLanguage = 'javascript' | 'typescript';

/** One export of a virtual module. */
export type ModuleExport =
  | { readonly kind: 'call'; readonly name: string; readonly target: string }
  | { readonly kind: 'callSync'; readonly name: string; readonly target: string }
  | { readonly kind: 'value'; readonly name: string; readonly value: JsonValue }
  /** An object of async functions: the target of each, by its name. */
  | { readonly kind: 'calls'; readonly name: string; readonly targets: CallTargets }
  /** An object of such objects, each created at its first access. */
  | {
      readonly kind: 'namespaces';
      readonly name: string;
      readonly namespaces: Readonly<Record<string, CallTargets>>;
      /** Names of servers that have no tools now, each with the path that its targets begin with. */
      readonly unavailable?: Readonly<Record<string, string>>;
    }
  /** A function like the web's `fetch`. Its target is a call that makes one request. */
  | { readonly kind: 'fetch'; readonly name: string; readonly target: string };

/** Names of functions, and the target that each of them calls. */
export type CallTargets = Readonly<Record<string, string>>;

/** A module that exists only inside the sandbox, described as data: a worker turns it into code. */
export interface VirtualModule {
  readonly specifier: string;
  readonly exports: readonly ModuleExport[];
  /** The error that every import of this module throws. */
  readonly problem?: GuestError;
}

/**
 * A classic script instead of a module: sloppy mode, without imports and timers. Its value is that of its last expression, or
 * of a `return` at its top level.
 */
export interface ScriptForm {
  /** The global `input`. */
  readonly input: JsonObject;
  /** Global functions that block the script until they are answered. The name of each is the target of its call. */
  readonly calls: readonly string[];
}

/** The body of an async function instead of a module. What it returns is its result. It has no imports. */
export interface BodyForm {
  /** The global `context`. */
  readonly context: JsonObject;
  /** The module whose exports it sees as variables, and their names. */
  readonly module: string;
  readonly names: readonly string[];
}

/** What a program has used, as its worker reports it. */
export interface ResourceUsage {
  readonly cpuMs: number;
  /** The highest memory use measured in its engine. */
  readonly memoryBytes: number;
}

/** What an agent submitted, with all modules it may import. */
export interface Program {
  readonly source: string;
  readonly language: SourceLanguage;
  /** Programs with the same modules pass the same list, which is never modified. */
  readonly modules: readonly VirtualModule[];
  readonly limits: Limits;
  /** Its calls block the program (`callSync`): it gets its own worker and cannot be suspended. */
  readonly blocking?: boolean;
  /** If both this and `body` are absent, the program is a module. */
  readonly script?: ScriptForm;
  readonly body?: BodyForm;
  /** Absent: the host's configuration decides. */
  readonly engine?: EngineChoice;
}

export type ConsoleLevel = 'debug' | 'log' | 'warn' | 'error';

export interface LogEntry {
  readonly level: ConsoleLevel;
  readonly message: string;
  /** Milliseconds since the run started, by the program's own clock. */
  readonly timeMs: number;
}

/** A position in the agent's own source. Line and column are counted from 1. */
export interface SourcePosition {
  readonly line: number;
  readonly column: number;
}

/** `calls`: counted only by the part of the host that answers a program's calls. */
export type LimitName = 'timeout' | 'memory' | 'stack' | 'output' | 'calls' | 'disk' | 'processes' | 'cpu';

/** Why a program failed. This is a result of the program, not an error of the host. */
export interface Failure {
  readonly kind:
    | 'syntax'
    /** Found before anything was sent. */
    | 'type'
    | 'import'
    | 'exception'
    | 'limit'
    | 'never_settled'
    | 'not_serializable'
    | 'cancelled'
    | 'forbidden'
    | 'worker_lost';
  /** Class name of the thrown value, if one was thrown. */
  readonly name: string;
  readonly message: string;
  readonly hint?: string;
  /** The class in `@codemode/errors`, if there is one. */
  readonly errorClass?: string;
  readonly stack?: string;
  readonly position?: SourcePosition;
  readonly limit?: LimitName;
  /** The module that could not be imported, if that is the reason. */
  readonly module?: string;
}

/** Adds what only the host knows: unanswered calls that may have taken effect and are not safe to repeat (`server/tool`). */
export type EndedFailure = Failure & { readonly unfinished?: readonly string[] };

const MAX_NAMED_UNFINISHED = 5;

/** What to check before a failed program is run again; empty if there is nothing to check. */
export function checkFirst({ unfinished = [] }: EndedFailure | Pick<EndedFailure, 'unfinished'>): string {
  if (unfinished.length === 0) return '';
  const more = unfinished.length - MAX_NAMED_UNFINISHED;
  const named = `${unfinished.slice(0, MAX_NAMED_UNFINISHED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  return `First check whether ${named} took effect: the answer did not come before the program ended.`;
}

/** `unfinished`: the calls that may have taken effect. */
export function withUnfinished(outcome: Outcome, unfinished: readonly string[]): Outcome {
  if (outcome.status === 'completed' || unfinished.length === 0) return outcome;
  return { ...outcome, failure: { ...outcome.failure, unfinished } };
}

/** The failure of a program that ran out of time, whether the host or the worker notices first. `isComputing`: it waited for nothing. */
export function outOfTime(timeoutMs: number, isComputing = false): Failure {
  const next = timeoutMs < MAXIMUM_LIMITS.timeoutMs ? 'raise limits.timeoutMs.' : 'split the work into several runs.';
  return {
    kind: 'limit',
    name: 'SandboxLimitError',
    limit: 'timeout',
    message: `the program was stopped after ${timeoutMs} ms`,
    hint: isComputing
      ? `It was still computing, as in an endless loop; if it only needs longer, ${next}`
      : `${next.charAt(0).toUpperCase()}${next.slice(1)}`,
  };
}

export function outOfMemory(maxMemoryBytes: number): Failure {
  return {
    kind: 'limit',
    name: 'SandboxLimitError',
    limit: 'memory',
    message: `the program used more than its ${maxMemoryBytes} bytes of memory`,
    hint:
      maxMemoryBytes < MAXIMUM_LIMITS.maxMemoryBytes
        ? 'Raise limits.maxMemoryBytes.'
        : 'Keep less in memory at once: filter early, work in pieces.',
  };
}

/** Values of a result that JSON cannot express: how many, and the places of some of them (`NaN at /price`). */
export interface LostValues {
  readonly count: number;
  readonly places: readonly string[];
  /** Promises in the result, and the places of some of them as JSON Pointers. */
  readonly promises?: { readonly count: number; readonly places: readonly string[] };
}

/** Calls that a program did not wait for: how many, and where some of them were made. */
export interface UnawaitedCalls {
  readonly count: number;
  readonly calls: readonly {
    readonly name: string;
    /** How often the call was made at this place. */
    readonly times: number;
    readonly position?: SourcePosition;
  }[];
}

/** What was in flight when a program ran out of time after its last line had run. */
export interface CutOff {
  readonly calls: number;
  readonly hasTimer: boolean;
}

/** `unawaited`: calls whose promise nothing has awaited or chained on. */
export type Outcome = { readonly unawaited?: UnawaitedCalls } & (
  | {
      readonly status: 'completed';
      readonly resultJson: string;
      readonly lost?: LostValues;
      /** Calls without an answer after its last line had run. Nothing of their answers is in the result. */
      readonly stillOpen?: UnawaitedCalls;
      readonly cutOff?: CutOff;
    }
  /** `soFarJson`: what the program had assigned to its result when it failed. */
  | { readonly status: 'failed'; readonly failure: EndedFailure; readonly soFarJson?: string }
);

/** A program's call, on its way to the host. */
export interface GuestCall {
  readonly runId: RunId;
  readonly number: CallNumber;
  readonly target: string;
  /** JSON array of the arguments as the program gave them. Untrusted text. */
  readonly argumentsJson: string;
  /** The line of the source that made the call, if the program's process reports it. A claim, like everything in this message. */
  readonly line?: number;
}

/** The reply to a call, as the program sees it. */
export type CallReply =
  | { readonly ok: true; readonly json: string | Uint8Array }
  | { readonly ok: false; readonly error: GuestError }
  /** The program ends here with this failure. None of its `catch` or `finally` blocks run. */
  | { readonly ok: false; readonly ends: Failure };

/** An error to throw inside the program: a class of `@codemode/errors` and its fields. */
export interface GuestError {
  readonly errorClass: string;
  readonly message: string;
  readonly hint: string;
  readonly fields?: { readonly [name: string]: JsonValue };
}
