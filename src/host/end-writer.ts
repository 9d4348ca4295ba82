import { type Deferred, deferred } from '../lib/deferred.js';
import type { EndedRun, RunStore } from '../store/runs.js';

interface Waiting {
  readonly end: EndedRun;
  readonly written: Deferred<void>;
}

/**
 * Writes down how runs ended. Those that end in one turn of the event loop share a transaction: to begin and to commit
 * takes as long as what is written for one run, and under load many end in each turn.
 */
export class EndWriter {
  readonly #store: () => Promise<RunStore>;
  #waiting: Waiting[] = [];

  constructor(store: () => Promise<RunStore>) {
    this.#store = store;
  }

  /** Resolves when it is on disk; rejects where it could not be written. */
  write(end: EndedRun): Promise<void> {
    const written = deferred<void>();
    if (this.#waiting.length === 0) setImmediate(() => void this.#flush());
    this.#waiting.push({ end, written });
    return written.promise;
  }

  async #flush(): Promise<void> {
    const together = this.#waiting;
    this.#waiting = [];
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
