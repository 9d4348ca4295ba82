import type { Approvals } from '../broker/approvals/approvals.js';
import type { Approval } from '../domain/approval.js';
import { HostError, isHostError } from '../domain/errors.js';
import type { CallerId, ExecutionId, GuestCall } from '../domain/execution.js';
import type { JsonValue } from '../domain/json.js';
import { isProcessAlive, processIdentity } from '../lib/process-identity.js';
import { decodeDelivery, encodeDelivery } from '../sandbox/journal.js';
import type { RunState, RunStore, StoredRun } from '../store/runs.js';
import { EndWriter } from './end-writer.js';
import type { RunRecords, Sleeper } from './execution.js';
import { MAX_RECORDING_CHARACTERS } from './recorded-call.js';
import { type AnyRecording, decodeRecording, encodeRecording } from './recording.js';

export interface SleepingRunsOptions {
  /** Opened when something is first written down or looked for. */
  readonly store: () => Promise<RunStore>;
  readonly approvals: Approvals;
  /** Digests of the servers there are, with spaces between them. A run continues only where all that it began with are there. */
  readonly setting: string;
}

/** Whose run it is, and which. */
export interface RunOwner {
  readonly id: string;
  readonly caller: CallerId;
  readonly profile: string;
  readonly codeDigest: string;
}

/** A run that was taken out of the store to go on. */
export interface WokenRun extends RunOwner {
  readonly sleeper: Sleeper;
  /** As whoever put it away wrote it. */
  readonly context: JsonValue;
  /** Aborted when it is to end. */
  readonly signal: AbortSignal;
}

/** Goes on with a run until it ends or sleeps again. */
export type Wake = (run: WokenRun) => Promise<void>;

/** A run as it is shown to people. */
export interface RunView {
  readonly runId: string;
  readonly state: RunState | 'running';
  readonly caller: string;
  readonly profile: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** A line of its program; undefined where none was stored. */
  readonly title: string | undefined;
  /** Undefined until it has ended. */
  readonly durationMs: number | undefined;
  readonly response: JsonValue;
  readonly approvals: readonly Approval[];
}

/** What lists show of a run that has ended. */
export interface RunGlance {
  readonly title: string;
  readonly durationMs: number;
}

/** How often decisions are looked for that were made elsewhere, for runs that sleep. */
const LOOK_EVERY_MS = 500;
/** Runs that are woken at the same time; each needs a place in a worker. */
const MAX_WAKING = 16;

