import type { Failure } from '../domain/execution.js';
import { HARMLESS_SOURCE_BYTES } from '../domain/limits.js';
import { endedItsWorker, lostItsWorkers, UNREADABLE } from './failures.js';
import type { PartInLoss } from './run-worker.js';

/** Others may have brought its workers down, one after the other; past this it is not unlucky. */
const MAX_REBUILDS = 20;
/**
 * On a machine that is too busy every worker seems stuck: moving programs about, each begun anew, would make it busier
 * still.
 */
const MAX_MOVES = 3;

/** What befell a program on its way, and when that is its end. */
export class Setbacks {
  readonly #source: string;
  #rebuilds = 0;
  #crashes = 0;
  #moves = 0;
  /** A worker has said something of it, so its source was read. */
  hasSpoken = false;

  constructor(source: string) {
    this.#source = source;
  }

  /** Its worker is lost. Gives how the program ends, where it had its part in that. */
  lost(part: PartInLoss, reason: string): Failure | undefined {
    // A suspect gets one more try: what it was sent may have crossed with the end of a worker that died of another cause.
    if (part === 'suspect') this.#crashes++;
    if (part !== 'guilty' && this.#crashes <= 1) return undefined;
    return part === 'suspect' && this.#mayBeUnreadable ? UNREADABLE : endedItsWorker(reason);
  }

  /** It begins again in another worker. Gives how it ends, where that was once too often. */
  rebuilt(): Failure | undefined {
    return ++this.#rebuilds > MAX_REBUILDS ? lostItsWorkers('it lost several') : undefined;
  }

  get mayMove(): boolean {
    return this.#moves < MAX_MOVES;
  }

  moved(): void {
    this.#moves++;
  }

  /** Nothing was ever heard of it, and its source is long enough to bring a parser down. */
  get #mayBeUnreadable(): boolean {
    return !this.hasSpoken && Buffer.byteLength(this.#source) > HARMLESS_SOURCE_BYTES;
  }
}
