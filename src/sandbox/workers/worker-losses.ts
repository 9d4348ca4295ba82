import { HARMLESS_SOURCE_BYTES } from '../../domain/limits.js';
import type { Failure } from '../../domain/run.js';
import type { LossBlame } from '../engines/engine.js';
import { endedItsWorker, lostItsWorkers, UNREADABLE } from '../failures.js';

/** Other programs may have crashed its workers; beyond this number the program itself is the likely cause. */
const MAX_REBUILDS = 20;
/**
 * On an overloaded machine every worker seems stuck: moving programs, each of which is rebuilt, would increase the load.
 */
const MAX_MOVES = 3;

/** Counts worker losses and decides when to fail the run. */
export class WorkerLosses {
  readonly #source: string;
  #rebuilds = 0;
  #crashes = 0;
  #moves = 0;
  /** A worker has sent a message about it, so its source was parsed. */
  hasSpoken = false;

  constructor(source: string) {
    this.#source = source;
  }

  /** Its worker is lost. Returns the failure if the program is to blame. */
  lost(part: LossBlame, reason: string): Failure | undefined {
    // A suspect gets one more try: its message may have been in flight when the worker died of another cause.
    if (part === 'suspect') this.#crashes++;
    if (part !== 'guilty' && this.#crashes <= 1) return undefined;
    return part === 'suspect' && this.#mayBeUnreadable ? UNREADABLE : endedItsWorker(reason);
  }

  /** It is rebuilt in another worker. Returns the failure if that happened too often. */
  rebuilt(): Failure | undefined {
    return ++this.#rebuilds > MAX_REBUILDS ? lostItsWorkers('it lost several workers') : undefined;
  }

  get mayMove(): boolean {
    return this.#moves < MAX_MOVES;
  }

  moved(): void {
    this.#moves++;
  }

  /** No worker has sent a message about it, and its source is long enough to crash a parser. */
  get #mayBeUnreadable(): boolean {
    return !this.hasSpoken && Buffer.byteLength(this.#source) > HARMLESS_SOURCE_BYTES;
  }
}
