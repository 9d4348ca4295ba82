const MAX_AT_ONCE = 16;
/** A server that takes longer than this to answer no longer blocks others from being asked. */
const TURN_MS = 3_000;

/** Limits how many servers are asked at once: starting a thousand servers together makes each of them late. */
export class ListingQueue {
  readonly #waiting: (() => void)[] = [];
  #taken = 0;

  /** Resolves at the caller's turn. Returns the function that ends the turn, which also ends by itself after `TURN_MS`. */
  async take(): Promise<() => void> {
    if (this.#taken >= MAX_AT_ONCE) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#taken += 1;
    let isOver = false;
    const leave = (): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      this.#taken -= 1;
      this.#waiting.shift()?.();
    };
    const timer = setTimeout(leave, TURN_MS).unref();
    return leave;
  }
}
