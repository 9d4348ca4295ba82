/** The longest delay a timer of Node takes; longer ones would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The clock a program sees: whole milliseconds, never backwards, and it moves only when something is delivered. */
export class ProgramClock {
  #lastAtMs: number;
  #timer: NodeJS.Timeout | undefined;
  /** When the program wants to be woken. */
  wakeAtMs: number | null = null;

  constructor(lastAtMs: number) {
    this.#lastAtMs = lastAtMs;
  }

  now(): number {
    this.#lastAtMs = Math.max(this.#lastAtMs, Date.now());
    return this.#lastAtMs;
  }

  /** Sets the one timer there is, or none. `fire` is told the time at which it does. */
  wakeAt(wakeAtMs: number | null, fire: (atMs: number) => void): void {
    clearTimeout(this.#timer);
    if (wakeAtMs === null) return;
    const delayMs = Math.min(Math.max(0, wakeAtMs - Date.now()), MAX_TIMER_MS);
    this.#timer = setTimeout(() => {
      // The event loop may wake a little early by its own clock; the program must not see a timer before its time.
      this.#lastAtMs = Math.max(this.#lastAtMs, Math.ceil(wakeAtMs));
      fire(this.now());
    }, delayMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
