import type { Awaitable } from '../lib/async/awaitable.js';

/** So many calls in so much time, counted for one key. */
export interface SharedRate {
  readonly key: string;
  readonly calls: number;
  readonly perMs: number;
}

/** Rates that all hosts count together. */
export interface RateStore {
  /** Takes one call from each, or from none of them: then how long to wait, in milliseconds. 0: taken. */
  take(rates: readonly SharedRate[]): Awaitable<number>;
}
