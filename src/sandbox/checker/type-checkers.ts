import type { CallerId } from '../../domain/run.js';
import type { CompilerDiagnostic } from '../../domain/type-check.js';
import type { Jail } from '../jail/jail.js';
import { type CheckerLimits, CheckerProcess } from './checker-process.js';
import { isCompiler, type MissingCompiler, type TypeScriptCompiler } from './compiler.js';
import type { CheckedFiles } from './project-files.js';
import { SelfFolder } from './self-folder.js';

export interface TypeCheckersOptions {
  readonly jail: Jail;
  readonly compiler: TypeScriptCompiler | MissingCompiler;
  readonly limits?: Partial<CheckerLimits>;
}

/** Why a program could not be checked. It implies nothing about the program. */
export class NotChecked extends Error {
  /** The checker was available and failed: worth reporting to the user who runs the program. */
  readonly isFailure: boolean;

  constructor(reason: string, isFailure: boolean) {
    super(reason);
    this.isFailure = isFailure;
  }
}

interface Resident {
  readonly process: Promise<CheckerProcess>;
  readonly startedMs: number;
  lastUsed: number;
  /** Closed to make room or because it was idle: not a failure of its caller. */
  isGivenUp?: true;
  idle?: NodeJS.Timeout;
}

/** Callers that may have their own checker at the same time. Each takes about 100 MB. */
const MAX_RESIDENT = 3;
/** Open checks of one caller. A client that sends more gets no verdict for the excess. */
const MAX_OPEN = 16;
/**
 * A checker stays at least this long, even if other callers want one: a start costs as much as hundreds of checks, and callers
 * must not make each other pay.
 */
const STAYS_MS = 30_000;
/** An idle checker is closed after this time, to free its memory. */
const IDLE_MS = 10 * 60_000;
/** A caller whose programs killed the checker this often gets none for `PAUSE_MS`. */
const MAX_FAILURES = 3;
const PAUSE_MS = 10 * 60_000;

/** The type checkers of a host: one process per caller, so no caller's program reaches another caller's process. */
export class TypeCheckers {
  readonly #options: TypeCheckersOptions;
  readonly #resident = new Map<CallerId, Resident>();
  /** Checks in progress or queued. */
  readonly #open = new Map<CallerId, number>();
  readonly #failures = new Map<CallerId, { count: number; lastMs: number }>();
  #self: SelfFolder | undefined;
  #uses = 0;
  #isClosed = false;

  constructor(options: TypeCheckersOptions) {
    this.#options = options;
  }

  /** Why nothing can be checked here, and the command to type; undefined if there is a compiler. */
  get missing(): MissingCompiler | undefined {
    const { compiler } = this.#options;
    return isCompiler(compiler) ? undefined : compiler;
  }

  /** The compiler's diagnostics for a program. Throws `NotChecked`. */
  async check(caller: CallerId, source: string, files: CheckedFiles): Promise<readonly CompilerDiagnostic[]> {
    const open = this.#open.get(caller) ?? 0;
    if (open >= MAX_OPEN) throw new NotChecked('too many programs of this caller are checked at once', false);
    this.#open.set(caller, open + 1);
    try {
      return await this.#check(caller, source, files);
    } finally {
      const left = (this.#open.get(caller) ?? 1) - 1;
      if (left === 0) this.#open.delete(caller);
      else this.#open.set(caller, left);
    }
  }

  async #check(caller: CallerId, source: string, files: CheckedFiles): Promise<readonly CompilerDiagnostic[]> {
    const process = await this.#processOf(caller);
    const resident = this.#resident.get(caller);
    this.#closeWhenIdle(caller);
    try {
      return await process.check(source, files);
    } catch (error) {
      if (resident?.isGivenUp !== true) this.#failed(caller);
      throw new NotChecked(`the type checker was stopped: ${wordsOf(error)}`, true);
    }
  }

  /** Starts the caller's checker ahead of its first program. Never rejects. */
  async warm(caller: CallerId): Promise<void> {
    await this.#processOf(caller).then(
      () => this.#closeWhenIdle(caller),
      () => {},
    );
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const all = [...this.#resident.values()];
    this.#resident.clear();
    await Promise.all(all.map((each) => closed(each)));
    this.#self?.remove();
  }

  async #processOf(caller: CallerId): Promise<CheckerProcess> {
    const { compiler, jail, limits } = this.#options;
    if (!isCompiler(compiler)) throw new NotChecked(compiler.reason, false);
    if (this.#isClosed) throw new NotChecked('the host is closing', false);
    if (this.#isPaused(caller))
      throw new NotChecked('programs of this caller stopped the type checker too often', false);
    const known = this.#resident.get(caller);
    if (known !== undefined) {
      known.lastUsed = this.#uses++;
      const process = await this.#started(caller, known);
      if (process.isUsable) return process;
      if (this.#resident.get(caller) === known) this.#resident.delete(caller);
      void process.close();
      return this.#processOf(caller);
    }
    if (!this.#makeRoom()) throw new NotChecked('other callers use all type checkers', false);
    this.#self ??= new SelfFolder();
    const process = CheckerProcess.start({ jail, compiler, selfFolder: this.#self.path, ...(limits && { limits }) });
    const resident: Resident = { process, startedMs: Date.now(), lastUsed: this.#uses++ };
    this.#resident.set(caller, resident);
    return this.#started(caller, resident);
  }

  async #started(caller: CallerId, resident: Resident): Promise<CheckerProcess> {
    try {
      return await resident.process;
    } catch (error) {
      if (this.#resident.get(caller) === resident) {
        this.#resident.delete(caller);
        this.#failed(caller);
      }
      throw new NotChecked(`the type checker could not be started: ${wordsOf(error)}`, true);
    }
  }

  #closeWhenIdle(caller: CallerId): void {
    const resident = this.#resident.get(caller);
    if (resident === undefined) return;
    clearTimeout(resident.idle);
    resident.idle = setTimeout(() => {
      if (this.#resident.get(caller) === resident) this.#resident.delete(caller);
      void closed(resident);
    }, IDLE_MS);
    resident.idle.unref();
  }

  /** Closes the least recently used checker that is idle and has stayed for `STAYS_MS`. */
  #makeRoom(): boolean {
    if (this.#resident.size < MAX_RESIDENT) return true;
    const [oldest] = [...this.#resident]
      .filter(([caller, { startedMs }]) => !this.#open.has(caller) && Date.now() - startedMs >= STAYS_MS)
      .sort(([, a], [, b]) => a.lastUsed - b.lastUsed);
    if (oldest === undefined) return false;
    this.#resident.delete(oldest[0]);
    void closed(oldest[1]);
    return true;
  }

  #failed(caller: CallerId): void {
    const before = this.#failures.get(caller)?.count ?? 0;
    this.#failures.delete(caller);
    this.#failures.set(caller, { count: before + 1, lastMs: Date.now() });
    const [first] = this.#failures.keys();
    if (this.#failures.size > MAX_REMEMBERED && first !== undefined) this.#failures.delete(first);
  }

  #isPaused(caller: CallerId): boolean {
    const failures = this.#failures.get(caller);
    if (failures === undefined || failures.count < MAX_FAILURES) return false;
    if (Date.now() - failures.lastMs < PAUSE_MS) return true;
    this.#failures.delete(caller);
    return false;
  }
}

const MAX_REMEMBERED = 1_000;

async function closed(resident: Resident): Promise<void> {
  const { process, idle } = resident;
  resident.isGivenUp = true;
  clearTimeout(idle);
  const started = await process.catch(() => undefined);
  await started?.close();
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
