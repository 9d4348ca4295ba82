import { HostError, isHostError } from '../../domain/errors.js';
import { type Deferred, deferred } from '../../lib/async/deferred.js';
import { pause } from '../../lib/async/pause.js';
import type { EndedRun, RunStore } from '../../store/runs.js';

interface Waiting {
  readonly end: EndedRun;
  readonly written: Deferred<void>;
}

/** How long ends are batched. A host that is killed loses this much of the run history, and nothing else. */
const GATHER_MS = 25;
/** The pauses between retries while the store cannot be reached. */
const RETRY_AFTER_MS = [100, 300, 1_000, 3_000, 5_000, 10_000, 10_000, 10_000, 10_000, 10_000];

/**
 * Records how runs ended, in batches: beginning and committing a transaction takes longer than writing a run.
 */
export class BatchedRunEnds {
  readonly #store: () => Promise<RunStore>;
  #waiting: Waiting[] = [];
  #timer: NodeJS.Timeout | undefined;
  #isClosing = false;

  constructor(store: () => Promise<RunStore>) {
    this.#store = store;
  }

  /** Resolves when the end is on disk. Rejects if it could not be written, with `lease_lost` if another host has the run. */
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
      const lost = new Set(await this.#end(together.map(({ end }) => end)));
      for (const { end, written } of together) {
        if (lost.has(end.id)) written.reject(new HostError('lease_lost', `another host has taken run ${end.id} over`));
        else written.resolve();
      }
    } catch (error) {
      for (const { written } of together) written.reject(error);
    }
  }

  /** Failed writes are not retried from now on. */
  close(): void {
    this.#isClosing = true;
  }

  /** Writing is idempotent, so a batch is retried although it may have been written before its connection broke. */
  async #end(ends: readonly EndedRun[]): Promise<readonly string[]> {
    for (const waitMs of RETRY_AFTER_MS) {
      try {
        const store = await this.#store();
        return await store.end(ends, Date.now());
      } catch (error) {
        if (this.#isClosing || !isHostError(error, 'store_unavailable')) throw error;
        await pause(waitMs);
      }
    }
    return (await this.#store()).end(ends, Date.now());
  }
}
