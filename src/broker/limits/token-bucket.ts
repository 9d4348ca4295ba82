/** Calls per time: as many at once as the rate names, then as fast as they come back. */
export class TokenBucket {
  readonly #calls: number;
  /** What one call takes; `calls` of them come back in as many milliseconds. Whole numbers, so that nothing is rounded. */
  readonly #price: number;
  #balance: number;
  #filledAtMs: number;

  constructor({ calls, perMs }: { readonly calls: number; readonly perMs: number }, nowMs: number) {
    this.#calls = calls;
    this.#price = perMs;
    this.#balance = calls * perMs;
    this.#filledAtMs = nowMs;
  }

  /** Milliseconds until one more call is allowed; 0 where it is now. Takes nothing. */
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
