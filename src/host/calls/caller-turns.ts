import type { CallerId, CallReply } from '../../domain/run.js';
import type { Awaitable } from '../../lib/async/awaitable.js';
import { KeyedLock } from '../../lib/async/keyed-lock.js';

/**
 * Work that the host does for a program: answers about tools, stored scripts and kept results. It runs on the event loop, so each
 * caller has one piece of work at a time, and other callers get a turn before its next one. A program that asks for thousands at
 * once only delays itself.
 */
export class CallerTurns {
  readonly #lock = new KeyedLock();
  readonly #steps = new KeyedLock();
  readonly #waiting = new Map<CallerId, number>();

  /** Undefined if the program ended before its turn came: nothing was done. */
  async take<Result>(
    caller: CallerId,
    signal: AbortSignal,
    work: () => Result | Promise<Result>,
  ): Promise<Result | undefined> {
    const before = this.#waiting.get(caller) ?? 0;
    this.#waiting.set(caller, before + 1);
    try {
      return await this.#lock.run(caller, async () => {
        // A caller's only piece of work need not wait for a turn.
        if (before > 0 && !signal.aborted) await new Promise<void>((resolve) => setImmediate(resolve));
        return signal.aborted ? undefined : work();
      });
    } finally {
      const left = (this.#waiting.get(caller) ?? 1) - 1;
      if (left === 0) this.#waiting.delete(caller);
      else this.#waiting.set(caller, left);
    }
  }

  /**
   * Parses the arguments of a call. Large ones take long to parse, to check and to send: each of these steps has a turn of the event
   * loop of its own, in which no other such step of this caller begins. Calls of the usual size wait for nothing.
   */
  async inSteps<Input, Delegate extends { onSending(): Awaitable<void> }>(
    caller: CallerId,
    argumentsJson: string,
    delegate: Delegate,
    parse: () => Input,
  ): Promise<{ readonly input: Input; readonly delegate: Delegate }> {
    if (argumentsJson.length < LARGE_ARGUMENTS) return { input: parse(), delegate };
    const nextStep = () => this.#steps.run(caller, () => new Promise<void>((resolve) => setImmediate(resolve)));
    await nextStep();
    const input = parse();
    await nextStep();
    const onSending = async () => {
      await nextStep();
      await delegate.onSending();
    };
    return { input, delegate: { ...delegate, onSending } };
  }
}

/** Arguments that take about 1 ms to parse, to digest or to send. */
const LARGE_ARGUMENTS = 256 * 1024;

/** A reply that nobody reads any more. */
export const PROGRAM_ENDED: CallReply = {
  ok: false,
  error: { errorClass: 'CodemodeError', message: 'the program has ended', hint: 'Ask in another program.' },
};
