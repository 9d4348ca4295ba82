import {
  DEFAULT_PROCESS_LIMITS,
  type ProcessHandlers,
  type ProcessLanguage,
  type ProcessLimits,
  type ProcessReport,
} from '../../src/domain/process-program.js';
import type { CallerId, GuestCall } from '../../src/domain/run.js';
import type { Jail } from '../../src/sandbox/jail/jail.js';
import { ProcessRuntimes, type ProcessRuntimesOptions } from '../../src/sandbox/processes/process-runtimes.js';
import { answer, CALLER, type HostFunction, testJail, WORKER_FOLDER } from './sandbox.js';

/** Real interpreters in the best jail this machine gives, with tool calls answered by functions of the test. */
export interface TestRuntimes extends AsyncDisposable {
  readonly runtimes: ProcessRuntimes;
  /** Every call that reached the host. */
  readonly calls: GuestCall[];
  run(language: ProcessLanguage, source: string, options?: RunOptions): Promise<ProcessReport>;
  /** The result of a program that must come to its end. */
  value(language: ProcessLanguage, source: string, options?: RunOptions): Promise<unknown>;
}

export interface RunOptions {
  readonly caller?: string;
  readonly limits?: Partial<ProcessLimits>;
  readonly files?: Readonly<Record<string, string>>;
  /** By their names: tools of the server `test`. */
  readonly functions?: Readonly<Record<string, HostFunction>>;
  readonly handlers?: Partial<ProcessHandlers>;
}

export async function openRuntimes(options: Partial<ProcessRuntimesOptions> = {}, jail?: Jail): Promise<TestRuntimes> {
  const runtimes = await ProcessRuntimes.open({
    jail: jail ?? (await testJail()),
    workerFolder: WORKER_FOLDER,
    searchPath: '/usr/local/bin:/usr/bin:/bin',
    ...options,
  });
  const calls: GuestCall[] = [];
  const run = (language: ProcessLanguage, source: string, { functions = {}, ...rest }: RunOptions = {}) =>
    runtimes.run(
      {
        language,
        source,
        files: new Map(Object.entries(rest.files ?? {})),
        limits: { ...DEFAULT_PROCESS_LIMITS, ...rest.limits },
      },
      {
        caller: (rest.caller ?? CALLER) as CallerId,
        onCall: async (call, signal) => {
          calls.push(call);
          return answer(functions, call, signal);
        },
        ...rest.handlers,
      },
    );
  const value = async (language: ProcessLanguage, source: string, options?: RunOptions) => {
    const { outcome, stderr } = await run(language, source, options);
    if (outcome.status === 'failed')
      throw new Error(`the program failed: ${JSON.stringify(outcome.failure)}\n${stderr.text}`);
    return JSON.parse(outcome.resultJson) as unknown;
  };
  return { runtimes, calls, run, value, [Symbol.asyncDispose]: () => runtimes.close() };
}
