/** Longer than a small program computes between two calls. */
const POLL_MS = 0.1;

/**
 * The kernel deschedules a waiting process and idles its core. Waking both takes 40 µs on a virtual machine, longer than the host
 * works on a call. So after a reply to a program the host polls for a moment instead of blocking: see
 * docs/decisions/0025-busy-polling-after-a-reply.md.
 */
export class BusyPoll {
  #untilMs = 0;
  #isPolling = false;

  stay(): void {
    this.#untilMs = performance.now() + POLL_MS;
    if (this.#isPolling) return;
    this.#isPolling = true;
    setImmediate(this.#poll);
  }

  /** The event loop handles messages between two polls. */
  readonly #poll = (): void => {
    this.#isPolling = performance.now() < this.#untilMs;
    if (this.#isPolling) setImmediate(this.#poll);
  };
}
