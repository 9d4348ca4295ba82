/** How long work that can be interrupted holds the event loop before others get their turn. */
const SLICE_MS = 5;

/** Work in slices: `rest()` resolves at once while there is time left, and after a turn of the event loop where not. */
export class Slices {
  #startedAt = performance.now();

  /** Undefined while this turn may be used on, so that short work waits for nothing. */
  rest(): Promise<void> | undefined {
    if (performance.now() - this.#startedAt < SLICE_MS) return undefined;
    return new Promise((resolve) => {
      setImmediate(() => {
        this.#startedAt = performance.now();
        resolve();
      });
    });
  }
}
