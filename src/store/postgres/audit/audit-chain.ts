import { hash } from 'node:crypto';
import type { AuditEntry, ChainHead } from '../../../domain/audit.js';
import { type Anchor, type AuditKeys, type AuditRow, hashOf, type RowValues, valuesOf } from '../../audit-keys.js';
import { COLUMNS } from '../../audit-records.js';
import type { Sql } from '../database/connection.js';

/** A record with its place in a chain. */
export interface LinkedRecord {
  readonly entry: AuditEntry;
  readonly head: ChainHead;
  readonly values: RowValues;
}

/** Where a chain begins, according to its row. */
export type ChainRow = Anchor & { readonly chain: string };

/** The types of `COLUMNS`, in the same order. */
const TYPES =
  'bigint, bigint, text, text, text, text, text, text, text, bigint, float8, text, text, text, text, text, text'.split(
    ', ',
  );

/** The head before the first record. It differs by chain, so a record of one chain does not fit into another. */
export function genesisOf(chain: string): ChainHead {
  return { count: 0, hash: hash('sha256', JSON.stringify(['codemode audit chain', chain]), 'hex') };
}

/** Links the records to each other, after the end of the chain. */
export function linkAll(entries: readonly AuditEntry[], end: ChainHead, keys: AuditKeys): LinkedRecord[] {
  let head = end;
  return entries.map((entry) => {
    const values = valuesOf(entry, head.count + 1);
    head = { count: head.count + 1, hash: hashOf(values, head.hash) };
    return { entry, head, values: [...values, head.hash, keys.macOf('record', head.hash)] };
  });
}

/** Appends records to a chain that is still open. Returns how many were added: a record that was already written is skipped. */
export function insertRecords(sql: Sql, chain: string, records: readonly LinkedRecord[]): Promise<number> {
  const columns = TYPES.map((_, index) => records.map(({ values }) => values[index] ?? null));
  const arrays = TYPES.map((type, index) => `$${index + 2}::${type}[]`).join(', ');
  return sql.change(
    `WITH open AS (SELECT chain FROM codemode.audit_chains WHERE chain = $1 AND NOT is_over FOR SHARE)
      INSERT INTO codemode.audit (chain, ${COLUMNS}) SELECT open.chain, record.* FROM open, unnest(${arrays}) AS record
      ON CONFLICT (chain, number) DO NOTHING`,
    [chain, ...columns],
  );
}

/** Begins a chain for a host. */
export async function beginChain(sql: Sql, chain: string, host: string, keys: AuditKeys): Promise<ChainHead> {
  const genesis = genesisOf(chain);
  const atMs = Date.now();
  await sql.change(
    `INSERT INTO codemode.audit_chains (chain, host, started_at, hash, at_ms, mac) VALUES ($1, $2, $3, $4, $3, $5)
      ON CONFLICT (chain) DO NOTHING`,
    [chain, host, atMs, genesis.hash, macOfChain(keys, { ...genesis, at_ms: atMs, reason: '' })],
  );
  return genesis;
}

export function macOfChain(keys: AuditKeys, { count, hash, at_ms, reason }: Omit<Anchor, 'mac'>): string {
  return keys.macOf('anchor', count, hash, at_ms, reason);
}

/** The end of a chain, or its beginning if it has no records. */
export async function endOf(sql: Sql, chain: string): Promise<(ChainHead & { readonly mac?: string }) | undefined> {
  const [last] = await sql.query<Pick<AuditRow, 'number' | 'hash' | 'mac'>>(
    'SELECT number, hash, mac FROM codemode.audit WHERE chain = $1 ORDER BY number DESC LIMIT 1',
    [chain],
  );
  if (last !== undefined) return { count: last.number, hash: last.hash, mac: last.mac };
  const [begin] = await sql.query<ChainHead>('SELECT count, hash FROM codemode.audit_chains WHERE chain = $1', [chain]);
  return begin;
}
