import type { Approvals } from '../../broker/approvals/approvals.js';
import type { RunStart } from '../../broker/run-context.js';
import { HostError, isHostError } from '../../domain/errors.js';
import type { JsonValue } from '../../domain/json.js';
import type { CallerId, EndedState, GuestCall, RunFigures } from '../../domain/run.js';
import type { Awaitable } from '../../lib/async/awaitable.js';
import { encodeDelivery } from '../../sandbox/journal/journal.js';
import type { AnswersOfDay, RunChoice, RunLease, RunPlace, RunStore, StoredRun } from '../../store/runs.js';
import { type AnyRecording, recordingIn, storedRecording } from '../recordings/recording.js';
import { BatchedRunEnds } from './batched-run-ends.js';
import type { ResumeRun, RunOwner } from './resumed-run.js';
import type { RunRecords } from './run.js';
import { RunResumption } from './run-resumption.js';
import { type RunView, shownState } from './run-view.js';
import { RunWrites } from './run-writes.js';

export interface SuspendedRunsOptions {
  /** Opened at the first read or write. */
  readonly store: () => Promise<RunStore>;
  readonly approvals: Approvals;
  /** Digests of the configured servers, separated by spaces. A run is resumed only if all servers that it started with are present. */
  readonly setting: string;
  /** The same digests as an earlier version wrote them, for the runs that it suspended. */
  readonly formerSetting?: string;
}

/** What lists show of an ended run. */
export interface RunListEntry {
  readonly title: string;
  readonly durationMs: number;
  readonly figures: RunFigures;
}

