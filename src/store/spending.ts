import type { Awaitable } from '../lib/async/awaitable.js';

/** What all hosts have spent together, day by day. Amounts are whole millionths. */
export interface SpendingStore {
  spent(day: string): Awaitable<number>;
  /**
   * Spends unless the day would then cost more than `most`. One transaction: two hosts can't both spend the last of it.
   * What the day has cost before, and whether it was spent.
   */
  spendWithin(
    day: string,
    amount: number,
    most: number,
  ): Awaitable<{ readonly isSpent: boolean; readonly before: number }>;
  /** Spends whatever the day has cost: a person has said so. */
  spend(day: string, amount: number): Awaitable<void>;
  giveBack(day: string, amount: number): Awaitable<void>;
}
