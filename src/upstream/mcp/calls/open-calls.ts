import type { Respondent } from '../../../domain/question.js';
import type { StopSignal } from '../../../domain/stop-signal.js';
import { Cancellation } from '../../../lib/async/cancellation.js';
import type { CallClock } from './call-clock.js';

/**
 * A server that was told to stop, or whose answer came too late, may still be working and ask something. For this long, its
 * question could belong to the client of that call.
 */
const LEFT_MS = 10 * 60_000;
/** Beyond this many clients they are not tracked separately, so no client counts as certain. */
const MAX_LEFT = 256;
/** The key of calls whose client cannot be asked. */
const NOBODY = '';

/** A call that is in progress on one connection. */
export interface OpenCall {
  readonly respondent: Respondent | undefined;
  readonly clock: CallClock;
  /** Aborted when its questions no longer matter. */
  readonly over: StopSignal;
  /** How many questions were asked so far. */
  questions: number;
  /** We stopped waiting, but the server may still be working on it. */
  wasLeft: boolean;
}

/** The calls in flight on one connection, and the clients they are made for. */
export class OpenCalls {
  readonly #open = new Map<OpenCall, Cancellation>();
  /** The number of open calls of each client, and the signal that ends with the last of them. */
  readonly #clients = new Map<string, { calls: number; readonly over: Cancellation }>();
  /** Until when a server may still be working on a call that its client has abandoned. */
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
   * The calls that a question without a call id may belong to, if all belong to one client. Nobody knows which call it is, so the
   * question is valid until the last of them has ended. The call with the fewest questions so far comes first.
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

  /** Also deletes expired entries. */
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
