import { HostError } from '../../domain/errors.js';
import type { CallerId } from '../../domain/execution.js';
import type { StopSignal } from '../../domain/stop-signal.js';

export interface TurnOptions {
  /** Programs at the same time, of all callers. */
  readonly maxRunning: number;
  /** Of one caller, so that nobody keeps the others waiting for as long as programs may run. */
  readonly maxRunningPerCaller: number;
  /** Programs that wait; one more is refused. */
  readonly maxQueued: number;
}

interface Waiting {
  readonly caller: CallerId;
  readonly admit: () => void;
}

/** Who may start a process now. In the order of coming, but for those whose caller has enough already. */
export class Turns {
  readonly #options: TurnOptions;
  readonly #running = new Map<CallerId, number>();
  readonly #queue: Waiting[] = [];
  #total = 0;

  constructor(options: TurnOptions) {
    this.#options = options;
  }

  /** Resolves with what gives the turn back. Rejects with `sandbox_busy`, or with `cancelled` when the signal says so. */
  async take(caller: CallerId, signal?: StopSignal): Promise<() => void> {
    const cancelled = () => new HostError('cancelled', 'the run was cancelled while it waited for its turn');
    if (signal?.aborted === true) throw cancelled();
    if (this.#mayRun(caller)) return this.#admit(caller);
    if (this.#queue.length >= this.#options.maxQueued)
      throw new HostError(
        'sandbox_busy',
        `${this.#queue.length} programs are waiting for a process already; try again in a few seconds`,
      );
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
      };
      signal?.addEventListener('abort', leave);
      this.#queue.push(waiting);
    });
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
