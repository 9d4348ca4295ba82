export interface AllowanceOptions {
  /** How much may be taken at once. */
  readonly burst: number;
  readonly perSecond: number;
}

/** How full an allowance has to be before what was taken too much is forgotten. */
const RECOVERED_SHARE = 0.1;

/**
 * A token bucket: a burst, then a steady rate. Taking never fails, because what was read is read: a peer that overdraws waits
 * until its debt is paid, and is told how long it has been in debt.
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

  /** Milliseconds until the debt is paid; 0 where there is none. */
  waitMs(nowMs: number): number {
    this.#fill(nowMs);
    return this.#balance >= 0 ? 0 : Math.ceil(-this.#balance / this.#perMs);
  }

  /** For how long more has been taken than there is, without a pause long enough to recover. */
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
