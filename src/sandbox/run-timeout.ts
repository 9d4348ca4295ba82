import { TimeBudget } from './time-budget.js';

/** Grace period in which a worker may end a program itself, before the whole worker is killed. */
export const KILL_GRACE_MS = 250;

/** The timeout of one program. It is paused while the program has no worker, and while it waits only for a person. */
export class RunTimeout {
  readonly #budget: TimeBudget;
  /** The program waits only for a person. */
  #isHeld = false;
  #graceTimer: NodeJS.Timeout | undefined;

  constructor(remainingMs: number, onOver: () => void) {
    this.#budget = new TimeBudget(remainingMs, onOver);
  }

  get remainingMs(): number {
    return this.#budget.remainingMs;
  }

  /** The program has a worker. */
  start(): void {
    this.#budget.start();
  }

  /** The program has no worker, or has ended. */
  stop(): void {
    this.#budget.stop();
    clearTimeout(this.#graceTimer);
  }

  /** Pauses it, except while the program computes: its timers may fire while all its calls wait for a person. */
  hold(isHeld: boolean): void {
    this.#isHeld = isHeld;
  }

  /** The program begins or stops to compute. */
  count(isComputing: boolean): void {
    if (this.#isHeld && !isComputing) this.#budget.stop();
    else this.#budget.start();
  }

  /** The time is over, and the worker has been told. */
  afterGrace(graceMs: number, end: () => void): void {
    this.#graceTimer = setTimeout(end, graceMs);
  }
}
