/** The longest delay of a Node timer; a longer one would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** A time budget: computing and waiting for tools count, being suspended or queued does not. */
export class TimeBudget {
  readonly #onSpent: () => void;
  #remainingMs: number;
  #runningSince: number | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(totalMs: number, onSpent: () => void) {
    this.#remainingMs = totalMs;
    this.#onSpent = onSpent;
  }

  get remainingMs(): number {
    return this.#runningSince === undefined
      ? this.#remainingMs
      : this.#remainingMs - (performance.now() - this.#runningSince);
  }

  get isRunning(): boolean {
    return this.#runningSince !== undefined;
  }

  start(): void {
    if (this.#runningSince !== undefined) return;
    this.#runningSince = performance.now();
    this.#timer = setTimeout(this.#onSpent, Math.min(Math.max(0, this.#remainingMs), MAX_TIMER_MS));
  }

  stop(): void {
    this.#remainingMs = this.remainingMs;
    this.#runningSince = undefined;
    clearTimeout(this.#timer);
  }
}
