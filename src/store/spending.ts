import type { Awaitable } from '../lib/async/awaitable.js';

/** What all hosts have spent together, day by day. Amounts are whole millionths. */
export interface SpendingStore {
  spent(day: string): Awaitable<number>;
  /**
   * Spends unless the day's total would exceed `most`. One transaction, so two hosts cannot both spend the rest. Returns the day's
   * total before, and whether the amount was spent.
   */
  spendWithin(
    day: string,
    amount: number,
    most: number,
  ): Awaitable<{ readonly isSpent: boolean; readonly before: number }>;
  /** Spends regardless of the day's total: a person has approved it. */
  spend(day: string, amount: number): Awaitable<void>;
  giveBack(day: string, amount: number): Awaitable<void>;
}
