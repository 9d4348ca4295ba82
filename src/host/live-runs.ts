import { type CallerQuotas, quotaExceeded } from '../domain/quotas.js';

/** Runs whose programs are in workers, or about to be. */
export class LiveRuns {
  readonly #listeners = new Set<() => void>();
  #count = 0;
  #isDraining = false;
  #onIdle: (() => void) | undefined;
  readonly #quotas: CallerQuotas;

  constructor(quotas: CallerQuotas) {
    this.#quotas = quotas;
  }

  /** Counts a run while it lasts. With a caller, it is one of those that its quota allows. */
  async during<Result>(run: () => Promise<Result>, caller?: string): Promise<Result> {
    const { runs } = this.#quotas.limits;
    if (caller !== undefined && !this.#quotas.take('runs', caller, 1))
      throw quotaExceeded('runs', `${runs} of your runs are under way`, 'wait until one has ended');
    this.#count++;
    try {
      return await run();
    } finally {
      if (caller !== undefined) this.#quotas.give('runs', caller, 1);
      if (--this.#count === 0) this.#onIdle?.();
    }
  }

  /** Tells when the host is about to end: who waits for a person should not wait here. Gives back how to stop listening. */
  onDrain(listener: () => void): () => void {
    if (this.#isDraining) listener();
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Lets runs come to their end, or be put away, for so long at most. */
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
