import type { AuditFilter, AuditRecord, ChainHead, ChainReport } from '../../../domain/audit.js';
import { HostError } from '../../../domain/errors.js';
import type { AuditStore, AuditWriter, AuditWriterOptions } from '../../audit.js';
import { SealedHead } from '../../audit-head.js';
import { AuditKeys, type AuditRow } from '../../audit-keys.js';
import { COLUMNS, recordOf } from '../../audit-records.js';
import type { Postgres, Sql, SqlValue } from '../database/connection.js';
import { type HostLease, isUp } from '../host-lease.js';
import { anchorAll, lastAnchor, putAnchor } from './audit-anchors.js';
import { endOf, insertRecords, linkAll, macOfChain } from './audit-chain.js';
import { verifyAll } from './audit-verify.js';
import { ChainWriter } from './audit-writer.js';

const PAGE_ROWS = 1_000;
const ANCHOR_EVERY_MS = 1_000;
const PRUNE_EVERY_MS = 6 * 3_600_000;

/**
 * Records of the calls of all hosts. Each host has its own chain, to which only it appends. Anchors hash the ends of all chains
 * together. The last anchor that this machine has seen is sealed in its state folder, so restoring an older copy of the database is
 * detected.
 */
export class PostgresAuditStore implements AuditStore {
  readonly #postgres: Postgres;
  readonly #keys: AuditKeys;
  readonly #host: HostLease;
  readonly #seen: SealedHead;
  #anchorTimer: NodeJS.Timeout | undefined;
  #prunedAt = 0;
  #retentionMs: number | undefined;

  constructor(postgres: Postgres, key: Uint8Array, host: HostLease, stateFolder: string) {
    this.#postgres = postgres;
    this.#keys = new AuditKeys(key);
    this.#host = host;
    this.#seen = new SealedHead(stateFolder, this.#keys, 'audit-anchor.head');
    host.onBeat(() => this.adoptOrphans());
  }

  argumentsDigest(json: string): string {
    return this.#keys.argumentsDigest(json);
  }