/** Runs that sleep until a person has decided, whoever's process put them to bed, and the record of those that ended. */
export class SleepingRuns {
  readonly #options: SleepingRunsOptions;
  readonly #holder = processIdentity() ?? `${process.pid}:unknown`;
  readonly #waking = new Map<string, { readonly going: Promise<void>; readonly stop: AbortController }>();
  readonly #writing = new Set<Promise<void>>();
  readonly #ends: EndWriter;
  #wake: Wake | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: SleepingRunsOptions) {
    this.#options = options;
    this.#ends = new EndWriter(options.store);
  }

  /** Where one run is written down. */
  recordsOf(owner: RunOwner, context: () => JsonValue, title: () => string): RunRecords {
    let store: RunStore | undefined;
    // Calls and deliveries are only written down for a run that was woken, and it came out of this store.
    void this.#options.store().then(
      (opened) => {
        store = opened;
      },
      () => {},
    );
    const { id } = owner;
    return {
      putAway: async ({ sealed }) => {
        const contextJson = JSON.stringify(context());
        const { setting } = this.#options;
        const store = await this.#options.store();
        store.putAway({ ...owner, setting, program: sealed, contextJson, title: title() }, Date.now());
      },
      callMade: (call) => store?.callMade(id, call.number, JSON.stringify(call)),
      callSent: (call) => store?.callSent(id, call.number, JSON.stringify(call)),
      delivered: (delivery, position) => store?.delivered(id, position, encodeDelivery(delivery)),
    };
  }

  /** Writes down how a run ended, with what it takes to run it again. */
  recordEnd(
    owner: RunOwner,
    state: Exclude<RunState, 'waiting'>,
    response: JsonValue,
    recording: AnyRecording | undefined,
    glance?: RunGlance,
  ): Promise<void> {
    const writing: Promise<void> = this.#writeEnd(owner, state, response, recording, glance)
      // A run whose end cannot be written down has ended all the same; one that slept is found asleep again.
      .catch(() => {})
      .finally(() => this.#writing.delete(writing));
    this.#writing.add(writing);
    return writing;
  }

  /** Everything that was to be written down is. */
  async settled(): Promise<void> {
    await this.#ends.flush();
    await Promise.all(this.#writing);
  }

  async #writeEnd(
    owner: RunOwner,
    state: Exclude<RunState, 'waiting'>,
    response: JsonValue,
    recording: AnyRecording | undefined,
    glance: RunGlance | undefined,
  ): Promise<void> {
    const recordingJson = recording === undefined ? undefined : encodeRecording(recording);
    const isKept = recordingJson !== undefined && recordingJson.length <= MAX_RECORDING_CHARACTERS;
    const { id, caller, profile, codeDigest } = owner;
    await this.#ends.write({
      id,
      caller,
      profile,
      codeDigest,
      setting: this.#options.setting,
      state,
      responseJson: JSON.stringify(response),
      recordingJson: isKept ? recordingJson : undefined,
      title: glance?.title,
      durationMs: glance?.durationMs,
    });
  }

  /** From now on runs go on as soon as they may. */
  watch(wake: Wake): void {
    this.#wake = wake;
    this.#timer ??= setInterval(() => void this.#look(), LOOK_EVERY_MS).unref();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#wake = undefined;
    await this.settled();
  }

  /** Ids that start with these characters. */
  async idsWith(prefix: string, limit: number): Promise<string[]> {
    return (await this.#store()).idsWith(prefix, limit);
  }

  /** The newest first; of one caller where one is named. */
  async list(limit: number, caller?: CallerId): Promise<RunView[]> {
    const store = await this.#store();
    return Promise.all(store.list(limit, caller).map((run) => this.#view(run, store)));
  }

  /** Throws `not_found`. */
  async show(runId: string): Promise<RunView> {
    const store = await this.#store();
    // One that has just ended is about to be written down: whoever saw it run must not hear that there was none.
    if (store.find(runId) === undefined) await this.settled();
    return this.#view(this.#find(store, runId), store, store.responseOf(runId));
  }

  /** Goes on with a run now, in this process. Throws where it cannot. */
  async resume(runId: string, wake: Wake): Promise<RunView> {
    const store = await this.#store();
    const run = this.#find(store, runId);
    if (run.state !== 'waiting') return this.show(runId);
    if (!this.#hasServersOf(run))
      throw new HostError(
        'bad_config',
        'a server that this run was started with is missing or configured otherwise now; resume it with the configuration it was started with (--config)',
      );
    const [first] = (await this.#options.approvals.ofRun(runId)).filter(({ state }) => state === 'PENDING');
    if (first !== undefined)
      throw new HostError(
        'bad_input',
        `run ${runId} still waits for approval ${first.id}; decide first: codemode approvals approve ${first.id}`,
      );
    if (!(await this.#goOn(store, run, wake)))
      throw new HostError(
        'sandbox_busy',
        `another process is going on with run ${runId}; look at: codemode runs show ${runId}`,
      );
    return this.show(runId);
  }

  /** Goes on with a run, or waits for whoever does. */
  async resumeOrFollow(runId: string, wake: Wake, signal: AbortSignal): Promise<RunView> {
    try {
      return await this.resume(runId, wake);
    } catch (error) {
      if (!isHostError(error, 'sandbox_busy')) throw error;
      return this.#follow(runId, signal);
    }
  }

  /** Ends a run that sleeps, or that this process is going on with. */
  async cancel(runId: string): Promise<RunView> {
    const store = await this.#store();
    const waking = this.#waking.get(runId);
    waking?.stop.abort();
    // How it goes wrong is told where it was woken.
    await waking?.going.catch(() => {});
    if (waking !== undefined && store.find(runId)?.state !== 'waiting') return this.show(runId);
    const run = this.#find(store, runId);
    if (run.state !== 'waiting')
      throw new HostError('conflict', `run ${runId} is over (${run.state}); nothing to cancel`);
    if (!store.claim(runId, this.#holder, isProcessAlive))
      throw new HostError('sandbox_busy', `run ${runId} is being executed by another process; try again`);
    const owner = { ...run, caller: run.caller as CallerId };
    await this.recordEnd(owner, 'cancelled', null, undefined);
    await this.#options.approvals.closeOfRun(runId);
    return this.show(runId);
  }

  /** What it takes to run it again. Throws `not_found` where nothing was kept. */
  async recordingOf(runId: string): Promise<AnyRecording> {
    const store = await this.#store();
    const { state } = this.#find(store, runId);
    const json = store.recordingOf(runId);
    if (json !== undefined) return decodeRecording(json);
    const why = state === 'waiting' ? 'it has not ended yet' : 'it was cancelled, or too large to be kept';
    throw new HostError('not_found', `there is no recording of run ${runId}: ${why}`);
  }

  /** How a run of this caller stands. Undefined where the caller has none such. */
  async outcomeOf(caller: CallerId, runId: string): Promise<RunView | undefined> {
    const run = (await this.#store()).find(runId);
    return run?.caller === caller ? this.show(runId) : undefined;
  }

  async #follow(runId: string, signal: AbortSignal): Promise<RunView> {
    for (;;) {
      const view = await this.show(runId);
      if (view.state !== 'running' || signal.aborted) return view;
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS / 5));
    }
  }

  async #look(): Promise<void> {
    const wake = this.#wake;
    if (wake === undefined) return;
    try {
      const store = await this.#store();
      for (const run of store.waiting()) {
        if (this.#waking.has(run.id) || this.#waking.size >= MAX_WAKING) continue;
        if (!this.#hasServersOf(run) || !(await this.#isDecided(run.id))) continue;
        // It sleeps on, and is tried again.
        this.#goOn(store, run, wake).catch(() => {});
      }
    } catch {
      // The disk may be full or the file busy: it is looked at again.
    }
  }

  /** Servers that were added since do not matter to a run. */
  #hasServersOf({ setting }: StoredRun): boolean {
    const present = new Set(this.#options.setting.split(' '));
    return setting.split(' ').every((part) => present.has(part));
  }

  async #isDecided(runId: string): Promise<boolean> {
    const approvals = await this.#options.approvals.ofRun(runId);
    return approvals.every(({ state }) => state !== 'PENDING');
  }

  /** Whether this process got it. Resolves when it has ended or sleeps again. */
  async #goOn(store: RunStore, run: StoredRun, wake: Wake): Promise<boolean> {
    if (this.#waking.has(run.id) || !store.claim(run.id, this.#holder, isProcessAlive)) return false;
    const stop = new AbortController();
    const going = this.#wakeOne(store, run, wake, stop.signal).finally(() => this.#waking.delete(run.id));
    this.#waking.set(run.id, { going, stop });
    await going;
    return true;
  }

  async #wakeOne(store: RunStore, run: StoredRun, wake: Wake, signal: AbortSignal): Promise<void> {
    const owner = { ...run, caller: run.caller as CallerId };
    const opened = store.open(run.id);
    try {
      if (opened === undefined)
        throw new HostError('image_rejected', 'what was stored of this run was changed; start the run again');
      const { program, contextJson, codeDigest, sinceThen } = opened;
      await wake({
        ...owner,
        context: JSON.parse(contextJson) as JsonValue,
        signal,
        sleeper: {
          program: { execution: run.id as ExecutionId, codeDigest, sealed: Buffer.from(program) },
          calls: sinceThen.calls.map(({ callJson, isSent }) => ({ call: JSON.parse(callJson) as GuestCall, isSent })),
          deliveries: sinceThen.deliveries.map(decodeDelivery),
        },
      });
    } catch (error) {
      // It will not go better the next time: what cannot be opened ends here, with its reason.
      if (error instanceof HostError && error.code === 'image_rejected')
        return this.recordEnd(owner, 'failed', { error: error.message }, undefined);
      store.release(run.id);
      throw error;
    }
  }

  /** With everything that was to be written. */
  async #store(): Promise<RunStore> {
    await this.#ends.flush();
    return this.#options.store();
  }

  #find(store: RunStore, runId: string): StoredRun {
    const run = store.find(runId);
    if (run !== undefined) return run;
    throw new HostError('not_found', `there is no run ${JSON.stringify(runId)}; list them with: codemode runs`);
  }

  async #view(run: StoredRun, store: RunStore, responseJson?: string): Promise<RunView> {
    const { id, caller, profile, createdAtMs, updatedAtMs, holder, durationMs } = run;
    const isHeld = run.state === 'waiting' && holder !== undefined && isProcessAlive(holder);
    return {
      runId: id,
      state: isHeld ? 'running' : run.state,
      caller,
      profile,
      createdAtMs,
      updatedAtMs,
      title: store.titleOf(id),
      durationMs,
      response: responseJson === undefined ? null : (JSON.parse(responseJson) as JsonValue),
      approvals: await this.#options.approvals.ofRun(id),
    };
  }
}
