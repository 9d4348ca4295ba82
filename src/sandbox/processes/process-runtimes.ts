import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { posix } from 'node:path';
import { HostError } from '../../domain/errors.js';
import { MAX_SOURCE_BYTES } from '../../domain/limits.js';
import {
  DEFAULT_PROCESS_LIMITS,
  PROCESS_LANGUAGES,
  type ProcessHandlers,
  type ProcessLanguage,
  type ProcessLimits,
  type ProcessProgram,
  type ProcessReport,
  type ProcessRuntimeStatus,
} from '../../domain/process-program.js';
import { CallerQuotas } from '../../domain/quotas.js';
import type { RunId } from '../../domain/run.js';
import type { Jail } from '../jail/jail.js';
import { loadRuntimeFiles, type RuntimeFiles } from '../runtime-files.js';
import { CallerAccount } from '../workers/caller-account.js';
import { findNode, findPython, type Interpreter, type MissingInterpreter } from './interpreter.js';
import { ProcessSlots, type ProcessSlotsOptions } from './process-slots.js';
import { jailedProgram, type ProcessSpec, processSpecOf } from './process-spec.js';
import { ProgramProcess } from './program-process.js';
import { ProgramRun } from './program-run.js';
import { type SpareOptions, Spares } from './spares.js';

export interface ProcessRuntimesOptions {
  readonly jail: Jail;
  /** Folder of the built worker. */
  readonly workerFolder: string;
  /** Interpreters that the configuration names; absent: the host's own Node, and the first suitable Python. */
  readonly nodePath?: string | undefined;
  readonly pythonPath?: string | undefined;
  /** Folders to search for Python, in the format of PATH. */
  readonly searchPath: string;
  readonly spares?: Partial<SpareOptions>;
  readonly turns?: Partial<ProcessSlotsOptions>;
  /** The quotas of each caller; absent: the defaults. */
  readonly quotas?: CallerQuotas;
}

const DEFAULT_SPARES: SpareOptions = { perShape: 1, idleMs: 5 * 60_000 };
const DEFAULT_TURNS: ProcessSlotsOptions = { maxRunning: 8, maxRunningPerCaller: 4, maxQueued: 100 };

/** The generated modules of any real server stay well below this. */
const MAX_FILES = 10_000;
const MAX_FILE_BYTES = 32 * 1024 * 1024;

/**
 * Programs on real interpreters: each has its own jailed process, started in advance and used once. Knows nothing of
 * tools: the delegate of a run answers its calls.
 */
export class ProcessRuntimes {
  readonly #jail: Jail;
  readonly #files: RuntimeFiles;
  readonly #found: ReadonlyMap<ProcessLanguage, Interpreter | MissingInterpreter>;
  readonly #spares: Spares<ProcessSpec, ProgramProcess>;
  readonly #slots: ProcessSlots;
  readonly #quotas: CallerQuotas;
  readonly #runs = new Set<Promise<unknown>>();
  readonly #closing = new AbortController();

  private constructor(options: ProcessRuntimesOptions, found: readonly (Interpreter | MissingInterpreter)[]) {
    this.#jail = options.jail;
    // Every program adds a listener; that is not a leak.
    setMaxListeners(0, this.#closing.signal);
    this.#files = loadRuntimeFiles(options.workerFolder);
    this.#found = new Map(found.map((each) => [each.language, each]));
    this.#spares = new Spares({ ...DEFAULT_SPARES, ...options.spares }, (shape) =>
      ProgramProcess.start(shape, {
        jail: this.#jail,
        build: this.#files.build,
        describe: (workspace) => jailedProgram(shape, this.#interpreter(shape.language), this.#files, workspace),
      }),
    );
    this.#slots = new ProcessSlots({ ...DEFAULT_TURNS, ...options.turns });
    this.#quotas = options.quotas ?? new CallerQuotas();
  }

  /** Looks for the interpreters. A missing one is not a failure: `available` says what to do about it. */
  static async open(options: ProcessRuntimesOptions): Promise<ProcessRuntimes> {
    const { searchPath, nodePath, pythonPath } = options;
    const found = await Promise.all([
      findNode({ configuredPath: nodePath }),
      findPython({ configuredPath: pythonPath, searchPath }),
    ]);
    return new ProcessRuntimes(options, found);
  }

  available(): readonly ProcessRuntimeStatus[] {
    return PROCESS_LANGUAGES.map((language) => {
      const found = this.#found.get(language) as Interpreter | MissingInterpreter;
      if ('reason' in found) return { language, isAvailable: false, reason: found.reason, fix: found.fix };
      return { language, isAvailable: true, version: found.version, path: found.path };
    });
  }

  /** Prepares processes with these limits, so that the next program does not wait for a start. */
  async warm(language: ProcessLanguage, limits: ProcessLimits = DEFAULT_PROCESS_LIMITS): Promise<void> {
    this.#interpreter(language);
    await this.#spares.warm(processSpecOf(language, limits));
  }

  /**
   * Runs a program to its end. Its outcome is in the report; each started program has exactly one. Throws `bad_input`, `not_found`
   * (no such interpreter), `sandbox_busy`, `cancelled` (before it started), `worker_lost` (no process could be started) and
   * `shutting_down`.
   */
  async run(program: ProcessProgram, handlers: ProcessHandlers): Promise<ProcessReport> {
    this.#interpreter(program.language);
    checkProgram(program);
    const giveBack = await this.#slots.take(handlers.caller, handlers.signal);
    let taken: ProgramProcess;
    try {
      taken = await this.#spares.take(processSpecOf(program.language, program.limits));
    } catch (error) {
      giveBack();
      throw error;
    }
    // Its slot stays taken until its process is gone, shortly after the report.
    const gone = taken.gone.then(() => {
      giveBack();
      this.#runs.delete(gone);
    });
    this.#runs.add(gone);
    const runId = handlers.runId ?? (randomUUID() as RunId);
    handlers.onStarted?.();
    const account = new CallerAccount(this.#quotas, handlers.caller);
    return new ProgramRun(taken, program, { ...handlers, runId }, this.#closing.signal, account).begin();
  }

  /** Ends every program; their reports say `cancelled`. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([this.#spares.close(), ...this.#runs]);
  }

  #interpreter(language: ProcessLanguage): Interpreter {
    const found = this.#found.get(language) as Interpreter | MissingInterpreter;
    if ('reason' in found)
      throw new HostError('not_found', `${language} is not available: ${found.reason}. ${found.fix}`);
    return found;
  }
}

function checkProgram({ source, files }: ProcessProgram): void {
  if (Buffer.byteLength(source) > MAX_SOURCE_BYTES)
    throw new HostError(
      'bad_input',
      `the program is larger than ${MAX_SOURCE_BYTES} bytes; pass data through tools, not through source`,
    );
  if (source.includes('\0')) throw new HostError('bad_input', 'the program contains a NUL character; remove it');
  let bytes = 0;
  for (const [path, text] of files) {
    bytes += text.length;
    const isPlain = path !== '' && posix.normalize(path) === path && !/^(\/|\.\.(\/|$))|\/$|\0/.test(path);
    if (!isPlain) throw new HostError('internal', `${JSON.stringify(path)} cannot be a file of the workspace`);
  }
  if (files.size > MAX_FILES || bytes > MAX_FILE_BYTES)
    throw new HostError('internal', `the workspace has more than ${MAX_FILES} files or ${MAX_FILE_BYTES} bytes`);
}
