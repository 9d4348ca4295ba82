import type { ChainHead, ChainReport } from '../../../domain/audit.js';
import { omitUndefined } from '../../../lib/omit-undefined.js';
import { type AuditKeys, type AuditRow, anchorParts, GENESIS, type ReadHead } from '../../audit-keys.js';
import { COLUMNS } from '../../audit-records.js';
import { problemOf } from '../../audit-verify.js';
import type { Sql } from '../database/connection.js';
import { type AnchorRow, anchorHash, headsIn } from './audit-anchors.js';
import type { ChainRow } from './audit-chain.js';

const PAGE_ROWS = 1_000;

export interface Verification {
  readonly sql: Sql;
  readonly keys: AuditKeys;
  /** The last anchor that this machine has seen. The database must still have it. */
  readonly sealed: ReadHead;
  /** An anchor that was noted down earlier. */
  readonly expected: ChainHead | undefined;
}

type Problem = NonNullable<ChainReport['problem']>;

/** Walks all anchors and all chains. Stops at the first problem. */
export async function verifyAll({ sql, keys, sealed, expected }: Verification): Promise<ChainReport> {
  const anchors = await readAnchors(sql, keys);
  const head = anchors.head;
  const isKnown = typeof sealed !== 'string';
  let chainCount = 0;
  const report = (records: number, problem?: Problem): ChainReport => ({
    isIntact: problem === undefined,
    records,
    first: 1,
    head,
    chains: chainCount,
    ...(isKnown ? { sealed } : {}),
    ...omitUndefined({ problem }),
  });
  if (anchors.problem !== undefined) return report(0, anchors.problem);
  if (sealed === 'forged')
    return report(0, {
      record: head.count,
      reason: 'the last anchor that this machine has seen was changed (audit.head)',
    });
  for (const named of [
    ...(isKnown ? [{ ...sealed, by: 'this machine has seen' }] : []),
    ...(expected === undefined ? [] : [{ ...expected, by: 'was noted down' }]),
  ]) {
    const isCut = named.count < anchors.first;
    if (!isCut && anchors.hashes.get(named.count) !== named.hash && named.count > 0)
      return report(0, {
        record: named.count,
        reason: `anchor ${named.count} is gone or another one than ${named.by}`,
      });
  }
  let records = 0;
  const chains = await sql.query<ChainRow>(
    'SELECT chain, count, hash, at_ms, reason, mac FROM codemode.audit_chains ORDER BY started_at, chain',
  );
  chainCount = chains.length;
  for (const chain of chains) {
    const walked = await walk(sql, keys, chain, anchors.heads.get(chain.chain) ?? new Map());
    records += walked.records;
    if (walked.problem !== undefined) return report(records, walked.problem);
  }
  const known = new Set(chains.map(({ chain }) => chain));
  const missing = [...anchors.heads.keys()].find((chain) => !known.has(chain));
  if (missing !== undefined)
    return report(records, { record: 0, reason: `the chain ${missing} is gone: an anchor names it` });
  // Lists show records of all chains, so a record must not name an unknown chain.
  const [invented] = await sql.query<{ chain: string; number: number }>(
    `SELECT chain, number FROM codemode.audit WHERE NOT EXISTS
      (SELECT 1 FROM codemode.audit_chains WHERE audit_chains.chain = audit.chain) LIMIT 1`,
  );
  if (invented !== undefined)
    return report(records, { record: invented.number, reason: `no host has begun the chain ${invented.chain}` });
  return report(records);
}

/** Walks one chain from its beginning. `anchored`: the hashes that it must have, by record number. */
async function walk(sql: Sql, keys: AuditKeys, chain: ChainRow, anchored: ReadonlyMap<number, string>) {
  const of = `chain ${chain.chain}`;
  if (!keys.isMac(chain.mac, 'anchor', ...anchorParts(chain)))
    return {
      records: 0,
      problem: { record: chain.count, reason: `${of}: where it begins was not written by a host with this key` },
    };
  let head: ChainHead = { count: chain.count, hash: chain.hash };
  let records = 0;
  for (;;) {
    const rows = await sql.query<AuditRow>(
      `SELECT ${COLUMNS} FROM codemode.audit WHERE chain = $1 AND number > $2 ORDER BY number LIMIT ${PAGE_ROWS}`,
      [chain.chain, records === 0 ? 0 : head.count],
    );
    for (const row of rows) {
      const problem = problemOf(row, head, keys);
      if (problem !== undefined) return { records, problem: { record: row.number, reason: `${of}: ${problem}` } };
      const named = anchored.get(row.number);
      if (named !== undefined && named !== row.hash)
        return {
          records,
          problem: { record: row.number, reason: `${of}: an anchor has another hash for this record` },
        };
      head = { count: row.number, hash: row.hash };
      records++;
    }
    if (rows.length < PAGE_ROWS) break;
  }
  const last = Math.max(0, ...anchored.keys());
  return last > head.count
    ? {
        records,
        problem: {
          record: head.count + 1,
          reason: `${of} ends at ${head.count}, but an anchor names record ${last}: the last ${last - head.count} are gone`,
        },
      }
    : { records, problem: undefined };
}

async function readAnchors(sql: Sql, keys: AuditKeys) {
  const rows = await sql.query<AnchorRow>('SELECT * FROM codemode.audit_anchors ORDER BY number');
  const hashes = new Map<number, string>();
  const heads = new Map<string, Map<number, string>>();
  const first = rows[0]?.number ?? 0;
  let head: ChainHead = GENESIS;
  let problem: Problem | undefined;
  for (const row of rows) {
    const named = headsIn(row.heads);
    // The anchors before the first one were deleted because of their age. The mac of the first one authenticates it.
    const isNext =
      row.number === first ? keys.isMac(row.mac, 'head', row.number, row.hash) : row.number === head.count + 1;
    const isWhole = row.number === first && first > 1 ? true : anchorHash(row, head.hash) === row.hash;
    if (!isNext || !isWhole || named === undefined || !keys.isMac(row.mac, 'head', row.number, row.hash)) {
      problem = { record: row.number, reason: `anchor ${row.number} was changed, or one before it is gone` };
      break;
    }
    for (const [chain, count, hash] of named) {
      const known = heads.get(chain) ?? new Map<number, string>();
      heads.set(chain, known.set(count, hash));
    }
    head = { count: row.number, hash: row.hash };
    hashes.set(row.number, row.hash);
  }
  return { first, head, hashes, heads, problem };
}
