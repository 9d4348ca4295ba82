import type { Awaitable } from '../../lib/async/awaitable.js';

/**
 * The writes of one resumed run, in order: each begins when the previous one is done. A failed write fails all that follow. If the
 * store writes synchronously, nothing is awaited.
 */
export class RunWrites {
  /** The last pending write. */
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
