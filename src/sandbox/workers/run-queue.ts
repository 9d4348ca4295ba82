import { HostError } from '../../domain/errors.js';
import type { CallerId } from '../../domain/run.js';
import type { StopSignal } from '../../domain/stop-signal.js';
import { type Deferred, deferred } from '../../lib/async/deferred.js';
import type { RunWorker } from './run-worker.js';

export interface QueuedRun {
  readonly caller: CallerId;
  /** It needs a worker to itself. */
  readonly isBlocking: boolean;
  /** It had a worker before: it is never refused, and there are no more such programs than places in workers. */
  readonly hadPlace: boolean;
}

/** A program that is queued for a worker. */
export interface QueueEntry extends QueuedRun {
  readonly answer: Deferred<RunWorker>;
  isCancelled: boolean;
}

/** Programs queued for a worker, in order of arrival. */
export class RunQueue {
  readonly #maxLength: number;
  #waiting: QueueEntry[] = [];
  /** How many programs were refused. */
  refused = 0;

  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  get length(): number {
    return this.#waiting.length;
  }

  /** All entries, in order. */
  get all(): readonly QueueEntry[] {
    return this.#waiting;
  }

  /** Throws `sandbox_busy` if the queue is full and no caller has more entries than this one. */
  join(program: QueuedRun, signal: StopSignal): Promise<RunWorker> {
    if (!program.hadPlace && this.#waiting.length >= this.#maxLength) this.#makeRoomFor(program);
    const waiting: QueueEntry = { ...program, answer: deferred(), isCancelled: false };
    this.#waiting.push(waiting);
    signal.addEventListener('abort', () => {
      waiting.isCancelled = true;
      this.offer((each) => each === waiting);
      waiting.answer.reject(new HostError('cancelled', 'the run was cancelled while it waited for a worker'));
    });
    return waiting.answer.promise;
  }

  /** Offers the entries one after the other. An entry that is taken leaves the queue. */
  offer(take: (waiting: QueueEntry) => boolean): void {
    if (this.#waiting.length > 0) this.#waiting = this.#waiting.filter((waiting) => !take(waiting));
  }

  /** Moves the programs of this caller to the end of the queue. */
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

  /** A flood of one caller does not block others: in a full queue, the caller with the most entries loses its newest one. */
  #makeRoomFor({ caller, isBlocking }: QueuedRun): void {
    this.refused++;
    const counts = new Map<CallerId, number>();
    for (const each of this.#waiting) counts.set(each.caller, (counts.get(each.caller) ?? 0) + 1);
    const [greediest, most] = [...counts].reduce((left, right) => (right[1] > left[1] ? right : left), [caller, 0]);
    const last = this.#waiting.findLastIndex((each) => each.caller === greediest && !each.hadPlace);
    const ownCount = counts.get(caller) ?? 0;
    if (last < 0 || most <= ownCount + 1) throw this.#refusal(isBlocking);
    const [displaced] = this.#waiting.splice(last, 1) as [QueueEntry];
    displaced.answer.reject(this.#refusal(displaced.isBlocking));
  }

  #refusal(isBlocking: boolean): HostError {
    return new HostError(
      'sandbox_busy',
      `${this.#maxLength} programs are waiting for a worker already; try again in a few seconds, or raise ${isBlocking ? 'codeExecution.poolSize' : 'sandbox.workers.max'}`,
    );
  }
}
