import { setMaxListeners } from 'node:events';

/**
 * Something that may be called off: a `StopSignal`, and its source. Whoever needs the platform's own signal gets one, made when it is first asked for:
 * that takes 12 µs, and the platform keeps each, with all that its listeners hold, until a full collection of garbage.
 */
export class Cancellation {
  readonly #reason: (() => Error) | undefined;
  #listeners: (() => void)[] = [];
  #controller: AbortController | undefined;
  #isCancelled = false;

  /** @param reason what those who listen to the platform's signal are told; made only when somebody does */
  constructor(reason?: () => Error) {
    this.#reason = reason;
  }

  get aborted(): boolean {
    return this.#isCancelled;
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    if (!this.#isCancelled) this.#listeners.push(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners = this.#listeners.filter((each) => each !== listener);
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      // Many calls may listen at once, and that is no leak.
      setMaxListeners(0, this.#controller.signal);
      if (this.#isCancelled) this.#controller.abort(this.#reason?.());
    }
    return this.#controller.signal;
  }

  cancel(): void {
    if (this.#isCancelled) return;
    this.#isCancelled = true;
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) listener();
    this.#controller?.abort(this.#reason?.());
  }
}
