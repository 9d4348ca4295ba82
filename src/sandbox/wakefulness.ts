/** What a small program does between two calls takes less. */
const AWAKE_MS = 0.1;

/**
 * A process that waits is put to sleep by the system, and on a machine with nothing else to do so is its core. To wake both
 * takes 40 µs on a virtual machine, more than the host does for a call. So the host looks around for a moment after it has
 * answered a program, instead of sleeping: see docs/decisions/0025-awake-between-calls.md.
 */
export class Wakefulness {
  #untilMs = 0;
  #isAwake = false;

  stay(): void {
    this.#untilMs = performance.now() + AWAKE_MS;
    if (this.#isAwake) return;
    this.#isAwake = true;
    setImmediate(this.#look);
  }

  /** Whatever has arrived is handled between two of these. */
  readonly #look = (): void => {
    this.#isAwake = performance.now() < this.#untilMs;
    if (this.#isAwake) setImmediate(this.#look);
  };
}
