import type { EnginePlace } from './engines/engine.js';
import { TimeBudget } from './time-budget.js';

/** Grace period in which a worker may end a program itself, before the whole worker is killed. */
export const KILL_GRACE_MS = 250;
/** Grace period in which a worker may return the result of a waiting program. */
const FINISH_GRACE_MS = 1_000;

/** A program whose time is over. */
interface Late {
  /** Blocked by a call that its worker waits for. */
  readonly isBlocked: boolean;
  readonly mayHaveResult: boolean;
}

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

  /** The program starts or stops computing. */
  count(isComputing: boolean): void {
    if (this.#isHeld && !isComputing) this.#budget.stop();
    else this.#budget.start();
  }

  /**
   * The time is over. A computing program is interrupted by its worker, or killed. A waiting program is asked for its result,
   * which it has if its last line has run. A program that is blocked by a call, or has no worker, ends here.
   */
  end(place: EnginePlace | undefined, { isBlocked, mayHaveResult }: Late, fail: () => void): void {
    if (place === undefined) return fail();
    if (mayHaveResult) place.finish();
    if (place.isComputing && !isBlocked)
      this.#graceTimer = setTimeout(() => {
        if (place.isComputing) place.kill('a program did not stop when its time was over');
        else fail();
      }, KILL_GRACE_MS);
    else if (mayHaveResult) this.#graceTimer = setTimeout(fail, FINISH_GRACE_MS);
    else fail();
  }
}
