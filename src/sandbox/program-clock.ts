/** The longest delay of a Node timer; a longer one would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The clock a program sees: whole milliseconds, never backwards, and it moves only when something is delivered. */
export class ProgramClock {
  #lastAtMs: number;
  #timer: NodeJS.Timeout | undefined;
  /** Time at which the program's next timer is due. */
  wakeAtMs: number | null = null;

  constructor(lastAtMs: number) {
    this.#lastAtMs = lastAtMs;
  }

  now(): number {
    this.#lastAtMs = Math.max(this.#lastAtMs, Date.now());
    return this.#lastAtMs;
  }

  /** Replaces the only timer, or clears it. `fire` gets the time at which it fires. */
  wakeAt(wakeAtMs: number | null, fire: (atMs: number) => void): void {
    clearTimeout(this.#timer);
    if (wakeAtMs === null) return;
    const delayMs = Math.min(Math.max(0, wakeAtMs - Date.now()), MAX_TIMER_MS);
    this.#timer = setTimeout(() => {
      // The event loop may fire slightly early by its own clock; the program must not see a timer before it is due.
      this.#lastAtMs = Math.max(this.#lastAtMs, Math.ceil(wakeAtMs));
      fire(this.now());
    }, delayMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
