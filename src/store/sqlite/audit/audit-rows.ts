import type { AuditFilter } from '../../../domain/audit.js';
import type { AuditRow } from '../../audit-keys.js';
import { COLUMNS } from '../../audit-records.js';
import type { Database } from '../database.js';

const PAGE_ROWS = 1_000;

/** Which rows to read: SQL and its values. */
export interface RowChoice {
  readonly where: string;
  readonly values: readonly (string | number)[];
}

/** Oldest first, page by page, because the table may be large. */
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
