import type { AuditFilter, AuditRecord } from '../domain/audit.js';
import type { AuditRow, RowValues } from './audit-keys.js';
import type { Database } from './database.js';

/** In the order in which a record is written. */
export const COLUMNS =
  'number, at_ms, run_id, caller, profile, code_digest, server_id, tool_name, arguments_digest, result_bytes, duration_ms, verdict, approval, redactions, call_id, hash, mac';
const PAGE_ROWS = 1_000;

/** Which rows: SQL and the values in it. */
export interface RowChoice {
  readonly where: string;
  readonly values: readonly (string | number)[];
}

/** Oldest first, read page by page: the table may be large. */
export function* eachRow(database: Database, { where, values }: RowChoice = ALL): Generator<AuditRow> {
  const page = database.prepare<AuditRow>(
    `SELECT ${COLUMNS} FROM audit WHERE ${where} AND number > ? ORDER BY number LIMIT ${PAGE_ROWS}`,
  );
  for (let after = 0; ; ) {
    const rows = page.all(...values, after);
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE_ROWS) return;
    after = last.number;
  }
}

const ALL: RowChoice = { where: '1', values: [] };

export function conditions({ runId, serverId, toolName, sinceMs }: AuditFilter): RowChoice {
  const chosen: [string, string | number | undefined][] = [
    ['run_id = ?', runId],
    ['server_id = ?', serverId],
    ['tool_name = ?', toolName],
    ['at_ms >= ?', sinceMs],
  ];
  const used = chosen.filter((each): each is [string, string | number] => each[1] !== undefined);
  return { where: used.map(([sql]) => sql).join(' AND ') || '1', values: used.map(([, value]) => value) };
}

/** What the hash of a row covers, in the order of `COLUMNS`, with which every row is read. */
export function valuesIn({ hash, mac, ...said }: AuditRow): RowValues {
  return Object.values(said);
}

export function recordOf(row: AuditRow): AuditRecord {
  return {
    number: row.number,
    callId: row.call_id,
    atMs: row.at_ms,
    runId: row.run_id,
    caller: row.caller,
    profile: row.profile,
    codeDigest: row.code_digest,
    serverId: row.server_id,
    toolName: row.tool_name,
    argumentsDigest: row.arguments_digest,
    resultBytes: row.result_bytes,
    durationMs: row.duration_ms,
    verdict: row.verdict as AuditRecord['verdict'],
    approval: JSON.parse(row.approval) as AuditRecord['approval'],
    redactions: JSON.parse(row.redactions) as AuditRecord['redactions'],
    hash: row.hash,
  };
}
