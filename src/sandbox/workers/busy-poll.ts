import { availableParallelism } from 'node:os';

/** Longer than a small program computes between two calls. */
const POLL_MS = 0.1;
/** How often it looks for other work. A look takes 13 µs. */
const LOOK_EVERY_MS = 5;

/**
 * The kernel deschedules a waiting process and idles its core. Waking both takes 40 µs on a virtual machine, longer than the host
 * works on a call. So after a reply to a program the host polls for a moment instead of blocking: see
 * docs/decisions/0025-busy-polling-after-a-reply.md. Not while the machine has more work than cores: then no core would be idle, and
 * polling takes time from the worker that is waited for (decision 0205).
 */
export class BusyPoll {
  readonly #runnable: () => number;
  readonly #cores: number;
  #untilMs = 0;
  #isPolling = false;
  #nextLookAtMs = Number.NEGATIVE_INFINITY;
  #isBusy = false;

  /** `runnable`: tasks of the machine that have a core or wait for one, including this process. */
  constructor(runnable: () => number, cores: number = availableParallelism()) {
    this.#runnable = runnable;
    this.#cores = cores;
  }

  stay(): void {
    const nowMs = performance.now();
    if (this.#isMachineBusy(nowMs)) return;
    this.#untilMs = nowMs + POLL_MS;
    if (this.#isPolling) return;
    this.#isPolling = true;
    setImmediate(this.#poll);
  }

  #isMachineBusy(nowMs: number): boolean {
    if (nowMs >= this.#nextLookAtMs) {
      this.#nextLookAtMs = nowMs + LOOK_EVERY_MS;
      this.#isBusy = this.#runnable() > this.#cores;
    }
    return this.#isBusy;
  }

  /** The event loop handles messages between two polls. */
  readonly #poll = (): void => {
    this.#isPolling = performance.now() < this.#untilMs;
    if (this.#isPolling) setImmediate(this.#poll);
  };
}