  async probe(): Promise<void> {
    const anchor = await lastAnchor(this.#postgres);
    if (anchor !== undefined && !this.#keys.isMac(anchor.mac, 'head', anchor.number, anchor.hash))
      throw changed(`anchor ${anchor.number} was not written with this key`);
    const seen = this.#seen.read();
    if (typeof seen !== 'string' && seen.count > (anchor?.number ?? 0))
      throw changed(`anchors after ${anchor?.number ?? 0} are gone, there were ${seen.count}`);
  }

  async isUsable(): Promise<boolean> {
    try {
      await this.probe();
      return true;
    } catch {
      return false;
    }
  }

  /** Adds an unknown outcome for each call in flight to the chains of hosts that are gone. */
  async adoptOrphans(): Promise<void> {
    const orphans = await this.#postgres.query<{ chain: string }>(
      `SELECT chain FROM codemode.audit_chains WHERE NOT is_over AND NOT ${isUp('audit_chains.host')} LIMIT 100`,
    );
    for (const { chain } of orphans) await this.#postgres.transaction((sql) => this.#adopt(sql, chain));
  }

  async #adopt(sql: Sql, chain: string): Promise<void> {
    // If its host is only slow, it cannot append from here on. Another host that found the chain too waits, and then finds it closed.
    const [locked] = await sql.query(
      `SELECT 1 FROM codemode.audit_chains WHERE chain = $1 AND NOT is_over AND NOT ${isUp('audit_chains.host')} FOR UPDATE`,
      [chain],
    );
    if (locked === undefined) return;
    const open = await sql.query<AuditRow>(
      `SELECT ${COLUMNS} FROM codemode.audit AS sent WHERE chain = $1 AND verdict = 'sent' AND NOT EXISTS
        (SELECT 1 FROM codemode.audit AS ended WHERE ended.chain = $1 AND ended.call_id = sent.call_id AND ended.verdict <> 'sent')
        ORDER BY number`,
      [chain],
    );
    const end = await endOf(sql, chain);
    if (end?.mac !== undefined && !this.#keys.isMac(end.mac, 'record', end.hash))
      throw changed(`record ${end.count} of chain ${chain} was not written with this key`);
    const entries = open.map((row) => ({ ...recordOf(row), verdict: 'outcome_unknown' as const }));
    if (end !== undefined && entries.length > 0) await insertRecords(sql, chain, linkAll(entries, end, this.#keys));
    await sql.change('UPDATE codemode.audit_chains SET is_over = true WHERE chain = $1', [chain]);
  }

  openWriter(host: string, options: AuditWriterOptions): Promise<AuditWriter> {
    this.#retentionMs = options.retentionMs;
    const anchorSoon = () => {
      this.#anchorTimer ??= setTimeout(() => void this.#anchor(), ANCHOR_EVERY_MS).unref();
    };
    const parts = { postgres: this.#postgres, keys: this.#keys, hostId: this.#host.id, anchorSoon };
    return ChainWriter.open(parts, host, options);
  }

  /** Anchors the latest records, and stops. */
  async close(): Promise<void> {
    if (this.#anchorTimer === undefined) return;
    clearTimeout(this.#anchorTimer);
    await this.#anchor();
  }

  /** Never rejects: what is not anchored now is anchored with the next records. */
  async #anchor(): Promise<void> {
    this.#anchorTimer = undefined;
    try {
      const head = await anchorAll(this.#postgres, this.#keys);
      if (head !== undefined) (await this.#seen.prepare(head)).replace();
      if (this.#retentionMs === undefined || Date.now() - this.#prunedAt < PRUNE_EVERY_MS) return;
      this.#prunedAt = Date.now();
      await this.prune(Date.now() - this.#retentionMs);
    } catch {
      // Anchored with the next records.
    }
  }

  async records(filter: AuditFilter, limit: number): Promise<AuditRecord[]> {
    return (await this.before(filter, undefined, limit)).reverse();
  }

  async before(filter: AuditFilter, before: number | undefined, limit: number): Promise<AuditRecord[]> {
    const { where, values } = conditions(filter, before === undefined ? [] : [['position < ', before]]);
    return this.#page(`${where} ORDER BY position DESC LIMIT $${values.length + 1}`, [...values, limit]);
  }

  async count(): Promise<number> {
    const [row] = await this.#postgres.query<{ count: number }>(
      'SELECT coalesce(max(position), 0) AS count FROM codemode.audit',
    );
    return row?.count ?? 0;
  }

  async runIdsWith(prefix: string, limit: number): Promise<string[]> {
    const rows = await this.#postgres.query<{ run_id: string }>(
      'SELECT DISTINCT run_id FROM codemode.audit WHERE starts_with(run_id, $1) ORDER BY run_id LIMIT $2',
      [prefix, limit],
    );
    return rows.map(({ run_id: runId }) => runId);
  }

  async *each(filter: AuditFilter): AsyncGenerator<AuditRecord> {
    for (let after = 0; ; ) {
      const { where, values } = conditions(filter, [['position > ', after]]);
      const page = await this.#page(`${where} ORDER BY position LIMIT ${PAGE_ROWS}`, values);
      yield* page;
      const last = page.at(-1);
      // Forged positions may not increase: stop, so that this cannot loop forever.
      if (last === undefined || page.length < PAGE_ROWS || last.number <= after) return;
      after = last.number;
    }
  }

  /** Lists number the records of all chains together. */
  async #page(where: string, values: readonly SqlValue[]): Promise<AuditRecord[]> {
    const rows = await this.#postgres.query<AuditRow & { position: number }>(
      `SELECT ${COLUMNS}, position FROM codemode.audit WHERE ${where}`,
      values,
    );
    return rows.map(({ position, ...row }) => ({ ...recordOf(row), number: position }));
  }

  async verify(expected?: ChainHead): Promise<ChainReport> {
    return verifyAll({ sql: this.#postgres, keys: this.#keys, sealed: this.#seen.read(), expected });
  }

  /** Deletes the records before a time from each chain and from the anchors, and records where each begins now. */
  async prune(beforeMs: number): Promise<number> {
    const chains = await this.#postgres.query<{ chain: string; is_over: boolean }>(
      'SELECT chain, is_over FROM codemode.audit_chains',
    );
    let removed = 0;
    for (const { chain, is_over } of chains)
      removed += await this.#postgres.transaction((sql) => this.#cut(sql, chain, is_over, beforeMs));
    await this.#postgres.change(
      `DELETE FROM codemode.audit_anchors WHERE at_ms < $1 AND number < (SELECT max(number) FROM codemode.audit_anchors)`,
      [beforeMs],
    );
    return removed;
  }

  /** The last record of an open chain stays. */
  async #cut(sql: Sql, chain: string, isOver: boolean, beforeMs: number): Promise<number> {
    const [last] = await sql.query<{ number: number; hash: string }>(
      `SELECT number, hash FROM codemode.audit WHERE chain = $1 AND number <= coalesce((SELECT min(number) - 1
          FROM codemode.audit WHERE chain = $1 AND at_ms >= $2), (SELECT max(number) FROM codemode.audit WHERE chain = $1))
        ORDER BY number DESC OFFSET $3 LIMIT 1`,
      [chain, beforeMs, isOver ? 0 : 1],
    );
    if (last === undefined) return 0;
    const begin = { count: last.number, hash: last.hash, at_ms: Date.now(), reason: 'retention' };
    await sql.change(
      'UPDATE codemode.audit_chains SET count = $2, hash = $3, at_ms = $4, reason = $5, mac = $6 WHERE chain = $1',
      [chain, begin.count, begin.hash, begin.at_ms, begin.reason, macOfChain(this.#keys, begin)],
    );
    return sql.change('DELETE FROM codemode.audit WHERE chain = $1 AND number <= $2', [chain, last.number]);
  }

  /** Every host begins a new chain with its next record. */
  async restart(_reason: string): Promise<ChainHead> {
    const head = await this.#postgres.transaction(async (sql) => {
      const [last] = await sql.query<{ number: number }>(
        'SELECT coalesce(max(number), 0) AS number FROM codemode.audit_anchors',
      );
      for (const table of ['audit', 'audit_chains', 'audit_anchors']) await sql.change(`DELETE FROM codemode.${table}`);
      const seen = this.#seen.read();
      const count = Math.max(last?.number ?? 0, typeof seen === 'string' ? 0 : seen.count);
      const hash = this.#keys.argumentsDigest(`${Date.now()} ${count}`);
      await sql.change(
        "INSERT INTO codemode.audit_anchors (number, at_ms, heads, hash, mac) VALUES ($1, $2, '[]', $3, $4)",
        [count + 1, Date.now(), hash, this.#keys.macOf('head', count + 1, hash)],
      );
      return putAnchor(sql, this.#keys, '[]');
    });
    (await this.#seen.prepare(head)).replace();
    return head;
  }
}

function conditions(filter: AuditFilter, more: readonly (readonly [string, number])[]) {
  const { runId, serverId, toolName, sinceMs } = filter;
  const chosen: (readonly [string, string | number | undefined])[] = [
    ['run_id = ', runId],
    ['server_id = ', serverId],
    ['tool_name = ', toolName],
    ['at_ms >= ', sinceMs],
    ...more,
  ];
  const used = chosen.filter((each): each is readonly [string, string | number] => each[1] !== undefined);
  const where = used.map(([sql], index) => `${sql}$${index + 1}`).join(' AND ') || 'true';
  return { where, values: used.map(([, value]) => value) };
}

function changed(what: string): HostError {
  return new HostError(
    'internal',
    `the audit log was changed from outside: ${what}; check it with: codemode audit verify`,
  );
}
