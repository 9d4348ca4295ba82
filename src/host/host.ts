import type { Approvals } from '../broker/approvals/approvals.js';
import { toolDigestOf } from '../broker/approvals/identity.js';
import type { CatalogSnapshot } from '../catalog/snapshot.js';
import { HostError } from '../domain/errors.js';
import type { IsolationLevel } from '../domain/isolation.js';
import type { Log } from '../domain/log.js';
import type { ProcessLimits } from '../domain/process-program.js';
import type { CallerQuotas } from '../domain/quotas.js';
import type { CallerId, Failure, SourceLanguage } from '../domain/run.js';
import type { Tracer } from '../domain/trace.js';
import type { UndoRule } from '../domain/undo.js';
import type { UpstreamHealth } from '../domain/upstream.js';
import { omitUndefined } from '../lib/omit-undefined.js';
import type { Sandbox } from '../sandbox/sandbox.js';
import type { PresentRun } from '../store/presence.js';
import type { UndoStore } from '../store/undo.js';
import { CallerTurns } from './calls/caller-turns.js';
import type { Presence, SeenClient } from './presence.js';
import { warmGo } from './processes/warm-go.js';
import { replayProcess } from './recordings/process-replay.js';
import type { AnyRecording } from './recordings/recording.js';
import { compareLive, type LiveComparison, type ReplayReport, replay } from './recordings/replay.js';
import { type ReplayBounds, withinBounds } from './recordings/replay-bounds.js';
import { type TracedRecording, traceRecorded } from './recordings/trace-recorded.js';
import { LiveRuns } from './runs/live-runs.js';
import { programRunner } from './runs/program-runner.js';
import { boundsOf } from './runs/restore-context.js';
import type { ResumedRun } from './runs/resumed-run.js';
import type { AskPerson, RunClient } from './runs/run-client.js';
import type { RunView } from './runs/run-view.js';
import { findSyntaxError } from './runs/syntax-check.js';
import type { ScriptLibrary } from './scripts/stored-scripts.js';
import { Session, type SessionOptions, type SessionParts } from './session.js';
import type { Telemetry } from './telemetry.js';
import { ledgerOf, recordedAnswers } from './undo/recorded-answers.js';
import { planUndo, type UndoStep } from './undo/undo-plan.js';
import { type UndoneStep, undoSteps } from './undo/undo-run.js';

export type { Approvals } from '../broker/approvals/approvals.js';
export type { PresentRun } from '../store/presence.js';
export type { LiveComparison, ReplayReport } from './recordings/replay.js';
export type { RunView } from './runs/run-view.js';
export type { SuspendedRuns } from './runs/suspended-runs.js';
export type { ScriptLibrary } from './scripts/stored-scripts.js';

/** How programs are isolated from the machine, as verified by the probe. */
export interface Isolation {
  readonly level: IsolationLevel;
  readonly description: string;
}

export interface HostParts extends Omit<SessionParts, 'live' | 'turns'> {
  /** Tells the other hosts of the state folder what this host does. */
  readonly presence?: Presence;
  /** What each caller uses of its quotas. */
  readonly quotas: CallerQuotas;
  /** The records that outlive the process. They are closed with the host. */
  readonly records: { readonly approvals: Approvals; close(): Promise<void> };
  /** The session options of a run that continues without a client. */
  readonly sessionOptionsOf: (caller: CallerId, profile: string) => SessionOptions;
  /** Present if programs on real interpreters are served: processes with these limits are started in advance. */
  readonly processLimits?: ProcessLimits;
  /** If the profile runs Go: which packages are compiled in advance, unless they are cached already. */
  readonly goPackages?: 'common' | 'all';
  /** The undo rules, and the store of undone calls. */
  readonly undo: { readonly rules: readonly UndoRule[]; readonly store: () => Promise<UndoStore> };
  /** The limits for replayed programs. */
  readonly replayBounds: ReplayBounds;
  /** Stops the trace exporter. It is closed last. */
  readonly closeTraces?: () => Promise<void>;
}

