import type { StopSignal } from '../../../domain/stop-signal.js';
import { Cancellation } from '../../../lib/async/cancellation.js';

/** The most time that questions to people can add to one call, over all its questions. */
const MAX_HELD_MS = 10 * 60_000;

/** The time a call may take. The time people take to answer its questions does not count, up to a limit. */
export class CallClock {
  readonly #expired = new Cancellation();
  #leftMs: number;
  #heldLeftMs = MAX_HELD_MS;
  /** Questions that are open now. */
  #holds = 0;
  #since = performance.now();
  #timer: NodeJS.Timeout | undefined;

  constructor(timeoutMs: number) {
    this.#leftMs = timeoutMs;
    this.#start();
  }

  /** Aborted when the time is up. */
  get expired(): StopSignal {
    return this.#expired;
  }

  get remainingMs(): number {
    return Math.max(1, this.#holds > 0 ? this.#leftMs : this.#leftMs - (performance.now() - this.#since));
  }

  hold(): void {
    if (this.#holds++ > 0) return;
    this.#leftMs -= this.#stop();
    this.#start();
  }

  go(): void {
    if (--this.#holds > 0) return;
    this.#heldLeftMs -= this.#stop();
    this.#start();
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  #stop(): number {
    clearTimeout(this.#timer);
    return performance.now() - this.#since;
  }

  #start(): void {
    this.#since = performance.now();
    const waitMs = this.#holds > 0 ? this.#heldLeftMs : this.#leftMs;
    this.#timer = setTimeout(() => this.#expired.cancel(), Math.max(0, waitMs));
  }
}
