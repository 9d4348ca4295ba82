import type { CallNumber, CallReply, Failure, GuestCall } from '../domain/run.js';
import { countValues, VALUE_BYTES } from '../lib/text/json-values.js';
import { excessFailure, tooLargeOpenCalls, tooManyOpenCalls, tooMuchDelivered, tooMuchOfCaller } from './failures.js';
import type { Answer, Journal } from './journal/journal.js';
import { digestOf } from './journal/journal.js';
import type { CallerAccount } from './workers/caller-account.js';

/** Calls a program may have open at once; each uses memory of the host. */
const MAX_OPEN_CALLS = 10_000;
/** Bytes of arguments of all open calls of a program. It can build them from one string, at no cost to its memory limit. */
const MAX_OPEN_CALL_BYTES = 64 * 1024 * 1024;
/** Bytes of answers that a journal may hold. They stay in memory while the program runs, even if it drops them. */
const MAX_DELIVERED_BYTES = 512 * 1024 * 1024;

/** How to treat a call that a worker reports. */
export type CallCheck =
  | { readonly is: 'new' }
  /** A rebuilt program repeats its calls; those are in flight or answered already. */
  | { readonly is: 'known' }
  | { readonly is: 'forged'; readonly reason: string }
  | { readonly is: 'too much'; readonly failure: Failure };

/** The calls of one program: the calls it made, their order, which are open, and the bytes they hold. */
export class CallRegistry {
  readonly #journal: Pick<Journal, 'calls' | 'deliveries'>;
  readonly #open = new Map<CallNumber, GuestCall>();
  readonly #account: CallerAccount | undefined;
  #openBytes = 0;
  #deliveredBytes = 0;
  #seen = 0;
  /** The last call that the current worker has reported: a worker reports every call once, in order. */
  #saidByWorker = 0;

  /** `account`: charged for answers held in memory, across all programs of the caller. */
  constructor(journal: Pick<Journal, 'calls' | 'deliveries'>, account?: CallerAccount) {
    this.#journal = journal;
    this.#account = account;
  }

  get open(): readonly GuestCall[] {
    return [...this.#open.values()];
  }

  find(number: CallNumber): GuestCall | undefined {
    return this.#open.get(number);
  }

  /** Takes over the open calls of a suspended program. */
  carryOver(open: readonly GuestCall[]): void {
    for (const call of open) {
      this.#open.set(call.number, call);
      this.#openBytes += call.argumentsJson.length;
    }
    for (const each of this.#journal.deliveries) if ('body' in each) this.#deliveredBytes += each.body.byteLength;
    // The program held them before it was suspended, so they are never refused.
    const held = open.reduce((sum, call) => sum + heldBytes(call), 0);
    this.#account?.take(this.#deliveredBytes + held);
    this.#seen = this.#journal.calls.length;
  }

  /** The program is in another worker, which may report its calls again, except for the first `said`. */
  inAnotherWorker(said = 0): void {
    this.#saidByWorker = said;
  }

  /** Enters a call. Each number is used once: a worker that reports something else under a known number is not believed. */
  enter(call: GuestCall): CallCheck {
    if (call.number <= this.#saidByWorker) return { is: 'forged', reason: 'it made the same call twice' };
    this.#saidByWorker = call.number;
    const known = this.#journal.calls[call.number - 1];
    const asked = { target: call.target, argumentsDigest: digestOf(call.argumentsJson) };
    if (known !== undefined)
      return call.number <= this.#seen &&
        known.target === asked.target &&
        known.argumentsDigest === asked.argumentsDigest
        ? { is: 'known' }
        : { is: 'forged', reason: 'it made another call under the same number' };
    if (call.number !== this.#seen + 1) return { is: 'forged', reason: 'it skipped a number' };
    if (this.#open.size >= MAX_OPEN_CALLS) return { is: 'too much', failure: tooManyOpenCalls(MAX_OPEN_CALLS) };
    const bytes = call.argumentsJson.length;
    if (this.#openBytes + bytes > MAX_OPEN_CALL_BYTES)
      return { is: 'too much', failure: tooLargeOpenCalls(MAX_OPEN_CALL_BYTES) };
    const excess = excessFailure('the arguments of a call', call.argumentsJson);
    if (excess !== undefined) return { is: 'too much', failure: excess };
    if (this.#account?.take(heldBytes(call)) === false)
      return { is: 'too much', failure: tooMuchOfCaller(this.#account.maxBytes) };
    this.#openBytes += bytes;
    this.#seen = call.number;
    this.#journal.calls.push(asked);
    this.#open.set(call.number, call);
    return { is: 'new' };
  }

  /** Closes a call with its answer. Returns the delivery, or the failure that ends the program instead. */
  answer(call: GuestCall, reply: CallReply, atMs: number): Answer | Failure {
    const { number, argumentsJson } = call;
    this.#open.delete(number);
    this.#openBytes -= argumentsJson.length;
    this.#account?.give(heldBytes(call));
    if ('ends' in reply) return reply.ends;
    const body = bodyOf(reply);
    this.#deliveredBytes += body.byteLength;
    if (this.#deliveredBytes > MAX_DELIVERED_BYTES) return tooMuchDelivered(MAX_DELIVERED_BYTES);
    if (this.#account?.take(body.byteLength) === false) return tooMuchOfCaller(this.#account.maxBytes);
    return { kind: reply.ok ? 'result' : 'error', call: number, atMs, body };
  }

  /** The program is no longer in memory. */
  release(): void {
    this.#account?.giveAll();
  }

  clear(): void {
    this.#open.clear();
    this.release();
  }
}

/** Memory of the host for an open call: the text of its arguments, and what is parsed of it. */
function heldBytes({ argumentsJson }: GuestCall): number {
  return argumentsJson.length + countValues(argumentsJson) * VALUE_BYTES;
}

function bodyOf(reply: Exclude<CallReply, { readonly ends: Failure }>): Uint8Array {
  if (!reply.ok) return Buffer.from(JSON.stringify(reply.error));
  return typeof reply.json === 'string' ? Buffer.from(reply.json) : reply.json;
}
