/** Unhandled rejections, oldest first. Node reports them between two turns of its event loop. */
export class Rejections {
  readonly #unhandled = new Map<object, unknown>();
  readonly #nextTurn: (callback: () => void) => void;

  constructor() {
    this.#nextTurn = setImmediate;
    process.on('unhandledRejection', (reason, promise) => {
      this.#unhandled.set(promise, reason);
    });
    process.on('rejectionHandled', (promise) => {
      this.#unhandled.delete(promise);
    });
  }

  get first(): { readonly reason: unknown } | undefined {
    for (const reason of this.#unhandled.values()) return { reason };
    return undefined;
  }

  /** Resolves when the program can do nothing more now: no promise job is left. */
  settled(): Promise<void> {
    return new Promise((resolve) => this.#nextTurn(resolve));
  }
}
