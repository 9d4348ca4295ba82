import type { ProgramTime } from '../../domain/process-program.js';
import type { CallNumber, CallReply, GuestCall } from '../../domain/run.js';
import { ApprovalWait } from '../calls/approval-wait.js';
import type { RunClient } from '../runs/run-client.js';
import type { CallAnswerer } from '../runs/run-options.js';

/**
 * How a program in its own process waits for people. It cannot be suspended: its timeout is paused while all its calls wait, and
 * they are refused when the grace period is over.
 */
export class ProcessWait {
  readonly #calls: CallAnswerer;
  readonly #people: ApprovalWait;
  readonly #stops = new Map<CallNumber, AbortController>();
  readonly #over = new AbortController();
  #time: ProgramTime | undefined;

  constructor(calls: CallAnswerer, patienceMs: () => number, client: RunClient) {
    this.#calls = calls;
    this.#people = new ApprovalWait({
      patienceMs,
      client,
      asking: () => this.#over.signal,
      refusesAtOnce: true,
      refuse: (calls) => {
        for (const call of calls) this.#stops.get(call)?.abort();
      },
      pauseTime: (isPaused) => (isPaused ? this.#time?.hold() : this.#time?.spend()),
    });
  }

  async onCall(call: GuestCall, signal: AbortSignal, time: ProgramTime): Promise<CallReply> {
    const { number, line } = call;
    const people = this.#people;
    const stop = new AbortController();
    this.#stops.set(number, stop);
    this.#time = time;
    people.callOpened();
    try {
      return await this.#calls.answer(call, {
        signal: AbortSignal.any([signal, stop.signal]),
        isReplayed: false,
        locate: async () => (line === undefined ? [] : [{ line, column: 1 }]),
        onPending: (approval) => people.callPending(number, approval),
        onDecided: () => people.callDecided(number),
        onSending: () => {},
        onHeld: (isHeld) => people.callHeld(number, isHeld),
        remainingMs: () => Number.POSITIVE_INFINITY,
      });
    } finally {
      this.#stops.delete(number);
      people.callClosed(number);
    }
  }

  /** The program has ended: people are no longer asked. */
  end(): void {
    this.#over.abort();
    this.#people.end();
  }
}
