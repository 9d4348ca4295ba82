/**
 * Limits a program to its CPU share: if it is ahead of its share, it sleeps in small steps, in the engine's interrupt
 * handler. The program notices only its deadline.
 */
export class Throttle {
  readonly #quota: number;
  readonly #begunAt = performance.now();
  #usedMs = 0;
  #slice: NodeJS.CpuUsage | undefined;
  #checkAt = 0;

  /** `quota`: 1 is a whole CPU, the most that one program can use. */
  constructor(quota: number) {
    this.#quota = quota;
  }

  /** A slice of work begins. Other programs have computed in this process in the meantime. */
  begin(): void {
    if (this.#quota < 1) this.#slice = process.cpuUsage();
  }

  end(): void {
    this.#usedMs += this.#sliceMs();
    this.#slice = undefined;
  }

  /** Called repeatedly while the program computes. Sleeps if it is ahead, never beyond `deadline`. */
  pace(now: number, deadline: number): void {
    if (this.#slice === undefined || now < this.#checkAt) return;
    const allowedMs = BURST_MS + this.#quota * (now - this.#begunAt);
    const aheadMs = this.#usedMs + this.#sliceMs() - allowedMs;
    this.#checkAt = now + CHECK_EVERY_MS;
    if (aheadMs <= 0) return;
    // While it sleeps, its share grows only by the quota.
    const sleepMs = Math.min(aheadMs / this.#quota, MAX_SLEEP_MS, deadline - now);
    if (sleepMs > 0) Atomics.wait(NEVER_NOTIFIED, 0, 0, sleepMs);
    this.#checkAt = performance.now() + CHECK_EVERY_MS;
  }

  #sliceMs(): number {
    if (this.#slice === undefined) return 0;
    const { user, system } = process.cpuUsage(this.#slice);
    return (user + system) / 1_000;
  }
}

/** A program that computes for less than this is never slowed down. */
const BURST_MS = 100;
/** Reading the CPU time costs about a microsecond. */
const CHECK_EVERY_MS = 2;
/** Far below the grace period after which the worker of a cancelled program is killed. */
const MAX_SLEEP_MS = 20;
const NEVER_NOTIFIED = new Int32Array(new SharedArrayBuffer(4));
