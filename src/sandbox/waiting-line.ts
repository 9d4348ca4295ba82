import { HostError } from '../domain/errors.js';
import type { CallerId } from '../domain/execution.js';
import { type Deferred, deferred } from '../lib/deferred.js';
import type { RunWorker } from './run-worker.js';

/** A program that waits for a worker. */
export interface Waiting {
  readonly caller: CallerId;
  readonly isBlocking: boolean;
  readonly answer: Deferred<RunWorker>;
  isCancelled: boolean;
}

/** Of the places in line, those that one caller may take: a flood of one leaves room for others to wait. */
const SHARE_OF_ONE_CALLER = 3 / 4;

/** Programs that wait for a worker, in the order in which they came. */
export class WaitingLine {
  readonly #maxLength: number;
  readonly #maxOfOneCaller: number;
  readonly #counts = new Map<CallerId, number>();
  #waiting: Waiting[] = [];
  /** How many were sent away. */
  refused = 0;

  constructor(maxLength: number) {
    this.#maxLength = maxLength;
    this.#maxOfOneCaller = Math.ceil(maxLength * SHARE_OF_ONE_CALLER);
  }

  get length(): number {
    return this.#waiting.length;
  }

  /** Whether so many more programs of one caller may wait. */
  hasRoomFor(caller: CallerId, count: number): boolean {
    return (
      this.#waiting.length + count <= this.#maxLength && (this.#counts.get(caller) ?? 0) + count <= this.#maxOfOneCaller
    );
  }

  /** Throws `sandbox_busy` where too many wait already. `advice`: the setting that makes room. */
  join(caller: CallerId, isBlocking: boolean, signal: AbortSignal, advice: string): Promise<RunWorker> {
    if (!this.hasRoomFor(caller, 1)) {
      this.refused++;
      const who =
        this.length < this.#maxLength ? `${this.#counts.get(caller)} programs of yours` : `${this.length} programs`;
      throw new HostError(
        'sandbox_busy',
        `${who} are waiting for a worker already; try again in a few seconds, or raise ${advice}`,
      );
    }
    const waiting: Waiting = { caller, isBlocking, answer: deferred(), isCancelled: false };
    this.#waiting.push(waiting);
    this.#counts.set(caller, (this.#counts.get(caller) ?? 0) + 1);
    signal.addEventListener(
      'abort',
      () => {
        waiting.isCancelled = true;
        this.offer((each) => each === waiting);
        waiting.answer.reject(new HostError('cancelled', 'the run was cancelled while it waited for a worker'));
      },
      { once: true },
    );
    return waiting.answer.promise;
  }

  /** Shows them to somebody, one after the other; those who are taken leave the line. */
  offer(take: (waiting: Waiting) => boolean): void {
    if (this.#waiting.length === 0) return;
    this.#waiting = this.#waiting.filter((waiting) => {
      if (!take(waiting)) return true;
      this.#left(waiting.caller);
      return false;
    });
  }

  /** Everybody who waits, in order. */
  get all(): readonly Waiting[] {
    return this.#waiting;
  }

  /** Programs of this caller let the others go first. */
  sendToEnd(caller: CallerId): void {
    const theirs = this.#waiting.filter((each) => each.caller === caller);
    this.#waiting = [...this.#waiting.filter((each) => each.caller !== caller), ...theirs];
  }

  close(reason: HostError): void {
    this.offer(({ answer }) => {
      answer.reject(reason);
      return true;
    });
  }

  #left(caller: CallerId): void {
    const left = (this.#counts.get(caller) ?? 1) - 1;
    if (left === 0) this.#counts.delete(caller);
    else this.#counts.set(caller, left);
  }
}
