import { fileURLToPath } from 'node:url';
import type { EngineChoice } from '../../src/domain/engine.js';
import type { JsonObject } from '../../src/domain/json.js';
import { DEFAULT_LIMITS, type Limits } from '../../src/domain/limits.js';
import type {
  CallerId,
  CallReply,
  Failure,
  GuestCall,
  Program,
  SourceLanguage,
  VirtualModule,
} from '../../src/domain/run.js';
import { omitUndefined } from '../../src/lib/omit-undefined.js';
import type { Jail } from '../../src/sandbox/jail/jail.js';
import { openJail } from '../../src/sandbox/jail/probe.js';
import type { RunReport, SandboxDelegate } from '../../src/sandbox/run-report.js';
import { Sandbox } from '../../src/sandbox/sandbox.js';
import type { PoolOptions } from '../../src/sandbox/workers/pool.js';

/** A real sandbox in the best jail this machine gives, with host calls answered by functions of the test. */

export const WORKER_FOLDER = fileURLToPath(new URL('../../dist/worker', import.meta.url));

export type HostFunction = (input: unknown, call: GuestCall, signal: AbortSignal) => unknown;

/** Thrown by a host function to make the call fail in the program. */
export class CallFailure extends Error {
  readonly errorClass: string;
  constructor(message: string, errorClass = 'ToolCallError') {
    super(message);
    this.errorClass = errorClass;
  }
}

/** Thrown by a host function to end the program. */
export class ProgramEnd extends Error {
  readonly failure: Failure;
  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

let engine: EngineChoice = 'quickjs';
/** For every sandbox that is opened from now on, by the tests of this file. */
export const useEngine = (choice: EngineChoice): void => {
  engine = choice;
};
export const testEngine = (): EngineChoice => engine;

let jail: Promise<Jail> | undefined;
/** Probing starts processes; one file does it once. */
export const testJail = (): Promise<Jail> => {
  jail ??= openJail();
  return jail;
};

export interface TestSandbox extends AsyncDisposable {
  readonly sandbox: Sandbox;
  readonly calls: GuestCall[];
  /** What else the machine has to do: 1 for nothing, with which hand-overs are tested unless a test says otherwise. */
  readonly machine: { runnable: number };
  program(source: string, options?: ProgramOptions): Program;
  run(source: string, options?: ProgramOptions): Promise<RunReport>;
  /** The value of a program that must come to its end. */
  value(source: string, options?: ProgramOptions): Promise<unknown>;
  handlers(options?: ProgramOptions): SandboxDelegate;
}

export interface ProgramOptions {
  readonly caller?: string;
  readonly limits?: Partial<Limits>;
  readonly functions?: Readonly<Record<string, HostFunction>>;
  readonly modules?: readonly VirtualModule[];
  readonly isBlocking?: boolean;
  readonly language?: SourceLanguage;
  readonly engine?: EngineChoice;
  /** A classic script; the functions are its globals. */
  readonly script?: { readonly input?: JsonObject };
}

export const CALLER = 'tester' as CallerId;

/** The functions as a module, `import { echo } from '@codemode/servers/test'`. */
export function moduleOf(
  functions: Readonly<Record<string, HostFunction>>,
  kind: 'call' | 'callSync' = 'call',
): VirtualModule {
  return {
    specifier: '@codemode/servers/test',
    exports: Object.keys(functions).map((name) => ({ kind, name, target: `test/${name}` })),
  };
}

export async function openSandbox(
  pool: Partial<PoolOptions> = {},
  sealKey = new Uint8Array(32).fill(7),
  jail?: Jail,
): Promise<TestSandbox> {
  const machine = { runnable: 1 };
  const sandbox = new Sandbox({
    jail: jail ?? (await testJail()),
    workerFolder: WORKER_FOLDER,
    pool: { min: 0, max: 4, idleMs: 30_000, maxQueued: 100, maxRunsPerWorker: 256, maxRunsInLife: 10_000, ...pool },
    sealKey,
    engine,
    runnable: () => machine.runnable,
  });
  const calls: GuestCall[] = [];
  const handlers = ({ functions = {} }: ProgramOptions = {}): SandboxDelegate => ({
    onCall: async (call, signal) => {
      calls.push(call);
      return answer(functions, call, signal);
    },
  });
  const program = (
    source: string,
    { limits, functions = {}, modules, isBlocking = false, script, language, engine }: ProgramOptions = {},
  ): Program => ({
    source,
    language: language ?? (script === undefined ? 'typescript' : 'javascript'),
    modules: modules ?? (script === undefined ? [moduleOf(functions, isBlocking ? 'callSync' : 'call')] : []),
    limits: { ...DEFAULT_LIMITS, ...limits },
    blocking: isBlocking,
    ...omitUndefined({ engine }),
    ...(script === undefined ? {} : { script: { input: script.input ?? {}, calls: Object.keys(functions) } }),
  });
  const run = async (source: string, options: ProgramOptions = {}) => {
    const caller = (options.caller ?? CALLER) as CallerId;
    const { report } = await sandbox.start({ caller, program: program(source, options) }, handlers(options));
    return report;
  };
  const value = async (source: string, options?: ProgramOptions) => {
    const { outcome } = await run(source, options);
    if (outcome.status === 'failed') throw new Error(`the program failed: ${JSON.stringify(outcome.failure)}`);
    return JSON.parse(outcome.resultJson) as unknown;
  };
  return { sandbox, calls, machine, program, run, value, handlers, [Symbol.asyncDispose]: () => sandbox.close() };
}

export async function answer(
  functions: Readonly<Record<string, HostFunction>>,
  call: GuestCall,
  signal: AbortSignal,
): Promise<CallReply> {
  const name = call.target.replace(/^test\//, '');
  try {
    const [input] = JSON.parse(call.argumentsJson) as unknown[];
    const result = await functions[name]?.(input, call, signal);
    return { ok: true, json: JSON.stringify(result ?? null) };
  } catch (error) {
    if (error instanceof ProgramEnd) return { ok: false, ends: error.failure };
    const errorClass = error instanceof CallFailure ? error.errorClass : 'ToolCallError';
    return {
      ok: false,
      error: {
        errorClass,
        message: error instanceof Error ? error.message : String(error),
        hint: 'Try something else.',
      },
    };
  }
}

/** Sets the result of a program: `result('1 + 1')`. */
export const result = (expression: string): string => `globalThis.__codemode_result__ = ${expression};`;
