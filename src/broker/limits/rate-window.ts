const SECOND_MS = 1_000;

/** Calls of the last second. A token bucket would let twice as many through in the first second. */
export class RateWindow {
  /** The time of each call, oldest first. */
  #times: number[] = [];

  /** Milliseconds until one more call is allowed; 0 if it is allowed now. Counts nothing. */
  waitMs(perSecond: number, nowMs: number): number {
    this.#forget(nowMs);
    const { length } = this.#times;
    if (length < perSecond) return 0;
    return Math.max(1, Math.ceil((this.#times[length - perSecond] as number) + SECOND_MS - nowMs));
  }

  take(nowMs: number): void {
    this.#times.push(nowMs);
  }

  /** The newest call was not made after all. */
  giveBack(): void {
    this.#times.pop();
  }

  isEmpty(nowMs: number): boolean {
    this.#forget(nowMs);
    return this.#times.length === 0;
  }

  #forget(nowMs: number): void {
    const first = this.#times.findIndex((each) => each > nowMs - SECOND_MS);
    this.#times = first < 0 ? [] : first === 0 ? this.#times : this.#times.slice(first);
  }
}
