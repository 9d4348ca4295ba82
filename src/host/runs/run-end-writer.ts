import { type Deferred, deferred } from '../../lib/deferred.js';
import type { EndedRun, RunStore } from '../../store/runs.js';

interface Waiting {
  readonly end: EndedRun;
  readonly written: Deferred<void>;
}

/** How long ends are batched. A host that is killed loses this much of the run history, and nothing else. */
const GATHER_MS = 25;

/**
 * Records how runs ended, in batches: beginning and committing a transaction takes longer than writing a run.
 */
export class RunEndWriter {
  readonly #store: () => Promise<RunStore>;
  #waiting: Waiting[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(store: () => Promise<RunStore>) {
    this.#store = store;
  }

  /** Resolves when it is on disk; rejects where it could not be written. */
  write(end: EndedRun): Promise<void> {
    const written = deferred<void>();
    this.#timer ??= setTimeout(() => void this.flush(), GATHER_MS);
    this.#waiting.push({ end, written });
    return written.promise;
  }

  /** Writes the batch now. Never rejects: `write` reports the error. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const together = this.#waiting;
    this.#waiting = [];
    if (together.length === 0) return;
    try {
      const store = await this.#store();
      store.end(
        together.map(({ end }) => end),
        Date.now(),
      );
      for (const { written } of together) written.resolve();
    } catch (error) {
      for (const { written } of together) written.reject(error);
    }
  }
}
