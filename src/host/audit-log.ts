import type { AuditFilter, AuditRecord, ChainHead, ChainReport } from '../domain/audit.js';
import type { AuditStore } from '../store/audit.js';

/** What was recorded of calls, for people: to read, to check and to take away. */
export class AuditLog implements Disposable {
  readonly #store: AuditStore;
  readonly #close: () => void;

  constructor({ store, close }: { readonly store: AuditStore; readonly close: () => void }) {
    this.#store = store;
    this.#close = close;
  }

  /** The newest that fit, oldest of them first. */
  records(filter: AuditFilter, limit: number): AuditRecord[] {
    return this.#store.records(filter, limit);
  }

  /** All that fit, oldest first; read as they are asked for. */
  each(filter: AuditFilter): Iterable<AuditRecord> {
    return this.#store.each(filter);
  }

  verify(expected?: ChainHead): ChainReport {
    return this.#store.verify(expected);
  }

  /** Drops a chain that was changed and begins a new one, which says that and why it was begun. */
  restart(reason: string): Promise<ChainHead> {
    return this.#store.restart(reason);
  }

  [Symbol.dispose](): void {
    this.#close();
  }
}
