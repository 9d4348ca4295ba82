/** An `AbortSignal` of the platform, or a `StopSignal` of ours, which has no reason. */
interface Source {
  readonly aborted: boolean;
  readonly reason?: unknown;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/**
 * A signal that aborts with the first of several. Unlike with `AbortSignal.any`, its sources hold it until they are released, so it
 * cannot be garbage-collected while somebody listens. A source can be released before the others.
 */
export class LinkedAbort {
  readonly #controller = new AbortController();
  readonly #links = new Map<Source, () => void>();

  constructor(sources: readonly (Source | undefined)[]) {
    for (const source of sources) if (source !== undefined) this.#follow(source);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Stops following some sources, or all of them. */
  release(sources: Iterable<Source | undefined> = this.#links.keys()): void {
    for (const source of sources) {
      const abort = source === undefined ? undefined : this.#links.get(source);
      if (source === undefined || abort === undefined) continue;
      source.removeEventListener('abort', abort);
      this.#links.delete(source);
    }
  }

  #follow(source: Source): void {
    const abort = (): void => {
      this.#controller.abort(source.reason);
      this.release();
    };
    if (source.aborted) return abort();
    this.#links.set(source, abort);
    source.addEventListener('abort', abort);
  }
}
