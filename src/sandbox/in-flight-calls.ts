import { HostError } from '../domain/errors.js';
import type { CallNumber, CallReply, Failure, GuestCall } from '../domain/run.js';
import { Cancellation } from '../lib/async/cancellation.js';
import { type CallCheck, CallRegistry } from './call-registry.js';
import { FAILED_INSIDE } from './failures.js';
import type { Delivery, Journal } from './journal/journal.js';
import { Suspension } from './journal/suspension.js';
import type { SandboxDelegate } from './run-report.js';
import type { CallerAccount } from './workers/caller-account.js';

/** The run whose program makes the calls. */
export interface CallingRun {
  readonly journal: Journal;
  /** The run has ended or was suspended: answers arrive too late. */
  readonly isGone: boolean;
  /** The time of a delivery made now. */
  now(): number;
  deliver(delivery: Delivery): void;
  fail(failure: Failure): void;
  /** The worker reports a call that cannot be genuine. */
  forged(reason: string): void;
}

/** The calls of one program in flight: to the delegate and back, held back while the program is being suspended. */
export class InFlightCalls {
  readonly #run: CallingRun;
  readonly #registry: CallRegistry;
  readonly #delegate: SandboxDelegate;
  readonly #cancellation = new Cancellation(
    () => new HostError('cancelled', 'the program that asked for this has ended'),
  );
  #suspension: Suspension | undefined;

  constructor(run: CallingRun, account: CallerAccount, delegate: SandboxDelegate) {
    this.#run = run;
    this.#registry = new CallRegistry(run.journal, account);
    this.#delegate = delegate;
  }

  get open(): readonly GuestCall[] {
    return this.#registry.open;
  }

  isOpen(number: CallNumber): boolean {
    return this.#registry.find(number) !== undefined;
  }

  /** Takes over the open calls of a suspended program. */
  carryOver(open: readonly GuestCall[]): void {
    this.#registry.carryOver(open);
  }

  /** The program is in another worker, which may report its calls again, except for the first `said`. */
  inAnotherWorker(said?: number): void {
    this.#registry.inAnotherWorker(said);
  }

  /** Cancels whatever the run waits for, and its calls in flight. */
  get cancellation(): Cancellation {
    return this.#cancellation;
  }

  requested(call: GuestCall): void {
    const verdict: CallCheck = this.#registry.enter(call);
    if (verdict.is === 'forged') return this.#run.forged(verdict.reason);
    if (verdict.is === 'too much') return this.#run.fail(verdict.failure);
    if (verdict.is === 'known') return;
    this.#delegate.onCall(call, this.#cancellation.signal).then(
      (reply) => this.#replied(call, reply),
      () => this.#replied(call, { ok: false, error: FAILED_INSIDE }),
    );
  }

  /** Answers an open call that was made before this program was suspended. */
  answer(number: CallNumber, reply: CallReply): void {
    const open = this.#registry.find(number);
    if (open !== undefined) this.#replied(open, reply);
  }

  // Replies that arrive during a suspension wait for its end.

  suspending(onLate: () => void): Promise<Buffer> {
    this.#suspension = new Suspension(onLate);
    return this.#suspension.image;
  }

  suspended(image: Buffer): void {
    this.#suspension?.complete(image);
    this.#registry.release();
    this.releaseReplies();
  }

  stays(reason: Parameters<Suspension['fail']>[0]): void {
    this.#suspension?.fail(reason);
  }

  /** The suspension has succeeded or failed: replies that were held back are handled now. */
  releaseReplies(): void {
    const held = this.#suspension?.takeHeld() ?? [];
    this.#suspension = undefined;
    for (const { call, reply } of held) this.#replied(call, reply);
  }

  /** The program has ended. Calls in flight are cancelled: their answers are no longer needed. */
  end(): void {
    this.#cancellation.cancel();
    this.#registry.clear();
    this.stays('ended');
  }

  #replied(call: GuestCall, reply: CallReply): void {
    if (this.#run.isGone) return;
    if (this.#suspension === undefined) this.#deliver(call, reply);
    else this.#suspension.hold(call, reply);
  }

  #deliver(call: GuestCall, reply: CallReply): void {
    // The call was answered already; a second answer is ignored.
    if (this.#registry.find(call.number) === undefined) return;
    if ('ends' in reply) this.#run.journal.endedBy = { call: call.number, failure: reply.ends };
    const delivery = this.#registry.answer(call, reply, this.#run.now());
    if ('message' in delivery) this.#run.fail(delivery);
    else this.#run.deliver(delivery);
  }
}
