import type { ServerResponse } from 'node:http';

/** Counts the requests of each caller that are not answered yet, streams among them. */
export class OpenRequests {
  readonly #most: number;
  readonly #open = new Map<string, number>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Whether one more may be open; it counts until its response is closed. */
  enter(caller: string, response: Pick<ServerResponse, 'once'>): boolean {
    const open = this.#open.get(caller) ?? 0;
    if (open >= this.#most) return false;
    this.#open.set(caller, open + 1);
    response.once('close', () => {
      const left = (this.#open.get(caller) ?? 1) - 1;
      if (left > 0) this.#open.set(caller, left);
      else this.#open.delete(caller);
    });
    return true;
  }

  /** How many the caller has open. */
  of(caller: string): number {
    return this.#open.get(caller) ?? 0;
  }
}
