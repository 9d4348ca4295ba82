import { hash } from 'node:crypto';
import * as z from 'zod';
import type { ChainHead } from '../../../domain/audit.js';
import { type AuditKeys, GENESIS } from '../../audit-keys.js';
import type { Postgres, Sql } from '../database/connection.js';

/** Hashes the ends of all chains together with the previous anchor. */
export interface AnchorRow {
  readonly number: number;
  readonly at_ms: number;
  readonly heads: string;
  readonly hash: string;
  readonly mac: string;
}

export type AnchoredHead = readonly [chain: string, count: number, hash: string];

const headsSchema = z.array(z.tuple([z.string(), z.number().int().nonnegative(), z.string()]));
/** Only one host makes an anchor at a time. */
const LOCK = 'SELECT pg_advisory_xact_lock(hashtextextended($1, 25))';

export function anchorHash({ number, at_ms, heads }: Omit<AnchorRow, 'hash' | 'mac'>, before: string): string {
  return hash('sha256', JSON.stringify(['codemode audit anchor', number, at_ms, heads, before]), 'hex');
}

/** Undefined if the text is not in our format. */
export function headsIn(text: string): readonly AnchoredHead[] | undefined {
  try {
    return headsSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

export async function lastAnchor(sql: Sql): Promise<AnchorRow | undefined> {
  const [row] = await sql.query<AnchorRow>('SELECT * FROM codemode.audit_anchors ORDER BY number DESC LIMIT 1');
  return row;
}

/** Anchors the growth of all chains since the last anchor. Undefined if no chain has grown. */
export function anchorAll(postgres: Postgres, keys: AuditKeys): Promise<ChainHead | undefined> {
  return postgres.transaction(async (sql) => {
    await sql.query(LOCK, ['audit anchor']);
    const grown = await sql.query<{ chain: string; number: number; hash: string }>(
      `SELECT chains.chain, last.number, last.hash FROM codemode.audit_chains AS chains
        CROSS JOIN LATERAL (SELECT number, hash FROM codemode.audit WHERE audit.chain = chains.chain
          ORDER BY number DESC LIMIT 1) AS last
        WHERE last.number > chains.anchored_count ORDER BY chains.chain`,
    );
    if (grown.length === 0) return undefined;
    const heads = JSON.stringify(grown.map((each): AnchoredHead => [each.chain, each.number, each.hash]));
    const head = await putAnchor(sql, keys, heads);
    await sql.change(
      `UPDATE codemode.audit_chains SET anchored_count = grown.number
        FROM unnest($1::text[], $2::bigint[]) AS grown (chain, number) WHERE audit_chains.chain = grown.chain`,
      [grown.map(({ chain }) => chain), grown.map(({ number }) => number)],
    );
    return head;
  });
}

/** Adds an anchor after the last one. The caller holds the anchor lock, or has deleted all anchors. */
export async function putAnchor(sql: Sql, keys: AuditKeys, heads: string): Promise<ChainHead> {
  const before = await lastAnchor(sql);
  const next = { number: (before?.number ?? 0) + 1, at_ms: Date.now(), heads };
  const hash = anchorHash(next, before?.hash ?? GENESIS.hash);
  await sql.change('INSERT INTO codemode.audit_anchors (number, at_ms, heads, hash, mac) VALUES ($1, $2, $3, $4, $5)', [
    next.number,
    next.at_ms,
    heads,
    hash,
    keys.macOf('head', next.number, hash),
  ]);
  return { count: next.number, hash };
}
