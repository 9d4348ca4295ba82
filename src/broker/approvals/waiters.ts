import type { Approval, ApprovalState } from '../../domain/approval.js';
import { HostError } from '../../domain/errors.js';
import type { Stop } from '../../lib/async/awaitable.js';
import type { ApprovalStore } from '../../store/approvals.js';

export interface ApprovalVerdict {
  readonly state: Exclude<ApprovalState, 'PENDING' | 'NOT_REQUIRED'>;
  /** The decided approval, with who decided, when and why. */
  readonly approval: Approval;
}

interface Waiter {
  readonly id: string;
  resolve(verdict: ApprovalVerdict): void;
}

/** The calls of this process that wait for a decision. The store is watched while there are any. */
export class ApprovalWaiters {
  readonly #waiters = new Set<Waiter>();
  #stopWatching: Stop | undefined;

  has(id: string): boolean {
    return [...this.#waiters].some((waiter) => waiter.id === id);
  }

  /** Resolves when the approval is decided or has expired, in any process. */
  wait(store: ApprovalStore, id: string, signal: AbortSignal): Promise<ApprovalVerdict> {
    return new Promise<ApprovalVerdict>((resolve, reject) => {
      const waiter: Waiter = {
        id,
        resolve: (verdict) => {
          leave();
          resolve(verdict);
        },
      };
      const stop = () => {
        leave();
        reject(new HostError('cancelled', 'nobody waits for this approval any more'));
      };
      const leave = () => {
        signal.removeEventListener('abort', stop);
        this.#waiters.delete(waiter);
        if (this.#waiters.size > 0) return;
        this.#stopWatching?.();
        this.#stopWatching = undefined;
      };
      if (signal.aborted) return stop();
      signal.addEventListener('abort', stop);
      this.#waiters.add(waiter);
      this.#stopWatching ??= store.watch(() => void this.poll(store));
    });
  }

  /** Never rejects: a store that cannot be read now is read again at the next poll. */
  async poll(store: ApprovalStore): Promise<void> {
    if (this.#waiters.size === 0) return;
    try {
      await store.expire(Date.now());
      const settled = await store.settledOf([...this.#waiters].map(({ id }) => id));
      const byId = new Map(settled.map((approval) => [approval.id, approval]));
      for (const waiter of [...this.#waiters]) {
        const approval = byId.get(waiter.id);
        if (approval !== undefined && approval.state !== 'PENDING') waiter.resolve({ state: approval.state, approval });
      }
    } catch {
      // See above.
    }
  }
}
