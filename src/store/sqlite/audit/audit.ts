import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { AuditEntry, AuditFilter, AuditRecord, ChainHead, ChainReport } from '../../../domain/audit.js';
import { HostError } from '../../../domain/errors.js';
import { omitUndefined } from '../../../lib/omit-undefined.js';
import type { AuditStore, AuditWriter, AuditWriterOptions } from '../../audit.js';
import { SealedHead } from '../../audit-head.js';
import { type Anchor, AuditKeys, type AuditRow, anchorParts, GENESIS, hashOf, valuesOf } from '../../audit-keys.js';
import { COLUMNS, recordOf } from '../../audit-records.js';
import { verifyChain } from '../../audit-verify.js';
import type { Database, Statement } from '../database.js';
import { AuditJournal } from './audit-journal.js';
import {
  JournalProblem,
  missingOutcomes,
  type OrphanedJournal,
  orphanedJournals,
  removeOrphans,
} from './audit-orphans.js';
import { conditions, eachRow } from './audit-rows.js';
import { JournaledWriter } from './audit-writer.js';

/**
 * One record for each call, in a chain that several hosts append to. Each record's hash covers the previous record. Each record is
 * authenticated with a key that the database does not have. The end of the chain is sealed in its own file.
 *
 * The order of writes keeps the chain verifiable wherever a host is killed or the power fails: the head exists before the first
 * record, and advances only to records that are on the disk. So the table may be ahead of the head. A table that is behind the head
 * has lost records.
 */
export class SqliteAuditStore implements AuditStore {
  readonly #database: Database;
  readonly #keys: AuditKeys;
  readonly #head: SealedHead;
  readonly #folder: string;
  readonly #log: string;
  readonly #insert: Statement<never>;
  readonly #insertAfter: Statement<never>;
  readonly #last: Statement<Pick<AuditRow, 'number' | 'hash' | 'mac'>>;
  readonly #at: Statement<{ hash: string }>;
  readonly #anchor: Statement<Anchor>;
  /** The last head that this process has written or checked. */
  #seen: ChainHead = GENESIS;

