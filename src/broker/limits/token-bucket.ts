/** Calls per time: as many at once as the rate names, then as fast as they come back. */
export class TokenBucket {
  readonly #calls: number;
  readonly #perMs: number;
  #tokens: number;
  #filledAtMs: number;

  constructor({ calls, perMs }: { readonly calls: number; readonly perMs: number }, nowMs: number) {
    this.#calls = calls;
    this.#perMs = perMs;
    this.#tokens = calls;
    this.#filledAtMs = nowMs;
  }

  /** Milliseconds until one more call is allowed; 0 where it is now. Takes nothing. */
  waitMs(nowMs: number): number {
    this.#fill(nowMs);
    return this.#tokens >= 1 ? 0 : Math.max(1, Math.ceil(((1 - this.#tokens) * this.#perMs) / this.#calls));
  }

  take(): void {
    this.#tokens -= 1;
  }

  isFull(nowMs: number): boolean {
    this.#fill(nowMs);
    return this.#tokens >= this.#calls;
  }

  #fill(nowMs: number): void {
    const passedMs = Math.max(0, nowMs - this.#filledAtMs);
    this.#tokens = Math.min(this.#calls, this.#tokens + (passedMs * this.#calls) / this.#perMs);
    this.#filledAtMs = nowMs;
  }
}
