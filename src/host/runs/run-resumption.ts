import { HostError } from '../../domain/errors.js';
import type { JsonValue } from '../../domain/json.js';
import type { CallerId, GuestCall, RunId } from '../../domain/run.js';
import type { Stop } from '../../lib/async/awaitable.js';
import { deferred } from '../../lib/async/deferred.js';
import { decodeDelivery } from '../../sandbox/journal/journal.js';
import type { RunLease, RunStore, StoredRun } from '../../store/runs.js';
import type { ResumeRun } from './resumed-run.js';

export interface RunResumptionOptions {
  /** The store, after all pending writes. */
  readonly store: () => Promise<RunStore>;
  /** Whether this host has all servers that the run was started with. */
  readonly hasServersOf: (run: StoredRun) => boolean;
  /** Records that a stored run cannot be opened. */
  readonly recordRejected: (run: StoredRun, lease: RunLease, reason: string) => Promise<void>;
}

/** A run that this process resumes. */
interface Resuming {
  readonly stop: AbortController;
  readonly done: Promise<void>;
  /** Undefined until the run is claimed. */
  lease: RunLease | undefined;
}

/** Runs that are resumed at the same time; each needs room in a worker. */
const MAX_RESUMING = 16;
/** The pause before a store that could not be opened is tried again. */
const REOPEN_AFTER_MS = 1_000;

/** Claims suspended runs of any host and resumes them. */
export class RunResumption {
  readonly #options: RunResumptionOptions;
  readonly #resuming = new Map<string, Resuming>();
  #resume: ResumeRun | undefined;
  #stopWatching: Stop | undefined;

  constructor(options: RunResumptionOptions) {
    this.#options = options;
  }

  /** From now on suspended runs are resumed as soon as possible. */
  watch(resume: ResumeRun): void {
    this.#resume = resume;
    if (this.#stopWatching !== undefined) return;
    this.#stopWatching = () => {};
    void this.#watchStore();
  }

  close(): void {
    this.#resume = undefined;
    this.#stopWatching?.();
  }

  /** The lease of a run that this process has claimed. */
  leaseOf(runId: string): RunLease | undefined {
    return this.#resuming.get(runId)?.lease;
  }

  /** Stops a run that this process has resumed. Resolves when it has stopped, with whether there was one. */
  async stop(runId: string): Promise<boolean> {
    const resuming = this.#resuming.get(runId);
    resuming?.stop.abort();
    await resuming?.done;
    return resuming !== undefined;
  }

  /** Resolves when the run has ended or is suspended again, with whether this process claimed it. */
  async tryResume(store: RunStore, run: StoredRun, resume: ResumeRun): Promise<boolean> {
    if (this.#resuming.has(run.id)) return false;
    const done = deferred<void>();
    const resuming: Resuming = { stop: new AbortController(), done: done.promise, lease: undefined };
    this.#resuming.set(run.id, resuming);
    try {
      const lease = await store.claim(run.id);
      if (lease === undefined) return false;
      resuming.lease = lease;
      await this.#resumeClaimed(store, run, lease, resume, resuming.stop.signal);
      return true;
    } finally {
      this.#resuming.delete(run.id);
      done.resolve();
    }
  }

  async #resumeClaimed(
    store: RunStore,
    run: StoredRun,
    lease: RunLease,
    resume: ResumeRun,
    signal: AbortSignal,
  ): Promise<void> {
    try {
      const opened = await store.open(run.id);
      if (opened === undefined)
        throw new HostError('image_rejected', 'the stored state of this run was modified; start the run again');
      const { program, contextJson, codeDigest, sinceThen } = opened;
      await resume({
        ...run,
        caller: run.caller as CallerId,
        context: JSON.parse(contextJson) as JsonValue,
        signal,
        stored: {
          program: { runId: run.id as RunId, codeDigest, sealed: Buffer.from(program) },
          calls: sinceThen.calls.map(({ callJson, isSent }) => ({ call: JSON.parse(callJson) as GuestCall, isSent })),
          deliveries: sinceThen.deliveries.map(decodeDelivery),
        },
      });
    } catch (error) {
      // A retry would not help: a stored run that cannot be opened fails here, with the reason.
      if (error instanceof HostError && error.code === 'image_rejected')
        return this.#options.recordRejected(run, lease, error.message);
      await store.release(lease);
      throw error;
    }
  }

  async #watchStore(): Promise<void> {
    try {
      const store = await this.#options.store();
      if (this.#resume === undefined) return;
      this.#stopWatching = store.watch({
        room: MAX_RESUMING,
        canTake: (run) => this.#options.hasServersOf(run),
        take: async (run) =>
          this.#resume !== undefined && this.tryResume(await this.#options.store(), run, this.#resume),
      });
    } catch {
      setTimeout(() => this.#resume !== undefined && void this.#watchStore(), REOPEN_AFTER_MS).unref();
    }
  }
}
