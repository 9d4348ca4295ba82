/** Rejections that nobody has handled yet, the first first. Node tells of them between two turns of its loop. */
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

  /** Everything that the program can do now is done: no job of a promise is left. */
  settled(): Promise<void> {
    return new Promise((resolve) => this.#nextTurn(resolve));
  }
}
