import type { ServerResponse } from 'node:http';

export interface OpenRequestLimits {
  readonly requests: number;
  /** Declared size of their bodies, in bytes. */
  readonly bytes: number;
}

interface Open {
  requests: number;
  bytes: number;
}

/** Counts each caller's unanswered requests, streams included, and the size of their bodies. */
export class OpenRequests {
  readonly #most: OpenRequestLimits;
  readonly #open = new Map<string, Open>();

  constructor(most: OpenRequestLimits) {
    this.#most = most;
  }

  /** Whether one more request may be open. It counts until its response is closed. */
  enter(caller: string, bytes: number, response: Pick<ServerResponse, 'once'>): boolean {
    const open = this.#open.get(caller) ?? { requests: 0, bytes: 0 };
    if (open.requests >= this.#most.requests || open.bytes + bytes > this.#most.bytes) return false;
    open.requests += 1;
    open.bytes += bytes;
    this.#open.set(caller, open);
    response.once('close', () => {
      open.requests -= 1;
      open.bytes -= bytes;
      if (open.requests === 0) this.#open.delete(caller);
    });
    return true;
  }
}
