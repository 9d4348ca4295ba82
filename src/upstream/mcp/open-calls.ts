import type { Respondent } from '../../domain/question.js';
import type { StopSignal } from '../../domain/stop-signal.js';
import { Cancellation } from '../../lib/cancellation.js';
import type { CallClock } from './call-clock.js';

/**
 * A server that was told to stop, or whose answer came too late for us, may still be at work and ask something. For so
 * long it could be a question of the client whose call that was.
 */
const LEFT_MS = 10 * 60_000;
/** Of more clients than this nothing is kept apart: nobody is certain to be meant then. */
const MAX_LEFT = 256;
/** Calls whose client cannot be asked. */
const NOBODY = '';

/** A call that is in progress on one connection. */
export interface OpenCall {
  readonly respondent: Respondent | undefined;
  readonly clock: CallClock;
  /** Aborted when its questions are of no more use. */
  readonly over: StopSignal;
  /** How many were asked so far. */
  questions: number;
  /** We stopped waiting; the server may not have. */
  wasLeft: boolean;
}

/** The calls in flight on one connection, and for whom they are made. */
export class OpenCalls {
  readonly #open = new Map<OpenCall, Cancellation>();
  /** Ended with the last call of a client. */
  readonly #clients = new Map<string, Cancellation>();
  /** Until when a server may still be at work on a call of a client that no longer waits. */
  readonly #leftUntil = new Map<string, number>();

  get isIdle(): boolean {
    return this.#open.size === 0;
  }

  begin(respondent: Respondent | undefined, clock: CallClock): OpenCall {
    const over = new Cancellation();
    const call: OpenCall = { respondent, clock, over, questions: 0, wasLeft: false };
    this.#open.set(call, over);
    if (!this.#clients.has(keyOf(call))) this.#clients.set(keyOf(call), new Cancellation());
    return call;
  }

  end(call: OpenCall): void {
    const key = keyOf(call);
    this.#open.get(call)?.cancel();
    this.#open.delete(call);
    if (call.wasLeft) this.#leave(key);
    if ([...this.#open.keys()].some((other) => keyOf(other) === key)) return;
    this.#clients.get(key)?.cancel();
    this.#clients.delete(key);
  }

  /**
   * The calls that a question may be about that names none: only where all are of one client. Which of them it is nobody
   * knows, so that it is of use until the last of them has ended. The one with the fewest questions so far is first.
   */
  ofOneClient(): { readonly calls: [OpenCall, ...OpenCall[]]; readonly over?: StopSignal } | 'none' | 'several' {
    const [first, ...others] = [...this.#open.keys()].sort((left, right) => left.questions - right.questions);
    if (first === undefined) return 'none';
    const calls: [OpenCall, ...OpenCall[]] = [first, ...others];
    if (new Set([...calls.map(keyOf), ...this.#stillLeft()]).size > 1) return 'several';
    const over = this.#clients.get(keyOf(first));
    return over === undefined ? { calls } : { calls, over };
  }

  #leave(key: string): void {
    const kept = new Set(this.#stillLeft());
    this.#leftUntil.set(kept.size < MAX_LEFT ? key : NOBODY, Date.now() + LEFT_MS);
  }

  /** Forgets those whose time has run out. */
  *#stillLeft(): Generator<string> {
    for (const [key, until] of this.#leftUntil) {
      if (until > Date.now()) yield key;
      else this.#leftUntil.delete(key);
    }
  }
}

function keyOf({ respondent }: OpenCall): string {
  return respondent?.key ?? NOBODY;
}
