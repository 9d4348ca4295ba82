import { setMaxListeners } from 'node:events';

/**
 * A cancellable operation: a `StopSignal` and its source. The platform's `AbortSignal` is created only when it is first
 * requested: that takes 12 µs, and V8 keeps each one, with everything its listeners hold, until a full garbage collection.
 */
export class Cancellation {
  readonly #reason: (() => Error) | undefined;
  #listeners: (() => void)[] = [];
  #controller: AbortController | undefined;
  #isCancelled = false;

  /** @param reason the abort reason of the platform's signal; created only when somebody asks for that signal */
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
      // Many calls may listen at once. That is not a leak.
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
