import type { EngineChoice } from './engine.js';
import type { JsonObject, JsonValue } from './json.js';
import { type Limits, MAXIMUM_LIMITS } from './limits.js';

/** Ids of different things do not mix. */
export type RunId = string & { readonly __brand: 'RunId' };
/** The life of a run: queued, running, any number of times suspended and queued again, then one of the last three. */
export type RunState = 'queued' | 'running' | 'suspended' | EndedState;
/** All of them. */
export const RUN_STATES = [
  'queued',
  'running',
  'suspended',
  'succeeded',
  'failed',
  'cancelled',
] as const satisfies readonly RunState[];
export type EndedState = 'succeeded' | 'failed' | 'cancelled';
/** What an ended run took. */
export interface RunFigures {
  /** Calls of tools, also those that were refused or failed. */
  readonly calls: number;
  /** What tools answered to its program. */
  readonly toolBytes: number;
}
/** Number of a call within its run: 1, 2, 3... in the order in which the program made them. */
export type CallNumber = number;
/** The authenticated party that a run belongs to. Runs of different callers never share a process. */
export type CallerId = string & { readonly __brand: 'CallerId' };
/** Who starts the program on this machine and speaks to it over a pipe: the same one each time. */
export const LOCAL_CALLER = 'stdio' as CallerId;

export type SourceLanguage = 'javascript' | 'typescript';

/** One name that a virtual module gives to the program. */
export type ModuleExport =
  | { readonly kind: 'call'; readonly name: string; readonly target: string }
  | { readonly kind: 'callSync'; readonly name: string; readonly target: string }
  | { readonly kind: 'value'; readonly name: string; readonly value: JsonValue }
  /** An object of async functions, by name the target of each. */
  | { readonly kind: 'calls'; readonly name: string; readonly targets: CallTargets }
  /** An object of such objects, each created at its first access. */
  | {
      readonly kind: 'namespaces';
      readonly name: string;
      readonly namespaces: Readonly<Record<string, CallTargets>>;
      /** Names whose servers have no tools now, with the path that targets begin with. */
      readonly unavailable?: Readonly<Record<string, string>>;
    }
  /** A function like the web's `fetch` over a call that makes one request. */
  | { readonly kind: 'fetch'; readonly name: string; readonly target: string };

/** Names of functions, and the target that each of them calls. */
export type CallTargets = Readonly<Record<string, string>>;

/** A module that exists only inside the sandbox, described as data: a worker turns it into code. */
export interface VirtualModule {
  readonly specifier: string;
  readonly exports: readonly ModuleExport[];
  /** Why nothing can be imported from it: every import of it throws this. */
  readonly problem?: GuestError;
}

/**
 * A classic script instead of a module: sloppy, without imports and timers. Its value is that of its last expression, or
 * of a `return` at its top level.
 */
export interface ScriptForm {
  /** The global `input`. */
  readonly input: JsonObject;
  /** Global functions that block the script until they are answered. Their name is the target of the call. */
  readonly calls: readonly string[];
}

/** The body of an async function instead of a module: what it returns is its result. It imports nothing. */
export interface BodyForm {
  /** The global `context`. */
  readonly context: JsonObject;
  /** The module whose exports it finds under their own names, and which of them. */
  readonly module: string;
  readonly names: readonly string[];
}

/** What a program has used, by its own worker's account. */
export interface ResourceUsage {
  readonly cpuMs: number;
  /** The most that it was seen to hold in its engine. */
  readonly memoryBytes: number;
}

/** What an agent submitted, with everything it may import. */
export interface Program {
  readonly source: string;
  readonly language: SourceLanguage;
  /** Programs with the same modules pass the same list, which is never modified. */
  readonly modules: readonly VirtualModule[];
  readonly limits: Limits;
  /** Its calls block the program (`callSync`): it gets its own worker and cannot be suspended. */
  readonly blocking?: boolean;
  /** Where neither this nor `body` is there, it is a module. */
  readonly script?: ScriptForm;
  readonly body?: BodyForm;
  /** Absent: as the host is configured. */
  readonly engine?: EngineChoice;
}

export type LogLevel = 'debug' | 'log' | 'warn' | 'error';

export interface LogEntry {
  readonly level: LogLevel;
  readonly message: string;
  /** Milliseconds since the execution started, by the program's own clock. */
  readonly timeMs: number;
}

/** A place in the agent's own source, both counted from 1. */
export interface SourcePosition {
  readonly line: number;
  readonly column: number;
}

/** `calls`: counted only by the part that answers a program's calls. */
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
  /** Class name of what was thrown, where something was. */
  readonly name: string;
  readonly message: string;
  readonly hint?: string;
  /** The class of `@codemode/errors` behind it, where there is one. */
  readonly errorClass?: string;
  readonly stack?: string;
  readonly position?: SourcePosition;
  readonly limit?: LimitName;
  /** The module that could not be imported, where that is why. */
  readonly module?: string;
}

/** With what only the host knows: the calls without an answer that may have taken effect, and are not safe to repeat (`server/tool`). */
export type EndedFailure = Failure & { readonly unfinished?: readonly string[] };

const MAX_NAMED_UNFINISHED = 5;

/** What to do before a program that failed is run again; empty where nothing has to be done. */
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

/** How a program ends whose time has run out, whichever side of the wall notices first. */
export function outOfTime(timeoutMs: number): Failure {
  return {
    kind: 'limit',
    name: 'SandboxLimitError',
    limit: 'timeout',
    message: `the program was stopped after ${timeoutMs} ms`,
    hint: timeoutMs < MAXIMUM_LIMITS.timeoutMs ? 'Raise limits.timeoutMs.' : 'Split the work into several runs.',
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

/** What JSON has no word for in a result: how many values, and where some of them are (`NaN at /price`). */
export interface LostValues {
  readonly count: number;
  readonly places: readonly string[];
  /** Promises in it, and where some of them are, as JSON Pointers. */
  readonly promises?: { readonly count: number; readonly places: readonly string[] };
}

/** Calls that a program did not wait for: how many, and where some of them were made. */
export interface UnawaitedCalls {
  readonly count: number;
  readonly calls: readonly {
    readonly name: string;
    /** How often it was made at this place. */
    readonly times: number;
    readonly position?: SourcePosition;
  }[];
}

/** What was under way when the time of a program was over whose last line had run. */
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
      /** Calls without an answer when its last line had run, and nothing of their answers is in the result. */
      readonly stillOpen?: UnawaitedCalls;
      readonly cutOff?: CutOff;
    }
  /** `soFarJson`: what the program had assigned to its result when it failed. */
  | { readonly status: 'failed'; readonly failure: EndedFailure; readonly soFarJson?: string }
);

/** A wish of the program, on its way to the host. */
export interface GuestCall {
  readonly execution: RunId;
  readonly number: CallNumber;
  readonly target: string;
  /** JSON array of the arguments as the program gave them. Untrusted text. */
  readonly argumentsJson: string;
  /** The line of the source that made it, where the program's process says so by itself. A claim, as all of it. */
  readonly line?: number;
}

/** What a call came to, as the program will see it. */
export type CallReply =
  | { readonly ok: true; readonly json: string | Uint8Array }
  | { readonly ok: false; readonly error: GuestError }
  /** The program sees nothing any more: it ends here with this failure, and no `catch` or `finally` of it runs. */
  | { readonly ok: false; readonly ends: Failure };

/** An error that is thrown inside the program: a class of `@codemode/errors` and its fields. */
export interface GuestError {
  readonly errorClass: string;
  readonly message: string;
  readonly hint: string;
  readonly fields?: { readonly [name: string]: JsonValue };
}
