/**
 * Holds a program to its share of a processor over the time it is here: what it has taken ahead it sleeps off, in small
 * pieces, where the engine asks whether to go on. Nothing of the program notices but its deadline.
 */
export class Throttle {
  readonly #quota: number;
  readonly #begunAt = performance.now();
  #usedMs = 0;
  #slice: NodeJS.CpuUsage | undefined;
  #lookAt = 0;

  /** `quota`: 1 is a whole processor, which is all that one program can take. */
  constructor(quota: number) {
    this.#quota = quota;
  }

  /** A slice of work begins; others have computed in this process meanwhile. */
  begin(): void {
    if (this.#quota < 1) this.#slice = process.cpuUsage();
  }

  end(): void {
    this.#usedMs += this.#sliceMs();
    this.#slice = undefined;
  }

  /** Called again and again while the program computes. Sleeps where it is ahead, never beyond `deadline`. */
  pace(now: number, deadline: number): void {
    if (this.#slice === undefined || now < this.#lookAt) return;
    const allowedMs = BURST_MS + this.#quota * (now - this.#begunAt);
    const aheadMs = this.#usedMs + this.#sliceMs() - allowedMs;
    this.#lookAt = now + LOOK_EVERY_MS;
    if (aheadMs <= 0) return;
    // While it sleeps its share grows by the quota only.
    const sleepMs = Math.min(aheadMs / this.#quota, MAX_SLEEP_MS, deadline - now);
    if (sleepMs > 0) Atomics.wait(NEVER_WOKEN, 0, 0, sleepMs);
    this.#lookAt = performance.now() + LOOK_EVERY_MS;
  }

  #sliceMs(): number {
    if (this.#slice === undefined) return 0;
    const { user, system } = process.cpuUsage(this.#slice);
    return (user + system) / 1_000;
  }
}

/** Free for everybody: a program that computes for less than this is never slowed down. */
const BURST_MS = 100;
/** Looking costs about a microsecond. */
const LOOK_EVERY_MS = 2;
/** A program that was cancelled meanwhile is killed with its worker if it sleeps on: this is far below that grace. */
const MAX_SLEEP_MS = 20;
const NEVER_WOKEN = new Int32Array(new SharedArrayBuffer(4));
