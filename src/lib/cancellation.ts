import { setMaxListeners } from 'node:events';

/**
 * An `AbortController` that is made when its signal is first asked for. Making and aborting one takes 12 µs, and
 * most of those who may be cancelled never hand their signal to anybody.
 */
export class Cancellation {
  readonly #reason: () => Error;
  #controller: AbortController | undefined;
  #isCancelled = false;

  /** @param reason what those who listen are told; made only when somebody does */
  constructor(reason: () => Error) {
    this.#reason = reason;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      // Many calls may listen at once, and that is no leak.
      setMaxListeners(0, this.#controller.signal);
      if (this.#isCancelled) this.#controller.abort(this.#reason());
    }
    return this.#controller.signal;
  }

  cancel(): void {
    if (this.#isCancelled) return;
    this.#isCancelled = true;
    this.#controller?.abort(this.#reason());
  }
}
