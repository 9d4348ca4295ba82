import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { HostError } from '../../domain/errors.js';
import { MAX_SOURCE_BYTES } from '../../domain/limits.js';
import {
  DEFAULT_PROCESS_LIMITS,
  type PackageProgress,
  type ProcessHandlers,
  type ProcessLimits,
  type ProcessReport,
} from '../../domain/process-program.js';
import type { Failure, RunId } from '../../domain/run.js';
import type { StopSignal } from '../../domain/stop-signal.js';
import { deferred } from '../../lib/async/deferred.js';
import type { Jail } from '../jail/jail.js';
import { openSharedFolder } from '../jail/staging.js';
import { ProcessSlots, type ProcessSlotsOptions } from '../processes/process-slots.js';
import type { SharedSpec } from '../processes/process-spec.js';
import { ProgramRun } from '../processes/program-run.js';
import { type SpareOptions, Spares } from '../processes/spares.js';
import { loadRuntimeFiles, type RuntimeFiles } from '../runtime-files.js';
import { GoCompiler } from './compiler.js';
import { crashOf } from './crash.js';
import { GoPlace, prunePlaces } from './place.js';
import { ProgramCache } from './program-cache.js';
import { findGo, type GoSearch, type GoToolchain, type MissingGo } from './toolchain.js';

export interface GoRuntimeOptions extends GoSearch {
  readonly jail: Jail;
  /** Folder of the built worker. */
  readonly workerFolder: string;
  /** For compiled packages and programs. The users that jails run as must be able to read it. */
  readonly cacheFolder: string;
  readonly maxCacheBytes?: number;
  readonly turns?: Partial<ProcessSlotsOptions>;
  readonly spares?: Partial<SpareOptions>;
}

/** An agent's code, and the declarations that it is compiled with. */
export interface GoProgram {
  /** The body of `Run`, with imports at its top where it has any. */
  readonly source: string;
  /** The file that declares the tools, as `goFile` makes it. */
  readonly tools: string;
  readonly limits: ProcessLimits;
}

/** How a program ended, or why it was never started: then `report` is absent and nothing has run. */
export interface GoReport {
  readonly output: string;
  readonly failure: Failure | undefined;
  readonly isCached: boolean;
  readonly report: ProcessReport | undefined;
}

const DEFAULT_CACHE_BYTES = 256 * 1024 * 1024;
const DEFAULT_SPARES: SpareOptions = { perShape: 1, idleMs: 5 * 60_000 };
const DEFAULT_TURNS: ProcessSlotsOptions = { maxRunning: 8, maxRunningPerCaller: 4, maxQueued: 100 };

/** Programs in Go: compiled in one jail, run in another. Knows nothing of tools: the delegate of a run answers its calls. */
export class GoRuntime {
  readonly #jail: Jail;
  readonly #files: RuntimeFiles;
  readonly #toolchain: GoToolchain | MissingGo;
  readonly #compiler: GoCompiler | undefined;
  readonly #cache: ProgramCache;
  readonly #slots: ProcessSlots;
  readonly #places: Spares<SharedSpec, GoPlace>;
  readonly #runs = new Set<Promise<unknown>>();
  /** Equal programs that are wanted at the same time are compiled once. */
  readonly #compiling = new Map<string, Promise<string | Failure>>();
  readonly #closing = new AbortController();

