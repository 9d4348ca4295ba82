/** Maximum number of calls that wait for one limit. A single program can't have more open; several programs together can. */
const MAX_WAITING = 10_000;
/** The default timeout of a program. A program with a longer one is told, and can do something else in the meantime. */
const MAX_WAIT_MS = 30_000;
/** Weight of the newest call in the average duration. */
const NEWEST = 0.2;

export type Entry =
  | { readonly kind: 'entered'; leave(): void }
  /** No slot came free in time. */
  | { readonly kind: 'busy'; readonly retryAfterMs: number }
  | { readonly kind: 'cancelled' };

interface Waiter {
  readonly signal: AbortSignal;
  readonly lateAtMs: number;
  settle(how: Entry['kind']): void;
}

/** Limits concurrency. Calls beyond the limit wait in a queue for a bounded time. */
export class Slots {
  readonly #most: number;
  readonly #maxWaitMs: number;
  /** In the order of arrival, so the first is also the first to time out. */
  readonly #line = new Set<Waiter>();
  /** One listener per program, not per call: adding the 10,000th listener would scan all others. */
  readonly #signals = new Map<AbortSignal, { readonly waiters: Set<Waiter>; readonly stop: () => void }>();
  #timer: NodeJS.Timeout | undefined;
  #taken = 0;
  #averageMs = 0;

  constructor(most: number, maxWaitMs = MAX_WAIT_MS) {
    this.#most = most;
    this.#maxWaitMs = maxWaitMs;
  }

  async enter(signal: AbortSignal): Promise<Entry> {
    if (signal.aborted) return { kind: 'cancelled' };
    if (this.#taken < this.#most) this.#taken++;
    else if (this.#line.size >= MAX_WAITING) return this.#busy();
    else {
      const how = await new Promise<Entry['kind']>((resolve) => this.#wait(signal, resolve));
      if (how === 'busy') return this.#busy();
      if (how === 'cancelled') return { kind: 'cancelled' };
    }
    return this.#entered();
  }

  get isIdle(): boolean {
    return this.#taken === 0;
  }

  #entered(): Entry {
    const sinceMs = performance.now();
    let isInside = true;
    const leave = () => {
      if (!isInside) return;
      isInside = false;
      this.#averageMs += NEWEST * (performance.now() - sinceMs - this.#averageMs);
      const [next] = this.#line;
      // Handed over in the same step, so that a new call cannot overtake the queue.
      if (next === undefined) this.#taken--;
      else next.settle('entered');
    };
    return { kind: 'entered', leave };
  }

  #busy(): Entry {
    const ahead = (this.#line.size + 1) / this.#most;
    return { kind: 'busy', retryAfterMs: Math.min(this.#maxWaitMs, Math.max(1, Math.ceil(ahead * this.#averageMs))) };
  }

  #wait(signal: AbortSignal, resolve: (how: Entry['kind']) => void): void {
    const waiter: Waiter = {
      signal,
      lateAtMs: performance.now() + this.#maxWaitMs,
      settle: (how) => {
        this.#line.delete(waiter);
        this.#forget(waiter);
        if (this.#line.size === 0) clearTimeout(this.#timer);
        resolve(how);
      },
    };
    this.#line.add(waiter);
    this.#listen(waiter);
    if (this.#line.size === 1) this.#watch(waiter);
  }

  /** One timer, for the first in the queue. */
  #watch(first: Waiter): void {
    this.#timer = setTimeout(
      () => {
        const nowMs = performance.now();
        for (const waiter of this.#line) {
          if (waiter.lateAtMs > nowMs) return this.#watch(waiter);
          waiter.settle('busy');
        }
      },
      Math.max(1, first.lateAtMs - performance.now()),
    );
  }

  #listen(waiter: Waiter): void {
    const { signal } = waiter;
    const known = this.#signals.get(signal);
    if (known !== undefined) {
      known.waiters.add(waiter);
      return;
    }
    const waiters = new Set([waiter]);
    const cancel = () => {
      for (const each of waiters) each.settle('cancelled');
    };
    signal.addEventListener('abort', cancel, { once: true });
    this.#signals.set(signal, { waiters, stop: () => signal.removeEventListener('abort', cancel) });
  }

  #forget(waiter: Waiter): void {
    const entry = this.#signals.get(waiter.signal);
    entry?.waiters.delete(waiter);
    if (entry?.waiters.size !== 0) return;
    entry.stop();
    this.#signals.delete(waiter.signal);
  }
}