/** How often to check whether a run that another process has resumed is done. */
const FOLLOW_EVERY_MS = 100;
/** Runs that are suspended until a person decides, whichever process suspended them, and the history of ended runs. */
export class SuspendedRuns {
  readonly #options: SuspendedRunsOptions;
  readonly #resumption: RunResumption;
  readonly #writing = new Set<Promise<void>>();
  readonly #ends: BatchedRunEnds;
  constructor(options: SuspendedRunsOptions) {
    this.#options = options;
    this.#ends = new BatchedRunEnds(options.store);
    this.#resumption = new RunResumption({
      store: () => this.#store(),
      hasServersOf: (run) => this.#hasServersOf(run),
      recordRejected: (run, lease, error) => {
        const owner = { ...run, caller: run.caller as CallerId };
        return this.recordEnd(owner, 'failed', { error }, undefined, undefined, lease);
      },
    });
  }

  /** The records of one run. */
  recordsOf(owner: RunOwner, context: () => JsonValue, title: () => string): RunRecords {
    let store: RunStore | undefined;
    // Calls and deliveries are recorded only for a resumed run, and that run was loaded from this store.
    void this.#options.store().then(
      (opened) => {
        store = opened;
      },
      () => {},
    );
    const lease = this.#resumption.leaseOf(owner.id);
    const writes = new RunWrites();
    const write = (act: (store: RunStore, lease: RunLease) => Awaitable<void>) =>
      writes.write(() => (store === undefined || lease === undefined ? undefined : act(store, lease)));
    return {
      suspend: async ({ sealed }) => {
        await writes.settled();
        const contextJson = JSON.stringify(context());
        const { setting } = this.#options;
        const store = await this.#options.store();
        await store.suspend({ ...owner, setting, program: sealed, contextJson, title: title(), lease }, Date.now());
      },
      callMade: (call) => write((to, held) => to.callMade(held, call.number, JSON.stringify(call))),
      callSent: (call) => write((to, held) => to.callSent(held, call.number, JSON.stringify(call))),
      delivered: (delivery, position) => write((to, held) => to.delivered(held, position, encodeDelivery(delivery))),
      settled: () => writes.settled(),
    };
  }

  /** Records how a run ended, with the recording from which it can be replayed. */
  recordEnd(
    owner: RunOwner,
    state: EndedState,
    response: JsonValue,
    recording: AnyRecording | undefined,
    listed?: RunListEntry,
    lease = this.#resumption.leaseOf(owner.id),
  ): Promise<void> {
    const writing: Promise<void> = this.#writeEnd(owner, state, response, recording, listed, lease)
      .catch((error: unknown) => this.#endUnwritten(lease, error))
      .finally(() => this.#writing.delete(writing));
    this.#writing.add(writing);
    return writing;
  }

  /**
   * A run whose end cannot be recorded has still ended. If it was suspended before, it stays suspended in the store: its lease is
   * released, and it is resumed from what was recorded.
   */
  async #endUnwritten(lease: RunLease | undefined, error: unknown): Promise<void> {
    const mayPass = isHostError(error, 'store_unavailable') || isHostError(error, 'bad_config');
    if (lease === undefined || !mayPass) return;
    try {
      await (await this.#options.store()).release(lease);
    } catch {
      // The store still cannot be written. It later releases leases that nobody holds.
    }
  }

  /** Resolves when all pending writes are done. */
  async settled(): Promise<void> {
    await this.#ends.flush();
    await Promise.all(this.#writing);
  }

  async #writeEnd(
    owner: RunOwner,
    state: EndedState,
    response: JsonValue,
    recording: AnyRecording | undefined,
    listed: RunListEntry | undefined,
    lease: RunLease | undefined,
  ): Promise<void> {
    const kept = recording === undefined ? undefined : storedRecording(recording);
    const { id, createdAtMs, caller, profile, codeDigest } = owner;
    await this.#ends.write({
      id,
      createdAtMs,
      caller,
      profile,
      codeDigest,
      setting: this.#options.setting,
      state,
      responseJson: JSON.stringify(response),
      recordingJson: kept?.recordingJson,
      modules: kept?.modules,
      title: listed?.title,
      durationMs: listed?.durationMs,
      figures: listed?.figures,
      lease,
    });
  }

  /** From now on suspended runs are resumed as soon as possible. */
  watch(resume: ResumeRun): void {
    this.#resumption.watch(resume);
  }

  /** From now on no suspended run is resumed here: other hosts do it. */
  stopResuming(): void {
    this.#resumption.close();
  }

  async close(): Promise<void> {
    this.stopResuming();
    this.#ends.close();
    await this.settled();
  }

  /** Run ids that start with this prefix. */
  async idsWith(prefix: string, limit: number): Promise<string[]> {
    return (await this.#store()).idsWith(prefix, limit);
  }

  /** Newest first; only those of one caller if one is given. */
  async list(limit: number, caller?: CallerId): Promise<RunView[]> {
    const store = await this.#store();
    const found = await store.list(limit, caller);
    return this.#views(store, found);
  }

  /** One page of runs, newest first, each with its cursor. Without answers, and without the approvals of ended runs. */
  async page(choice: RunChoice, limit: number): Promise<(RunView & { readonly place: RunPlace })[]> {
    const store = await this.#store();
    const found = await store.page(choice, limit);
    const views = await this.#views(store, found, { isBrief: true });
    return views.map((view, index) => ({ ...view, place: (found[index] as (typeof found)[number]).place }));
  }

  /** Titles by which people recognise these runs. Runs that are not stored are omitted. */
  async titlesOf(runIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return (await this.#store()).titlesOf(runIds);
  }

  /** The recording of a run; undefined if none is kept. */
  async keptRecording(runId: string): Promise<AnyRecording | undefined> {
    const stored = await (await this.#store()).recordingOf(runId);
    return stored === undefined ? undefined : recordingIn(stored);
  }

  /**
   * The stored context of a run that is suspended or was cancelled while suspended, and the calls that it made since it was
   * resumed.
   */
  async contextOf(
    runId: string,
  ): Promise<{ readonly context: JsonValue; readonly calls: readonly GuestCall[] } | undefined> {
    const stored = await (await this.#store()).contextOf(runId);
    if (stored === undefined) return undefined;
    const calls = stored.calls.map((json) => JSON.parse(json) as GuestCall);
    return { context: JSON.parse(stored.contextJson) as JsonValue, calls };
  }

  /** Bytes of the answers of runs, by day (UTC). */
  async answersByDay(sinceMs: number, exceptCallers: readonly string[] = []): Promise<AnswersOfDay[]> {
    return (await this.#store()).answersByDay(sinceMs, exceptCallers);
  }

  /** The state alone, without what else `show` reads. Throws `not_found`. */
  async stateOf(runId: string): Promise<RunView['state']> {
    return shownState(await this.#stored(await this.#store(), runId));
  }

  /** Throws `not_found`. */
  async show(runId: string): Promise<RunView> {
    const store = await this.#store();
    const run = await this.#stored(store, runId);
    const [responseJson, [view]] = await Promise.all([store.responseOf(run), this.#views(store, [run])]);
    return {
      ...(view as RunView),
      response: responseJson === undefined ? null : (JSON.parse(responseJson) as JsonValue),
    };
  }

  /** The response of its client; null if none is kept. */
  async responseOf(run: Pick<StoredRun, 'id' | 'caller'>): Promise<JsonValue> {
    const json = await (await this.#store()).responseOf(run);
    return json === undefined ? null : (JSON.parse(json) as JsonValue);
  }

  /** Resumes a run now, in this process. Throws if that is impossible. */
  async resume(runId: string, resume: ResumeRun): Promise<RunView> {
    const store = await this.#store();
    const run = await this.#find(store, runId);
    if (run.state !== 'suspended') return this.show(runId);
    if (!this.#hasServersOf(run))
      throw new HostError(
        'bad_config',
        'a server that this run was started with is missing or configured differently now; resume it with the configuration it was started with (--config)',
      );
    const [first, ...others] = (await this.#options.approvals.ofRun(runId)).filter(({ state }) => state === 'PENDING');
    if (first !== undefined)
      throw new HostError(
        'bad_input',
        `run ${runId} still waits for approval ${first.id}; decide first: codemode approvals approve ${first.id}${others.length > 0 ? ' --scope calls' : ''}`,
      );
    if (!(await this.#resumption.tryResume(store, run, resume)))
      throw new HostError('sandbox_busy', `another process has resumed run ${runId}; see: codemode runs show ${runId}`);
    await this.settled();
    return this.show(runId);
  }

  /** Resumes a run, or waits for the process that has resumed it. */
  async resumeOrFollow(runId: string, resume: ResumeRun, signal: AbortSignal): Promise<RunView> {
    try {
      return await this.resume(runId, resume);
    } catch (error) {
      if (!isHostError(error, 'sandbox_busy')) throw error;
      return this.#follow(runId, signal);
    }
  }

  /** Cancels a run that is suspended or was resumed. If hosts use fencing, any host can cancel it. */
  async cancel(runId: string): Promise<RunView> {
    const store = await this.#store();
    const wasResumed = await this.#resumption.stop(runId);
    if (wasResumed && (await store.find(runId))?.state !== 'suspended') return this.show(runId);
    const run = await this.#find(store, runId);
    if (run.state !== 'suspended')
      throw new HostError('conflict', `run ${runId} has ended (${run.state}); nothing to cancel`);
    const lease = await store.claim(runId, { isForced: true });
    if (lease === undefined) throw new HostError('sandbox_busy', `another process has resumed run ${runId}; try again`);
    const owner = { ...run, caller: run.caller as CallerId };
    await this.recordEnd(owner, 'cancelled', null, undefined, undefined, lease);
    await this.#options.approvals.closeOfRun(runId);
    return this.show(runId);
  }

  /** The recording from which the run can be replayed. Throws `not_found` if none was kept. */
  async recordingOf(runId: string): Promise<AnyRecording> {
    const store = await this.#store();
    const { state } = await this.#find(store, runId);
    const stored = await store.recordingOf(runId);
    if (stored !== undefined) return recordingIn(stored);
    const why = state === 'suspended' ? 'it has not ended yet' : 'it was cancelled, or too large to be kept';
    throw new HostError('not_found', `there is no recording of run ${runId}: ${why}`);
  }

  /**
   * The recording of the last run of this program, if a person has since decided about a call that was refused. Undefined if the
   * program has run again since: that run has used the decision, or did without it.
   */
  async lastDecided(
    owner: Omit<RunOwner, 'id' | 'createdAtMs'>,
    source: string,
    start: RunStart,
  ): Promise<AnyRecording | undefined> {
    const decided = await this.#options.approvals.decidedLate(owner.caller, source, start);
    if (decided.size === 0) return undefined;
    await this.settled();
    const store = await this.#store();
    const last = await store.lastOf(owner);
    if (last === undefined || !this.#hasServersOf(last)) return undefined;
    const stored = await store.recordingOf(last.id);
    const recording = stored === undefined ? undefined : recordingIn(stored);
    // The recording is sealed. The columns that led to it are not.
    if (recording?.caller !== owner.caller || recording.codeDigest !== owner.codeDigest) return undefined;
    return refusedApprovals(recording).some((id) => decided.has(id)) ? recording : undefined;
  }

  /** A run of this caller. Undefined if the caller has no such run. */
  async outcomeOf(caller: CallerId, runId: string): Promise<RunView | undefined> {
    const run = await (await this.#store()).find(runId);
    const view = run?.caller === caller ? await this.show(runId) : undefined;
    return view?.caller === caller ? view : undefined;
  }

  async #follow(runId: string, signal: AbortSignal): Promise<RunView> {
    for (;;) {
      const view = await this.show(runId);
      if (view.state !== 'running' || signal.aborted) return view;
      await new Promise((resolve) => setTimeout(resolve, FOLLOW_EVERY_MS));
    }
  }

  /** Servers that were added since then do not matter. */
  #hasServersOf({ setting }: StoredRun): boolean {
    const { setting: now, formerSetting = '' } = this.#options;
    const present = new Set([...now.split(' '), ...formerSetting.split(' ')]);
    return setting.split(' ').every((part) => present.has(part));
  }

  /** The store, after all pending writes. */
  async #store(): Promise<RunStore> {
    await this.#ends.flush();
    return this.#options.store();
  }

  /** A run that has just ended may not be recorded yet: a client that saw it run must not get `not_found`. */
  async #stored(store: RunStore, runId: string): Promise<StoredRun> {
    const run = await store.find(runId);
    if (run !== undefined) return run;
    await this.settled();
    return this.#find(store, runId);
  }

  async #find(store: RunStore, runId: string): Promise<StoredRun> {
    const run = await store.find(runId);
    if (run !== undefined) return run;
    throw new HostError('not_found', `there is no run ${JSON.stringify(runId)}; list them with: codemode runs`);
  }

  /** Without their answers. If brief, also without the approvals of ended runs. */
  async #views(store: RunStore, runs: readonly StoredRun[], { isBrief = false } = {}): Promise<RunView[]> {
    const asked = isBrief ? runs.filter(({ state }) => state === 'suspended') : runs;
    const [titles, approvals] = await Promise.all([
      store.titlesOf(runs.map(({ id }) => id)),
      this.#options.approvals.ofRuns(asked.map(({ id }) => id)),
    ]);
    return runs.map((run) => {
      const { id, caller, profile, createdAtMs, updatedAtMs, durationMs, figures } = run;
      return {
        runId: id,
        state: shownState(run),
        ...{ caller, profile, createdAtMs, updatedAtMs, durationMs },
        title: titles.get(id),
        figures,
        response: null,
        approvals: approvals.get(id) ?? [],
      };
    });
  }
}

/** The approvals for which calls of a run were refused. */
function refusedApprovals({ calls }: AnyRecording): string[] {
  const replies = calls.flatMap((call) => ('reply' in call && call.reply !== undefined ? [call.reply] : []));
  const ids = replies.map((reply) => ('error' in reply ? reply.error.fields?.approvalId : undefined));
  return ids.filter((id) => typeof id === 'string');
}
