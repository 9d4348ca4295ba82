import { HostError } from '../../domain/errors.js';
import type { CallerId } from '../../domain/run.js';
import type { StopSignal } from '../../domain/stop-signal.js';

export interface ProcessSlotsOptions {
  /** Programs running at the same time, of all callers. */
  readonly maxRunning: number;
  /** Per caller, so that one caller cannot make others wait for as long as programs may run. */
  readonly maxRunningPerCaller: number;
  /** Queued programs; one more is refused. */
  readonly maxQueued: number;
}

interface Waiting {
  readonly caller: CallerId;
  readonly admit: () => void;
  readonly refuse: () => void;
}

/** Decides which program may start a process: first come, first served, except for callers at their limit. */
export class ProcessSlots {
  readonly #options: ProcessSlotsOptions;
  readonly #running = new Map<CallerId, number>();
  readonly #queue: Waiting[] = [];
  #total = 0;

  constructor(options: ProcessSlotsOptions) {
    this.#options = options;
  }

  /** Resolves with the function that gives the slot back. Rejects with `sandbox_busy`, or with `cancelled` when the signal aborts. */
  async take(caller: CallerId, signal?: StopSignal): Promise<() => void> {
    const cancelled = () => new HostError('cancelled', 'the run was cancelled while it waited for its turn');
    if (signal?.aborted === true) throw cancelled();
    if (this.#mayRun(caller)) return this.#admit(caller);
    if (this.#queue.length >= this.#options.maxQueued) this.#makeRoomFor(caller);
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#queue.splice(this.#queue.indexOf(waiting), 1);
        reject(cancelled());
      };
      const waiting: Waiting = {
        caller,
        admit: () => {
          signal?.removeEventListener('abort', leave);
          resolve(this.#admit(caller));
        },
        refuse: () => {
          signal?.removeEventListener('abort', leave);
          reject(this.#refusal());
        },
      };
      signal?.addEventListener('abort', leave);
      this.#queue.push(waiting);
    });
  }

  /** A flood of one caller does not block others: in a full queue, the caller with the most entries loses its newest one. */
  #makeRoomFor(caller: CallerId): void {
    const counts = new Map<CallerId, number>();
    for (const each of this.#queue) counts.set(each.caller, (counts.get(each.caller) ?? 0) + 1);
    const [greediest, most] = [...counts].reduce((left, right) => (right[1] > left[1] ? right : left), [caller, 0]);
    if (most <= (counts.get(caller) ?? 0) + 1) throw this.#refusal();
    const last = this.#queue.findLastIndex((each) => each.caller === greediest);
    for (const displaced of this.#queue.splice(last, 1)) displaced.refuse();
  }

  #refusal(): HostError {
    return new HostError(
      'sandbox_busy',
      `${this.#options.maxQueued} programs are waiting for a process already; try again in a few seconds`,
    );
  }

  #mayRun(caller: CallerId): boolean {
    const { maxRunning, maxRunningPerCaller } = this.#options;
    return this.#total < maxRunning && (this.#running.get(caller) ?? 0) < maxRunningPerCaller;
  }

  #admit(caller: CallerId): () => void {
    this.#total++;
    this.#running.set(caller, (this.#running.get(caller) ?? 0) + 1);
    let isGivenBack = false;
    return () => {
      if (isGivenBack) return;
      isGivenBack = true;
      this.#giveBack(caller);
    };
  }

  #giveBack(caller: CallerId): void {
    this.#total--;
    const left = (this.#running.get(caller) ?? 1) - 1;
    if (left === 0) this.#running.delete(caller);
    else this.#running.set(caller, left);
    for (let index = 0; index < this.#queue.length; ) {
      const waiting = this.#queue[index] as Waiting;
      if (!this.#mayRun(waiting.caller)) {
        index++;
        continue;
      }
      this.#queue.splice(index, 1);
      waiting.admit();
    }
  }
}
