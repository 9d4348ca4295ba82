/** How long interruptible work holds the event loop before it yields. */
const SLICE_MS = 5;

/** Work in slices: `rest()` returns at once while there is time left, and otherwise resolves after a turn of the event loop. */
export class Slices {
  #startedAt = performance.now();

  /** Undefined while this slice has time left, so that short work never waits. */
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
