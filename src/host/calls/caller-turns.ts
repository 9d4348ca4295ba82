import type { CallerId, CallReply } from '../../domain/run.js';
import { KeyedLock } from '../../lib/async/keyed-lock.js';

/**
 * Work that the host does itself for a program: answers about tools, stored scripts and kept results. It runs on the event loop, so
 * each caller has one piece of it at a time, and the others get a turn of the loop before its next one. A program that asks for
 * thousands at once makes itself wait.
 */
export class CallerTurns {
  readonly #lock = new KeyedLock();
  readonly #waiting = new Map<CallerId, number>();

  /** Undefined where the program has ended before its turn came: nothing was done. */
  async take<Result>(
    caller: CallerId,
    signal: AbortSignal,
    work: () => Result | Promise<Result>,
  ): Promise<Result | undefined> {
    const before = this.#waiting.get(caller) ?? 0;
    this.#waiting.set(caller, before + 1);
    try {
      return await this.#lock.run(caller, async () => {
        // The only one waits for nothing.
        if (before > 0 && !signal.aborted) await new Promise<void>((resolve) => setImmediate(resolve));
        return signal.aborted ? undefined : work();
      });
    } finally {
      const left = (this.#waiting.get(caller) ?? 1) - 1;
      if (left === 0) this.#waiting.delete(caller);
      else this.#waiting.set(caller, left);
    }
  }
}

/** The answer that nobody reads any more. */
export const PROGRAM_ENDED: CallReply = {
  ok: false,
  error: { errorClass: 'CodemodeError', message: 'the program has ended', hint: 'Ask in another program.' },
};
