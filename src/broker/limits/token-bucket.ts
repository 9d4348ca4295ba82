/** A rate limit: a burst of as many calls as the rate names, then one call whenever enough has refilled. */
export class TokenBucket {
  readonly #calls: number;
  /** The cost of one call. `calls` units refill per millisecond. Integers, so that nothing is rounded. */
  readonly #price: number;
  #balance: number;
  #filledAtMs: number;

  constructor({ calls, perMs }: { readonly calls: number; readonly perMs: number }, nowMs: number) {
    this.#calls = calls;
    this.#price = perMs;
    this.#balance = calls * perMs;
    this.#filledAtMs = nowMs;
  }

  /** Milliseconds until one more call is allowed; 0 if it is allowed now. Takes nothing. */
  waitMs(nowMs: number): number {
    this.#fill(nowMs);
    return this.#balance >= this.#price ? 0 : Math.ceil((this.#price - this.#balance) / this.#calls);
  }

  take(): void {
    this.#balance -= this.#price;
  }

  isFull(nowMs: number): boolean {
    this.#fill(nowMs);
    return this.#balance >= this.#calls * this.#price;
  }

  #fill(nowMs: number): void {
    const passedMs = Math.max(0, nowMs - this.#filledAtMs);
    this.#balance = Math.min(this.#calls * this.#price, this.#balance + passedMs * this.#calls);
    this.#filledAtMs = nowMs;
  }
}