/** The undoable steps of a run, and the function that performs them. */
export interface PlannedUndo {
  readonly steps: readonly UndoStep[];
  undo(options: {
    readonly askPerson?: AskPerson | undefined;
    readonly signal: AbortSignal;
    readonly onStep?: (done: UndoneStep) => void;
    /** Calls that are left as they are. */
    readonly skipped?: ReadonlySet<number>;
  }): Promise<readonly UndoneStep[]>;
}

/** Runs programs for callers. Owns everything that was opened for them, and closes it. */
export class Host {
  readonly #parts: HostParts & SessionParts;

  constructor(parts: HostParts) {
    this.#parts = { ...parts, turns: new CallerTurns(), live: new LiveRuns(parts.quotas, parts.presence) };
  }

  /** Probes the jail once. No program runs before the probe has succeeded. Throws `jail_unavailable`. */
  async open(): Promise<Isolation> {
    const { sandbox } = await this.#parts.runtime.open();
    const { level, description } = sandbox.jail;
    return { level, description };
  }

  openSession(options: SessionOptions): Session {
    return new Session(this.#parts, options);
  }

  /** Opens a session for the same client under another contract, with the same bounds. */
  openSessionLike({ caller, bounds }: Session, profile: string): Session {
    const options = this.#parts.sessionOptionsOf(caller, profile);
    return this.openSession({ ...options, ...omitUndefined({ bounds }) });
  }

  /**
   * Starts processes before the first program needs them, and asks every server for its tools. `log` reports slow steps and failed
   * servers.
   */
  async warm(log: Log = () => {}): Promise<void> {
    const { sandbox, audit } = await this.#parts.runtime.open();
    this.watch();
    const programs = this.#warmPrograms(sandbox, (message) => log(message, 'info'));
    await Promise.all([
      programs,
      this.#parts.catalog.refreshAll((id) => this.#tellOfFailed(id, log)),
      audit?.refusal(),
    ]);
  }

  #tellOfFailed(id: string, log: Log): void {
    const failed = this.health().find((each) => each.id === id && each.state === 'failed');
    if (failed === undefined) return;
    const why = failed.reason ?? 'it could not be connected';
    log(`server ${JSON.stringify(id)}: ${why}; what to do about it: codemode servers`, 'warn');
  }

  #warmPrograms(sandbox: Sandbox, say: (message: string) => void): Promise<void> {
    if (this.#parts.goPackages !== undefined) return this.#warmGo(this.#parts.goPackages, say);
    return this.#parts.processLimits === undefined ? sandbox.pool.warm() : this.#warmProcesses();
  }

