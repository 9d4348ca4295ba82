import type { Awaitable } from '../../lib/async/awaitable.js';

/**
 * The writes about one resumed run, in the order in which they were asked for: the next begins when the one before is done. One
 * that failed fails all that follow. Where the store writes at once, nothing is ever waited for.
 */
export class RunWrites {
  /** Of the last one that is not done yet. */
  #last: Promise<void> | undefined;
  #failure: { readonly error: unknown } | undefined;

  write(write: () => Awaitable<void>): Awaitable<void> {
    if (this.#failure !== undefined) throw this.#failure.error;
    if (this.#last !== undefined) return this.#follow(this.#last.then(write));
    const written = write();
    return written instanceof Promise ? this.#follow(written) : undefined;
  }

  settled(): Awaitable<void> {
    if (this.#failure !== undefined) throw this.#failure.error;
    return this.#last;
  }

  #follow(written: Promise<void>): Promise<void> {
    const last = written.then(
      () => {
        if (this.#last === last) this.#last = undefined;
      },
      (error: unknown) => {
        this.#failure ??= { error };
        throw error;
      },
    );
    this.#last = last;
    return last;
  }
}