  private constructor(options: GoRuntimeOptions, toolchain: GoToolchain | MissingGo) {
    this.#jail = options.jail;
    this.#files = loadRuntimeFiles(options.workerFolder);
    this.#toolchain = toolchain;
    const { cacheFolder, maxCacheBytes = DEFAULT_CACHE_BYTES } = options;
    this.#cache = new ProgramCache({ folder: join(cacheFolder, 'programs'), maxBytes: maxCacheBytes });
    this.#slots = new ProcessSlots({ ...DEFAULT_TURNS, ...options.turns });
    const folder = join(cacheFolder, 'places');
    prunePlaces(folder);
    this.#places = new Spares({ ...DEFAULT_SPARES, ...options.spares }, async (shape) => {
      const { starterPath } = this.#usable();
      return new GoPlace(shape, { jail: this.#jail, build: this.#files.build, starterPath, folder });
    });
    const { build, goFolder, goDigest } = this.#files;
    if (!('reason' in toolchain)) {
      this.#compiler = new GoCompiler({
        jail: this.#jail,
        toolchain,
        build,
        sources: goFolder,
        sourcesDigest: goDigest,
        folder: cacheFolder,
        closing: this.#closing.signal,
      });
    }
  }

  /** Looks for a toolchain. A missing one is not a failure: `available` says what to do about it. */
  static async open(options: GoRuntimeOptions): Promise<GoRuntime> {
    if (options.jail.level !== 'none' && process.getuid?.() === 0) openSharedFolder(options.cacheFolder);
    return new GoRuntime(options, await findGo(options));
  }

  available(): { readonly version: string; readonly path: string } | MissingGo {
    return this.#toolchain;
  }

  /**
   * Compiles the packages that most programs need, unless an earlier host has (half a minute for a new Go, once), and
   * makes a jail for the first program of these limits.
   */
  async warm(limits: ProcessLimits = DEFAULT_PROCESS_LIMITS): Promise<void> {
    await this.#usable().warm();
    await this.#places.warm(goShapeOf(limits));
  }

  /** Compiles all of the standard library: minutes of a processor, once. Otherwise the first to need a package waits. */
  async warmEverything(onProgress?: (progress: PackageProgress) => void): Promise<void> {
    await this.#usable().warmEverything(onProgress);
  }

  /** Packages of the standard library that are compiled, of all that programs may import. */
  progress(): PackageProgress {
    return this.#usable().progress();
  }

  /**
   * Compiles a program, or finds it compiled, and runs it. What becomes of it, and what the compiler says about it, is in
   * the report. Throws `bad_input`, `not_found` (no toolchain), `sandbox_busy`, `cancelled`, `worker_lost`.
   */
  async run(program: GoProgram, handlers: ProcessHandlers): Promise<GoReport> {
    this.#usable();
    checkSource(program.source);
    const giveBack = await this.#slots.take(handlers.caller, handlers.signal);
    try {
      const key = ProgramCache.keyOf(this.#usable().identity, program.tools, program.source);
      const cached = this.#cache.find(key);
      // Made while the program is compiled.
      if (cached === undefined) this.#makePlace(program.limits);
      const path = cached ?? (await untilAborted(this.#compile(key, program), handlers.signal));
      const isCached = cached !== undefined;
      if (typeof path !== 'string') return { output: '', failure: path, isCached, report: undefined };
      const report = await this.#start(path, program.limits, handlers);
      const { outcome } = report;
      const { maxMemoryBytes } = program.limits;
      const failure = outcome.status === 'failed' ? crashOf(report, outcome.failure, maxMemoryBytes) : undefined;
      return { output: report.stdout.text, failure, isCached, report };
    } finally {
      giveBack();
    }
  }

  /** Ends every program; their reports say that they were cancelled. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled([...this.#runs, ...this.#compiling.values(), this.#places.close()]);
  }

  #usable(): GoCompiler {
    if ('reason' in this.#toolchain || this.#compiler === undefined) {
      const { reason, fix } = this.#toolchain as MissingGo;
      throw new HostError('not_found', `Go is not available: ${reason}. ${fix}`);
    }
    return this.#compiler;
  }

  /** Where it fails, it fails again for who needs one, and is told to them. */
  #makePlace(limits: ProcessLimits): void {
    void this.#usable()
      .warm()
      .then(() => this.#places.warm(goShapeOf(limits)))
      .catch(() => {});
  }

  /** Not ended by one caller's departure: another may wait for the same program. It has a time limit of its own. */
  #compile(key: string, { source, tools }: GoProgram): Promise<string | Failure> {
    const known = this.#compiling.get(key);
    if (known !== undefined) return known;
    const compiling = this.#usable()
      .compile(source, tools)
      .then((result) => (Buffer.isBuffer(result) ? this.#cache.store(key, result) : result))
      .finally(() => this.#compiling.delete(key));
    this.#compiling.set(key, compiling);
    return compiling;
  }

  async #start(path: string, limits: ProcessLimits, handlers: ProcessHandlers): Promise<ProcessReport> {
    const place = await this.#places.take(goShapeOf(limits));
    const running = await place.start(path);
    const execution = handlers.execution ?? (randomUUID() as RunId);
    handlers.onStarted?.();
    const program = { source: '', files: new Map<string, string>(), limits };
    const gone = running.gone.then(() => void this.#runs.delete(gone));
    this.#runs.add(gone);
    return await new ProgramRun(running, program, { ...handlers, execution }, this.#closing.signal).begin();
  }
}

function goShapeOf({ maxMemoryBytes, maxProcesses }: ProcessLimits): SharedSpec {
  return { language: 'go', maxMemoryBytes, maxProcesses, maxDiskBytes: 0 };
}

/** Waits for the promise or the signal. On the signal it throws `cancelled`, and the work continues for other callers. */
async function untilAborted<T>(promise: Promise<T>, signal: StopSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  const aborted = deferred<never>();
  const abort = () => aborted.reject(new HostError('cancelled', 'the program was cancelled before it was started'));
  signal.addEventListener('abort', abort);
  if (signal.aborted) abort();
  promise.catch(() => {});
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

function checkSource(source: string): void {
  if (Buffer.byteLength(source) > MAX_SOURCE_BYTES)
    throw new HostError(
      'bad_input',
      `the program is larger than ${MAX_SOURCE_BYTES} bytes; pass data through tools, not through source`,
    );
  if (source.includes('\0')) throw new HostError('bad_input', 'the program contains a NUL character; remove it');
}
