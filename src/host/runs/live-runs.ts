import { type CallerQuotas, quotaExceeded } from '../../domain/quotas.js';
import type { RecordedCall } from '../recordings/recorded-call.js';
import type { RunNotes } from '../recordings/run-notes.js';

/** A run of this process, from its request until it is suspended or has ended. */
export interface LiveRun {
  readonly runId: string;
  readonly caller: string;
  readonly profile: string;
  readonly source: string;
  readonly createdAtMs: number;
  cancel(): void;
  /** The calls made so far; absent until the program starts, and for programs on real interpreters. */
  soFar?: () => { readonly calls: readonly RecordedCall[]; readonly notes: RunNotes };
}

/** Is notified when runs start and end. */
export interface RunObserver {
  runBegan(run: LiveRun): void;
  runEnded(runId: string): void;
}

/** Runs whose programs are in workers, or about to be. */
export class LiveRuns {
  readonly #runs = new Map<string, LiveRun>();
  readonly #listeners = new Set<() => void>();
  #count = 0;
  #isDraining = false;
  #onIdle: (() => void) | undefined;
  readonly #quotas: CallerQuotas;
  readonly #observer: RunObserver | undefined;

  constructor(quotas: CallerQuotas, observer?: RunObserver) {
    this.#quotas = quotas;
    this.#observer = observer;
  }

  /** Counts a run while it is in flight. With a caller, it counts towards the caller's quota. */
  async during<Result>(run: () => Promise<Result>, caller?: string): Promise<Result> {
    const { runs } = this.#quotas.limits;
    if (caller !== undefined && !this.#quotas.take('runs', caller, 1))
      throw quotaExceeded('runs', `${runs} of your runs are in progress`, 'wait until one has ended');
    this.#count++;
    try {
      return await run();
    } finally {
      if (caller !== undefined) this.#quotas.give('runs', caller, 1);
      if (--this.#count === 0) this.#onIdle?.();
    }
  }

  /** The same for a run that people see while it is in flight. */
  async shown<Result>(live: LiveRun, run: () => Promise<Result>): Promise<Result> {
    this.#runs.set(live.runId, live);
    this.#observer?.runBegan(live);
    try {
      return await this.during(run, live.caller);
    } finally {
      this.#runs.delete(live.runId);
      this.#observer?.runEnded(live.runId);
    }
  }

  /** Newest first. */
  list(): LiveRun[] {
    return [...this.#runs.values()].reverse();
  }

  find(runId: string): LiveRun | undefined {
    return this.#runs.get(runId);
  }

  /** Calls the listener when the host shuts down, so that runs stop waiting for people. Returns the function that unsubscribes. */
  onDrain(listener: () => void): () => void {
    if (this.#isDraining) listener();
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Waits at most this long for runs to end or to be suspended. */
  async drain(graceMs: number): Promise<void> {
    this.#isDraining = true;
    for (const listener of [...this.#listeners]) listener();
    if (this.#count === 0) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
      timer = setTimeout(resolve, graceMs);
    });
    clearTimeout(timer);
  }
}
