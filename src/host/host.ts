import type { Approvals } from '../broker/approvals/approvals.js';
import { toolDigestOf } from '../broker/approvals/identity.js';
import type { CallerId, Failure, SourceLanguage } from '../domain/execution.js';
import type { IsolationLevel } from '../domain/isolation.js';
import type { ProcessLimits } from '../domain/process-program.js';
import type { CallerQuotas } from '../domain/quotas.js';
import type { Tracer } from '../domain/trace.js';
import type { UpstreamHealth } from '../domain/upstream.js';
import type { Sandbox } from '../sandbox/sandbox.js';
import type { AskPerson } from './execution.js';
import { warmGo } from './go-warming.js';
import { LiveRuns } from './live-runs.js';
import { replayProcess } from './process-replay.js';
import { programRunner } from './program-runner.js';
import type { AnyRecording } from './recording.js';
import { compareLive, type LiveComparison, type ReplayVerdict, replay } from './replay.js';
import type { AskingWays } from './run.js';
import { Session, type SessionOptions, type SessionParts } from './session.js';
import type { RunView, WokenRun } from './sleeping-runs.js';
import type { ScriptLibrary } from './stored-scripts.js';
import { findSyntaxError } from './syntax-check.js';
import type { Telemetry } from './telemetry.js';

export type { Approvals } from '../broker/approvals/approvals.js';
export type { LiveComparison, ReplayVerdict } from './replay.js';
export type { RunView, SleepingRuns } from './sleeping-runs.js';
export type { ScriptLibrary } from './stored-scripts.js';

/** How programs are cut off from the machine, seen to hold. */
export interface Isolation {
  readonly level: IsolationLevel;
  readonly description: string;
}

export interface HostParts extends Omit<SessionParts, 'live'> {
  /** What callers have of what is finite. */
  readonly quotas: CallerQuotas;
  /** What outlives the program; closed with it. */
  readonly records: { readonly approvals: Approvals; close(): Promise<void> };
  /** How a caller is served whose run goes on without a client. */
  readonly sessionOptionsOf: (caller: CallerId, profile: string) => SessionOptions;
  /** Where programs on real interpreters are served: processes of these limits are started ahead of need. */
  readonly processLimits?: ProcessLimits;
  /** Where programs in Go are served: packages that are compiled ahead of need, as far as nobody has done it yet. */
  readonly goPackages?: 'common' | 'all';
  /** Ends what hands over traces: the last thing that is closed. */
  readonly closeTraces?: () => Promise<void>;
}

/** What we do for callers. Owns everything that was opened for them, and closes it. */
export class Host {
  readonly #parts: HostParts & SessionParts;

  constructor(parts: HostParts) {
    this.#parts = { ...parts, live: new LiveRuns(parts.quotas) };
  }

  /** Tries the jail out, if nobody has yet. No program runs before that has gone well. Throws `jail_unavailable`. */
  async open(): Promise<Isolation> {
    const { sandbox } = await this.#parts.runtime.open();
    const { level, description } = sandbox.jail;
    return { level, description };
  }

