import type { AuditFilter, AuditRecord, ChainHead, ChainReport } from '../../domain/audit.js';
import type { AuditStore } from '../../store/audit.js';

const RECORDS_OF_A_CALL = 2;

/** What was recorded of calls, for people: to read, to check and to take away. */
export class AuditLog implements Disposable {
  readonly #store: AuditStore;
  readonly #close: () => void;
  /** Why it is not known what hosts that are gone have left. */
  #unread: string | undefined;

  constructor({ store, close }: { readonly store: AuditStore; readonly close: () => void }) {
    this.#store = store;
    this.#close = close;
    try {
      store.adoptOrphans();
    } catch (error) {
      this.#unread = error instanceof Error ? error.message : String(error);
    }
  }

  /** The newest that fit, oldest of them first. Of a call that has ended only how it did. */
  records(filter: AuditFilter, limit: number): AuditRecord[] {
    // A call has one record or two. Both fit the same filter, and the outcome is the later one.
    const records = this.#store.records(filter, RECORDS_OF_A_CALL * limit);
    const ended = new Set(records.flatMap(({ callId, verdict }) => (verdict === 'sent' ? [] : [callId])));
    return records.filter(({ callId, verdict }) => verdict !== 'sent' || !ended.has(callId)).slice(-limit);
  }

  /** A page, newest first. */
  before(filter: AuditFilter, before: number | undefined, limit: number): AuditRecord[] {
    return this.#store.before(filter, before, limit);
  }

  /** How many records there have been. */
  count(): number {
    return this.#store.count();
  }

  /** Ids of runs that start with these characters. */
  runIdsWith(prefix: string, limit: number): string[] {
    return this.#store.runIdsWith(prefix, limit);
  }

  /** All that fit, oldest first; read as they are asked for. */
  each(filter: AuditFilter): Iterable<AuditRecord> {
    return this.#store.each(filter);
  }

  verify(expected?: ChainHead): ChainReport {
    const report = this.#store.verify(expected);
    if (!report.isIntact) return { ...report, callsRefused: this.#unread !== undefined || !this.#store.isUsable() };
    if (this.#unread === undefined) return report;
    const problem = { record: report.head.count + 1, reason: this.#unread };
    return { ...report, isIntact: false, callsRefused: true, problem };
  }

  /** Drops a chain that was changed and begins a new one, which says that and why it was begun. */
  restart(reason: string): Promise<ChainHead> {
    return this.#store.restart(reason);
  }

  [Symbol.dispose](): void {
    this.#close();
  }
}
