export interface AllowanceOptions {
  /** How much may be taken at once. */
  readonly burst: number;
  readonly perSecond: number;
}

/** How full an allowance must be before its time in debt is reset. */
const RECOVERED_SHARE = 0.1;

/**
 * A token bucket: a burst, then a steady rate. `take` never fails, because the bytes have already been read. A peer that overdraws
 * waits until its debt is paid; `inDebtMs` tells how long it has been in debt.
 */
export class Allowance {
  readonly #burst: number;
  readonly #perMs: number;
  #balance: number;
  #filledAtMs: number;
  #inDebtSinceMs: number | undefined;

  constructor({ burst, perSecond }: AllowanceOptions, nowMs: number) {
    this.#burst = burst;
    this.#perMs = perSecond / 1_000;
    this.#balance = burst;
    this.#filledAtMs = nowMs;
  }

  take(amount: number, nowMs: number): void {
    this.#fill(nowMs);
    this.#balance -= amount;
    if (this.#balance < 0) this.#inDebtSinceMs ??= nowMs;
  }

  /** Milliseconds until the debt is paid, or 0 if there is none. */
  waitMs(nowMs: number): number {
    this.#fill(nowMs);
    return this.#balance >= 0 ? 0 : Math.ceil(-this.#balance / this.#perMs);
  }

  /** How long the balance has been overdrawn, without a pause long enough to recover. */
  inDebtMs(nowMs: number): number {
    this.#fill(nowMs);
    return this.#inDebtSinceMs === undefined ? 0 : nowMs - this.#inDebtSinceMs;
  }

  #fill(nowMs: number): void {
    const passedMs = Math.max(0, nowMs - this.#filledAtMs);
    this.#filledAtMs = nowMs;
    this.#balance = Math.min(this.#burst, this.#balance + passedMs * this.#perMs);
    if (this.#balance > this.#burst * RECOVERED_SHARE) this.#inDebtSinceMs = undefined;
  }
}