  openSession(options: SessionOptions): Session {
    return new Session(this.#parts, options);
  }

  /** Starts processes ahead of the first program, and asks every server for its tools. `say`: what takes long. */
  async warm(say: (message: string) => void = () => {}): Promise<void> {
    const { sandbox, audit } = await this.#parts.runtime.open();
    this.watch();
    await Promise.all([this.#warmPrograms(sandbox, say), this.#parts.catalog.refreshAll(), audit?.refusal()]);
  }

  #warmPrograms(sandbox: Sandbox, say: (message: string) => void): Promise<void> {
    if (this.#parts.goPackages !== undefined) return this.#warmGo(this.#parts.goPackages, say);
    return this.#parts.processLimits === undefined ? sandbox.pool.warm() : this.#warmProcesses();
  }

  /** What goes wrong here goes wrong again for who runs a program, and is told to them. */
  async #warmGo(packages: 'common' | 'all', say: (message: string) => void): Promise<void> {
    const { go } = await this.#parts.runtime.open();
    const runtime = await go().catch(() => undefined);
    if (runtime !== undefined) await warmGo(runtime, packages, say).catch(() => {});
  }

  async #warmProcesses(): Promise<void> {
    const { processes } = await this.#parts.runtime.open();
    const runtimes = await processes();
    const there = runtimes.available().filter(({ isAvailable }) => isAvailable);
    // One that cannot be started is told to whoever runs a program.
    const warmed = there.map(({ language }) => runtimes.warm(language, this.#parts.processLimits).catch(() => {}));
    await Promise.all(warmed);
  }

  /** Asks every server for its tools now. */
  async refresh(): Promise<void> {
    await this.#parts.catalog.refreshAll();
  }

  /** Says when a server's tools have changed. Returns the function that stops it. */
  onToolsChanged(listener: () => void): () => void {
    return this.#parts.catalog.onChange(listener);
  }

  health(): UpstreamHealth[] {
    return this.#parts.catalog.health();
  }

  /** After every server that is connected was asked whether it is still there: takes seconds where one is not. */
  checkedHealth(): Promise<UpstreamHealth[]> {
    return this.#parts.catalog.checkedHealth();
  }

  /** What happens, for whoever counts it. */
  get telemetry(): Telemetry {
    return this.#parts.telemetry;
  }

  /** What callers have of what is finite. */
  get quotas(): CallerQuotas {
    return this.#parts.quotas;
  }

  /** Begins the steps of traces; absent where nobody wants any. */
  get tracer(): Tracer | undefined {
    return this.#parts.tracer;
  }

  /** The same as `load`, at once: nothing is opened for it. */
  loadNow(): Sandbox['pool']['figures'] | undefined {
    return this.#parts.runtime.opened?.sandbox.pool.figures;
  }

  /** Processes that run programs, and programs that wait for one: now, and since the start. */
  async load(): Promise<Sandbox['pool']['figures']> {
    return (await this.#parts.runtime.open()).sandbox.pool.figures;
  }

  /** Questions to people, and their answers. */
  get approvals(): Approvals {
    return this.#parts.records.approvals;
  }

  /** The programs that people have stored. */
  get scripts(): ScriptLibrary {
    return this.#parts.scripts;
  }

  /** What keeps a program from being read, if anything does. Nothing of it runs. */
  async findSyntaxError(source: string, language: SourceLanguage): Promise<Failure | undefined> {
    const { sandbox } = await this.#parts.runtime.open();
    return findSyntaxError(sandbox, source, language);
  }

  /** Goes on with runs that sleep as soon as a person has decided, whichever process they slept in. */
  watch(): void {
    this.#parts.sleeping.watch((run) => this.#wake(run));
  }

  /** Runs of one caller that sleep or have ended, the newest first. */
  listRuns(caller: CallerId, limit: number): Promise<RunView[]> {
    return this.#parts.sleeping.list(limit, caller);
  }

  /** Ends a run that sleeps, or that was woken here. Throws `not_found`, and `conflict` where it is over. */
  cancelRun(runId: string): Promise<RunView> {
    return this.#parts.sleeping.cancel(runId);
  }

  /** How a run that sleeps or has ended stands. Throws `not_found`. */
  showRun(runId: string): Promise<RunView> {
    return this.#parts.sleeping.show(runId);
  }

  /** The same, for a client that is asked with the answer, and does not mind that another part of the program was faster. */
  resumeOrFollow(runId: string, signal: AbortSignal): Promise<RunView> {
    return this.#parts.sleeping.resumeOrFollow(runId, (run) => this.#wake(run, { suspendsToAsk: true }), signal);
  }

  /** Resumes one of them now. `askPerson`: who is asked about calls that it makes from here on. */
  resume(runId: string, askPerson?: AskPerson): Promise<RunView> {
    return this.#parts.sleeping.resume(runId, (run) => this.#wake(run, askPerson === undefined ? {} : { askPerson }));
  }

  /** Runs a recorded program again, offline. */
  async replay(recording: AnyRecording): Promise<ReplayVerdict> {
    const runtime = await this.#parts.runtime.open();
    const { sandbox, redactor } = runtime;
    if ('program' in recording)
      return replayProcess(await programRunner(recording.program.language, runtime), recording, redactor);
    return replay(sandbox, recording, redactor);
  }

  /** Makes the calls of read-only tools that were recorded, again, as this caller, and says what has changed since. */
  async compareLive(
    recording: AnyRecording,
    { caller, profile }: { readonly caller: CallerId; readonly profile: string },
  ): Promise<LiveComparison[]> {
    if ('program' in recording) return [];
    const { broker } = await this.#parts.runtime.open();
    const { servers } = this.#parts.catalog.snapshot();
    const used = servers.filter(({ path }) => recording.calls.some(({ target }) => target.startsWith(`${path}/`)));
    const snapshot = await this.#parts.catalog.prepare(used.map(({ path }) => path));
    const { presentation } = this.#parts.sessionOptionsOf(caller, profile);
    const digestOf = (target: string) => {
      const tool = snapshot.toolByTarget.get(target)?.tool;
      return tool === undefined ? undefined : toolDigestOf(tool);
    };
    return compareLive(recording, { broker, snapshot, presentation, digestOf, caller, profile });
  }

  async #wake(run: WokenRun, asking?: AskingWays): Promise<void> {
    await this.openSession(this.#parts.sessionOptionsOf(run.caller, run.profile)).wake(run, asking);
  }

  /**
   * Lets runs come to their end for so long at most, those too whose clients have been answered already. Those that wait
   * for a person are put away at once, and go on in whichever process comes next.
   */
  drain(graceMs: number): Promise<void> {
    return this.#parts.live.drain(graceMs);
  }

  async close(): Promise<void> {
    const { runtime, catalog, observed, records, closeTraces } = this.#parts;
    await Promise.all([runtime.close(), catalog.close(), observed?.close()]);
    await Promise.all([records.close(), closeTraces?.()]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