  private constructor(database: Database, keys: AuditKeys, stateFolder: string) {
    this.#database = database;
    this.#keys = keys;
    this.#head = new SealedHead(stateFolder, keys);
    this.#folder = stateFolder;
    this.#log = join(stateFolder, 'codemode.db-wal');
    this.#insert = database.prepare(`INSERT INTO audit (${COLUMNS}) VALUES (?${', ?'.repeat(16)})`);
    this.#insertAfter = database.prepare(
      `INSERT OR IGNORE INTO audit (${COLUMNS}) SELECT ?${', ?'.repeat(16)}
       WHERE EXISTS (SELECT 1 FROM audit WHERE number = ? AND hash = ?)`,
    );
    this.#last = database.prepare('SELECT number, hash, mac FROM audit ORDER BY number DESC LIMIT 1');
    this.#at = database.prepare('SELECT hash FROM audit WHERE number = ?');
    this.#anchor = database.prepare('SELECT count, hash, at_ms, reason, mac FROM audit_anchor');
  }

  static open(database: Database, key: Uint8Array, stateFolder: string): SqliteAuditStore {
    const store = new SqliteAuditStore(database, new AuditKeys(key), stateFolder);
    // Read the table first: an appending process creates the head before its first record.
    const isEmpty = store.#last.get() === undefined && store.#anchor.get() === undefined;
    if (isEmpty && store.#head.read() === 'missing') store.#head.begin();
    return store;
  }

  argumentsDigest(json: string): string {
    return this.#keys.argumentsDigest(json);
  }

  /** Atomic. Throws if the chain is not as a host with this key last wrote it. */
  append(entries: readonly AuditEntry[]): void {
    if (entries.length === 1 && this.#appendToOwn(entries[0] as AuditEntry)) return;
    this.#seen = this.#database.transaction(() => this.#appendAll(entries));
  }

  #appendAll(entries: readonly AuditEntry[]): ChainHead {
    let head = this.#trustedEnd();
    for (const entry of entries) {
      const { values, next } = this.#link(entry, head);
      this.#insert.run(...values);
      head = next;
    }
    return head;
  }

  /**
   * Appends one record after our own last one, in one statement that does nothing unless that one is still the last. It takes a
   * third of the time of a transaction, and most calls that write come one by one.
   */
  #appendToOwn(entry: AuditEntry): boolean {
    const { count, hash } = this.#seen;
    const { values, next } = this.#link(entry, this.#seen);
    if (count === 0 || this.#insertAfter.run(...values, count, hash) === 0) return false;
    this.#seen = next;
    return true;
  }

  #link(entry: AuditEntry, { count, hash: previousHash }: ChainHead) {
    const values = valuesOf(entry, count + 1);
    const hash = hashOf(values, previousHash);
    return { values: [...values, hash, this.#keys.macOf('record', hash)], next: { count: count + 1, hash } };
  }

  async openWriter(host: string, options: AuditWriterOptions): Promise<AuditWriter> {
    return new JournaledWriter(this, await this.openJournal(host), options);
  }

  /** A journal for the calls of a host, whose ids begin with `host`, until they are in the chain. */
  openJournal(host: string): Promise<AuditJournal> {
    return AuditJournal.create(this.#folder, this.#keys, { host, from: this.#seen.count });
  }

  adoptOrphans(): void {
    for (const journal of this.#orphans()) {
      this.#seen = this.#database.transaction(() => {
        const recorded = eachRow(this.#database, {
          where: 'number > ? AND call_id BETWEEN ? AND ?',
          values: [journal.from, `${journal.host}.`, `${journal.host}.~`],
        });
        return this.#appendAll(missingOutcomes([...recorded].map(recordOf), journal.entries));
      });
      journal.remove();
    }
  }

  #orphans(): OrphanedJournal[] {
    try {
      return orphanedJournals(this.#folder, this.#keys);
    } catch (error) {
      if (error instanceof JournalProblem) throw changed(error.message);
      throw error;
    }
  }

  probe(): void {
    this.#database.transaction(() => {
      this.#seen = this.#trustedEnd();
      this.#database.prepare('UPDATE audit_anchor SET id = 1').run();
      this.#database.prepare("INSERT INTO audit_anchor VALUES (1, 0, '', 0, '', '') ON CONFLICT DO NOTHING").run();
      this.#database.prepare("DELETE FROM audit_anchor WHERE mac = ''").run();
    });
  }

  isUsable(): boolean {
    try {
      this.probe();
      return true;
    } catch {
      return false;
    }
  }

  /** Moves the sealed head to the end of what is synced to disk. */
  async seal(): Promise<void> {
    // Under the lock: the head must not move between the two reads.
    const end = this.#database.transaction(() => this.#trustedEnd());
    const sealed = this.#head.read();
    if (typeof sealed !== 'string' && sealed.count >= end.count) return;
    await syncFile(this.#log);
    const prepared = await this.#head.prepare(end);
    try {
      this.#database.transaction(() => {
        const current = this.#trustedHead();
        if (current.count < end.count) prepared.replace();
      });
    } finally {
      prepared.discard();
    }
  }

  records(filter: AuditFilter, limit: number): AuditRecord[] {
    const { where, values } = conditions(filter);
    return this.#database
      .prepare<AuditRow>(`SELECT ${COLUMNS} FROM audit WHERE ${where} ORDER BY number DESC LIMIT ?`)
      .all(...values, limit)
      .reverse()
      .map(recordOf);
  }

  before(filter: AuditFilter, before: number | undefined, limit: number): AuditRecord[] {
    const { where, values } = conditions(filter);
    const bound = before === undefined ? { sql: '1', values: [] } : { sql: 'number < ?', values: [before] };
    return this.#database
      .prepare<AuditRow>(`SELECT ${COLUMNS} FROM audit WHERE ${where} AND ${bound.sql} ORDER BY number DESC LIMIT ?`)
      .all(...values, ...bound.values, limit)
      .map(recordOf);
  }

  count(): number {
    return this.#last.get()?.number ?? 0;
  }

  runIdsWith(prefix: string, limit: number): string[] {
    return this.#database
      .prepare<{ run_id: string }>('SELECT DISTINCT run_id FROM audit WHERE run_id >= ? ORDER BY run_id LIMIT ?')
      .all(prefix, limit)
      .map(({ run_id: runId }) => runId)
      .filter((runId) => runId.startsWith(prefix));
  }

  async *each(filter: AuditFilter): AsyncGenerator<AuditRecord> {
    for (const row of eachRow(this.#database, conditions(filter))) yield recordOf(row);
  }

  verify(expected?: ChainHead): ChainReport {
    // Read the head first: records appended in the meantime only put the table further ahead.
    const sealed = this.#head.read();
    const anchor = this.#anchor.get();
    const rows = eachRow(this.#database);
    const report = verifyChain({
      keys: this.#keys,
      sealed,
      anchor,
      rows,
      ...omitUndefined({ expected }),
    });
    // Another host removed old records during the check, so the chain has a new beginning.
    const isStale = !report.isIntact && this.#anchor.get()?.mac !== anchor?.mac;
    return isStale ? this.verify(expected) : report;
  }

  /** Deletes the records before a time, and records where the chain begins now. The last record always stays. */
  prune(beforeMs: number): number {
    return this.#database.transaction(() => {
      const end = this.#trustedEnd();
      const kept = this.#database
        .prepare<{ number: number }>('SELECT number FROM audit WHERE at_ms >= ? ORDER BY number LIMIT 1')
        .get(beforeMs);
      const count = Math.min(kept?.number ?? end.count, end.count) - 1;
      const hash = this.#at.get(count)?.hash;
      return hash === undefined ? 0 : this.#cut({ count, hash }, 'retention');
    });
  }

  async restart(reason: string): Promise<ChainHead> {
    const sealed = this.#head.read();
    const last = this.#last.get();
    const count = Math.max(last?.number ?? 0, typeof sealed === 'string' ? 0 : sealed.count);
    // The new chain does not continue the old one, whose last hash may be an attacker's.
    const head = { count, hash: this.#keys.argumentsDigest(`${Date.now()} ${reason} ${last?.hash ?? ''}`) };
    const prepared = await this.#head.prepare(head);
    this.#database.transaction(() => {
      this.#cut(head, `restarted: ${reason}`);
      prepared.replace();
      this.#seen = head;
    });
    removeOrphans(this.#folder, this.#keys);
    return head;
  }

  #cut({ count, hash }: ChainHead, reason: string): number {
    const atMs = Date.now();
    const mac = this.#keys.macOf('anchor', count, hash, atMs, reason);
    this.#database
      .prepare('INSERT OR REPLACE INTO audit_anchor (id, count, hash, at_ms, reason, mac) VALUES (1, ?, ?, ?, ?, ?)')
      .run(count, hash, atMs, reason, mac);
    return this.#database.prepare('DELETE FROM audit WHERE number <= ?').run(count);
  }

  /** The end of the chain, if a host with this key has written it. */
  #trustedEnd(): ChainHead {
    const row = this.#last.get();
    if (row !== undefined && row.number === this.#seen.count && row.hash === this.#seen.hash) return this.#seen;
    if (row !== undefined) {
      if (!this.#keys.isMac(row.mac, 'record', row.hash))
        throw changed(`record ${row.number} was not written with this key`);
      if (row.number < this.#seen.count) throw changed(`records after ${row.number} are gone`);
    }
    const anchor = this.#anchor.get();
    if (anchor !== undefined && !this.#keys.isMac(anchor.mac, 'anchor', ...anchorParts(anchor)))
      throw changed('the note of what was removed was not written with this key');
    const end = row === undefined ? (anchor ?? GENESIS) : { count: row.number, hash: row.hash };
    const { count } = this.#trustedHead();
    if (end.count < count) throw changed(`records after ${end.count} are gone, there were ${count}`);
    return { count: end.count, hash: end.hash };
  }

  /** The sealed head, if the table has the record it names. */
  #trustedHead(): ChainHead {
    const head = this.#head.read();
    if (head === 'missing') throw changed('its sealed head, the file audit.head, is gone');
    if (head === 'forged') throw changed('its sealed head, the file audit.head, was not written with this key');
    const anchor = this.#anchor.get();
    // The record that the head names may have been pruned since.
    if (head.count === 0 || (anchor !== undefined && anchor.count > head.count)) return head;
    const hash = anchor?.count === head.count ? anchor.hash : this.#at.get(head.count)?.hash;
    if (hash !== head.hash) throw changed(`record ${head.count} is gone or another one than was sealed`);
    return head;
  }
}

function changed(what: string): HostError {
  return new HostError(
    'internal',
    `the audit log was changed from outside: ${what}; check it with: codemode audit verify`,
  );
}

/** After a commit the log may not be on the disk yet. If a power cut lost records that the head names, it would be a false alarm. */
async function syncFile(file: string): Promise<void> {
  try {
    const handle = await open(file, 'r+');
    await handle.datasync().finally(() => handle.close());
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
