import type { AuditFilter, AuditRecord, ChainHead, ChainReport } from '../../domain/audit.js';
import type { Awaitable } from '../../lib/async/awaitable.js';
import type { AuditStore } from '../../store/audit.js';

const RECORDS_OF_A_CALL = 2;

export interface AuditLogParts {
  readonly store: AuditStore;
  readonly close: () => Promise<void>;
}

/** The audit log for people: to read, verify and export. */
export class AuditLog implements AsyncDisposable {
  readonly #store: AuditStore;
  readonly #close: () => Promise<void>;
  /** Why the records of hosts that are gone could not be adopted. */
  readonly #unread: string | undefined;

  private constructor({ store, close }: AuditLogParts, unread: string | undefined) {
    this.#store = store;
    this.#close = close;
    this.#unread = unread;
  }

  static async open(parts: AuditLogParts): Promise<AuditLog> {
    try {
      await parts.store.adoptOrphans();
      return new AuditLog(parts, undefined);
    } catch (error) {
      return new AuditLog(parts, error instanceof Error ? error.message : String(error));
    }
  }

  /** The newest matching records, oldest first. An ended call appears once, with its outcome. */
  async records(filter: AuditFilter, limit: number): Promise<AuditRecord[]> {
    // A call has one record or two. Both fit the same filter, and the outcome is the later one.
    const records = await this.#store.records(filter, RECORDS_OF_A_CALL * limit);
    const ended = new Set(records.flatMap(({ callId, verdict }) => (verdict === 'sent' ? [] : [callId])));
    return records.filter(({ callId, verdict }) => verdict !== 'sent' || !ended.has(callId)).slice(-limit);
  }

  /** One page of records, newest first. */
  before(filter: AuditFilter, before: number | undefined, limit: number): Awaitable<AuditRecord[]> {
    return this.#store.before(filter, before, limit);
  }

  /** The number of records ever written. */
  count(): Awaitable<number> {
    return this.#store.count();
  }

  /** Run ids that start with this prefix. */
  async runIdsWith(prefix: string, limit: number): Promise<string[]> {
    return this.#store.runIdsWith(prefix, limit);
  }

  /** All matching records, oldest first, read lazily. */
  each(filter: AuditFilter): AsyncIterable<AuditRecord> {
    return this.#store.each(filter);
  }

  async verify(expected?: ChainHead): Promise<ChainReport> {
    const report = await this.#store.verify(expected);
    if (!report.isIntact)
      return { ...report, callsRefused: this.#unread !== undefined || !(await this.#store.isUsable()) };
    if (this.#unread === undefined) return report;
    const problem = { record: report.head.count + 1, reason: this.#unread };
    return { ...report, isIntact: false, callsRefused: true, problem };
  }

  /** Drops a tampered chain and starts a new one. The new chain records the restart and its reason. */
  restart(reason: string): Promise<ChainHead> {
    return this.#store.restart(reason);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close();
  }
}
