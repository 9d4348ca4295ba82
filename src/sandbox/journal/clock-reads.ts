import { MAX_CLOCK_TICKS } from '../../domain/limits.js';
import type { ClockRecord } from '../../wire/messages.js';

/** A program that reads its clock before each of a hundred thousand calls stays below this. No real program needs more. */
const MAX_ENTRIES = 500_000;

/** Checks a worker's reports about one program's clock against its earlier reports: a rebuilt program reports nothing twice. */
export class ClockReads {
  #reads: number;
  #lastTick: number;
  #tickNumbers: number;
  #entries = 0;

  constructor(known: ClockRecord | null) {
    this.#reads = known?.reads ?? 0;
    this.#lastTick = known?.ticks.at(-2) ?? -1;
    this.#tickNumbers = known?.ticks.length ?? 0;
  }

  /** What is wrong with this report; undefined if it was accepted. */
  enter(reads: number, ticks: readonly number[]): string | undefined {
    this.#entries += 1;
    this.#tickNumbers += ticks.length;
    if (this.#entries > MAX_ENTRIES || this.#tickNumbers > 2 * MAX_CLOCK_TICKS)
      return 'it read its clock more often than it may';
    if (reads <= this.#reads || ticks.length % 2 !== 0) return 'it reported clock reads that did not happen';
    for (let at = 0; at < ticks.length; at += 2) {
      const read = ticks[at] as number;
      if (read <= this.#lastTick || read < this.#reads || read >= reads) return 'it reported clock reads out of order';
      this.#lastTick = read;
    }
    this.#reads = reads;
    return undefined;
  }
}
