/**
 * A signal that is aborted with the first of several. Unlike `AbortSignal.any` it is held by its sources until they are
 * released, so that it cannot be collected while somebody listens, and a source can be let go before the others.
 */
export class LinkedAbort {
  readonly #controller = new AbortController();
  readonly #links = new Map<AbortSignal, () => void>();

  constructor(sources: readonly (AbortSignal | undefined)[]) {
    for (const source of sources) if (source !== undefined) this.#follow(source);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Stops following some sources, or all of them. */
  release(sources: Iterable<AbortSignal | undefined> = this.#links.keys()): void {
    for (const source of sources) {
      const abort = source === undefined ? undefined : this.#links.get(source);
      if (source === undefined || abort === undefined) continue;
      source.removeEventListener('abort', abort);
      this.#links.delete(source);
    }
  }

  #follow(source: AbortSignal): void {
    const abort = (): void => {
      this.#controller.abort(source.reason);
      this.release();
    };
    if (source.aborted) return abort();
    this.#links.set(source, abort);
    source.addEventListener('abort', abort, { once: true });
  }
}
