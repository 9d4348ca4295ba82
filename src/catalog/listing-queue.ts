const MAX_AT_ONCE = 16;
/** A server that takes longer than this to answer no longer keeps others from being asked. */
const TURN_MS = 3_000;

/** Who may ask a server now: starting a thousand servers at once makes each of them late. */
export class ListingQueue {
  readonly #waiting: (() => void)[] = [];
  #taken = 0;

  /** Resolves when it is one's turn. Gives the function that ends the turn; it ends by itself after a while. */
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
