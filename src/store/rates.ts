import type { Awaitable } from '../lib/async/awaitable.js';

/** A number of calls per period, counted for one key. */
export interface SharedRate {
  readonly key: string;
  readonly calls: number;
  readonly perMs: number;
}

/** Rates that all hosts count together. */
export interface RateStore {
  /** Takes one call from every rate, or from none. Returns 0 if taken, otherwise how long to wait, in milliseconds. */
  take(rates: readonly SharedRate[]): Awaitable<number>;
}