  /** Failures are ignored here: the run that needs Go meets them again and reports them. */
  async #warmGo(packages: 'common' | 'all', say: (message: string) => void): Promise<void> {
    const { go } = await this.#parts.runtime.open();
    const runtime = await go().catch(() => undefined);
    if (runtime !== undefined) await warmGo(runtime, packages, say).catch(() => {});
  }

  async #warmProcesses(): Promise<void> {
    const { processes } = await this.#parts.runtime.open();
    const runtimes = await processes();
    const there = runtimes.available().filter(({ isAvailable }) => isAvailable);
    // Failures are ignored here: the run that needs the interpreter meets them again and reports them.
    const warmed = there.map(({ language }) => runtimes.warm(language, this.#parts.processLimits).catch(() => {}));
    await Promise.all(warmed);
  }

  /** Asks every server for its tools now, or only the server with this id. */
  async refresh(id?: string): Promise<void> {
    const { catalog } = this.#parts;
    await (id === undefined ? catalog.refreshAll() : catalog.refresh(id));
  }

  /** The current tools of all servers. */
  snapshot(): CatalogSnapshot {
    return this.#parts.catalog.snapshot();
  }

  /** Calls the listener when a server's tools change. Returns the function that unsubscribes. */
  onToolsChanged(listener: () => void): () => void {
    return this.#parts.catalog.onChange(listener);
  }

  health(): UpstreamHealth[] {
    return this.#parts.catalog.health();
  }

  /** Health after every connected server was pinged. Takes seconds if a server does not respond. */
  checkedHealth(): Promise<UpstreamHealth[]> {
    return this.#parts.catalog.checkedHealth();
  }

  /** The events that metrics count. */
  get telemetry(): Telemetry {
    return this.#parts.telemetry;
  }

  /** What each caller uses of its quotas. */
  get quotas(): CallerQuotas {
    return this.#parts.quotas;
  }

  /** Starts spans; absent if tracing is off. */
  get tracer(): Tracer | undefined {
    return this.#parts.tracer;
  }

  /** The same as `load`, without opening the sandbox. */
  loadNow(): Sandbox['figures'] | undefined {
    return this.#parts.runtime.opened?.sandbox.figures;
  }

  /** Worker processes, and programs that wait for one: now, and since the start. */
  async load(): Promise<Sandbox['figures']> {
    return (await this.#parts.runtime.open()).sandbox.figures;
  }

  /** Approvals and their decisions. */
  get approvals(): Approvals {
    return this.#parts.records.approvals;
  }

  /** The programs that people have stored. */
  get scripts(): ScriptLibrary {
    return this.#parts.scripts;
  }

  /** The syntax error of a program, if it has one. Nothing is executed. */
  async findSyntaxError(source: string, language: SourceLanguage): Promise<Failure | undefined> {
    const { sandbox } = await this.#parts.runtime.open();
    return findSyntaxError(sandbox, source, language);
  }

  /** Describes whether programs are type-checked. */
  async typeChecking(): Promise<string> {
    const { types } = await this.#parts.runtime.open();
    if (types === undefined) return 'programs are not checked before they run (check.types: off)';
    const { missing } = types;
    if (missing === undefined) return 'programs are checked before their first call';
    return `programs are not checked before they run: ${missing.reason}. ${missing.fix}`;
  }

  /** Resumes suspended runs as soon as a person has decided, whichever process suspended them. */
  watch(): void {
    this.#parts.suspended.watch((run) => this.#resume(run));
  }

  /** Suspended and ended runs of one caller, newest first. */
  listRuns(caller: CallerId, limit: number): Promise<RunView[]> {
    return this.#parts.suspended.list(limit, caller);
  }

  /** A client has introduced itself. */
  clientSeen(client: SeenClient): void {
    this.#parts.presence?.clientSeen(client);
  }

  /** In-flight runs of this process. */
  get live(): LiveRuns {
    return this.#parts.live;
  }

  /** In-flight runs of one caller on other hosts of the store. */
  async runsElsewhere(caller: CallerId): Promise<readonly PresentRun[]> {
    return (await this.#parts.presence?.elsewhere(caller)) ?? [];
  }

  async runElsewhere(runId: string): Promise<PresentRun | undefined> {
    return this.#parts.presence?.find(runId);
  }

  /** Asks the host that holds the run to cancel it. */
  async cancelElsewhere(runId: string): Promise<void> {
    await this.#parts.presence?.askToCancel(runId);
  }

  /** Cancels a run that is suspended or was resumed. Throws `not_found`, and `conflict` if it has ended. */
  cancelRun(runId: string): Promise<RunView> {
    return this.#parts.suspended.cancel(runId);
  }

  /** The state of a run that is suspended or has ended. Throws `not_found`. */
  runState(runId: string): Promise<RunView['state']> {
    return this.#parts.suspended.stateOf(runId);
  }

  /** A run that is suspended or has ended. Throws `not_found`. */
  showRun(runId: string): Promise<RunView> {
    return this.#parts.suspended.show(runId);
  }

  /** The same for a client that is asked in the response. If another process resumes the run first, follows it instead. */
  resumeOrFollow(runId: string, signal: AbortSignal): Promise<RunView> {
    return this.#parts.suspended.resumeOrFollow(runId, (run) => this.#resume(run, { suspendsToAsk: true }), signal);
  }

  /** Resumes a suspended run now. `askPerson` asks a person about the calls that it makes from here on. */
  resume(runId: string, askPerson?: AskPerson): Promise<RunView> {
    return this.#parts.suspended.resume(runId, (run) => this.#resume(run, omitUndefined({ askPerson })));
  }

  /** Replays a recorded program offline. */
  async replay(recorded: AnyRecording): Promise<ReplayReport> {
    const recording = withinBounds(recorded, this.#parts.replayBounds);
    const runtime = await this.#parts.runtime.open();
    const { sandbox, redactor } = runtime;
    if ('program' in recording)
      return replayProcess(await programRunner(recording.program.language, runtime), recording, redactor);
    return replay(sandbox, recording, redactor);
  }

  /** The lines of the calls and all logs of a recorded program, found by replaying it offline. */
  async traceRecorded(recorded: AnyRecording): Promise<TracedRecording> {
    const recording = withinBounds(recorded, this.#parts.replayBounds);
    if ('program' in recording) return { logs: [], lines: [] };
    const { sandbox, redactor } = await this.#parts.runtime.open();
    return traceRecorded(sandbox, recording, redactor);
  }

  /** Repeats the recorded calls of read-only tools as this caller, and reports what has changed since. */
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

  /**
   * The undoable steps of an ended run of these callers, last call first, and the function that performs them. Throws `not_found`,
   * also for runs of other callers.
   */
  async planUndo(runId: string, callers: readonly CallerId[]): Promise<PlannedUndo> {
    const { suspended, catalog, gate, undo, runtime, patienceMs } = this.#parts;
    const run = await suspended.show(runId);
    const recording = callers.some((each) => each === run.caller) ? await suspended.recordingOf(runId) : undefined;
    // The recording is sealed with its caller. The row that led to it is not.
    if (recording === undefined || recording.caller !== run.caller)
      throw new HostError('not_found', `run ${runId} belongs to ${run.caller}; a caller can undo only its own runs`);
    const answers = recordedAnswers(recording);
    const names = new Set(answers.map(({ server }) => server));
    const paths = catalog.snapshot().servers.filter(({ path, id }) => names.has(path) || names.has(id));
    const snapshot = await catalog.prepare(paths.map(({ path }) => path));
    const store = await undo.store();
    const states = await store.statesOf(runId);
    const steps = planUndo(answers, { rules: undo.rules, snapshot, states });
    const { profile } = run;
    const ledger = ledgerOf(recording, answers, snapshot, gate);
    const owner = { runId, caller: recording.caller as CallerId, profile, ledger };
    return {
      steps,
      undo: async ({ askPerson, signal, onStep, skipped }) => {
        const { broker } = await runtime.open();
        return undoSteps(owner, steps, { broker, store, patienceMs, askPerson, signal, skipped }, onStep);
      },
    };
  }

  async #resume(run: ResumedRun, client?: RunClient): Promise<void> {
    const options = { ...this.#parts.sessionOptionsOf(run.caller, run.profile), ...boundsOf(run) };
    await this.openSession(options).resume(run, client);
  }

  /**
   * Waits at most this long for runs to end, including runs whose clients already have a response. Runs that wait for a person are
   * suspended at once. No suspended run is resumed here any more: other processes resume it.
   */
  drain(graceMs: number): Promise<void> {
    this.#parts.suspended.stopResuming();
    return this.#parts.live.drain(graceMs);
  }

  async close(): Promise<void> {
    const { runtime, catalog, observed, records, closeTraces } = this.#parts;
    // Programs first. A program whose server closed would continue here without it and fail; another host can resume it instead.
    await runtime.close();
    await Promise.all([catalog.close(), observed?.close()]);
    await Promise.all([records.close(), closeTraces?.()]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
