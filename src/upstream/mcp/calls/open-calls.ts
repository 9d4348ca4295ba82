import type { Respondent } from '../../../domain/question.js';
import type { StopSignal } from '../../../domain/stop-signal.js';
import { Cancellation } from '../../../lib/async/cancellation.js';
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
  /** How many calls of a client are open, and what ends with the last of them. */
  readonly #clients = new Map<string, { calls: number; readonly over: Cancellation }>();
  /** Until when a server may still be at work on a call of a client that no longer waits. */
  readonly #leftUntil = new Map<string, number>();

  get isIdle(): boolean {
    return this.#open.size === 0;
  }

  begin(respondent: Respondent | undefined, clock: CallClock): OpenCall {
    const over = new Cancellation();
    const call: OpenCall = { respondent, clock, over, questions: 0, wasLeft: false };
    this.#open.set(call, over);
    const client = this.#clients.get(keyOf(call));
    if (client === undefined) this.#clients.set(keyOf(call), { calls: 1, over: new Cancellation() });
    else client.calls += 1;
    return call;
  }

  end(call: OpenCall): void {
    const key = keyOf(call);
    this.#open.get(call)?.cancel();
    if (!this.#open.delete(call)) return;
    if (call.wasLeft) this.#leave(key);
    const client = this.#clients.get(key);
    if (client === undefined || --client.calls > 0) return;
    client.over.cancel();
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
    const client = this.#clients.get(keyOf(first));
    return client === undefined ? { calls } : { calls, over: client.over };
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
