import { SEAL_BYTES } from '../../../lib/secrets/sealed.js';
import { figuresIn } from '../../run-figures.js';
import type { AnswersOfDay, PlacedRun, RunChoice, StoredRun, StoredState } from '../../runs.js';
import type { Sql, SqlValue } from '../database/connection.js';
import { isUp } from '../host-lease.js';

/** The columns of a run that are not sealed. */
export interface RunRow {
  readonly id: string;
  readonly caller: string;
  readonly profile: string;
  readonly setting: string;
  readonly code_digest: string;
  readonly state: StoredState;
  readonly created_at: number;
  readonly updated_at: number;
  readonly duration_ms: number | null;
  readonly calls: number | null;
  readonly tool_bytes: number | null;
  readonly response_bytes: number | null;
  readonly is_held: boolean;
}

export const COLUMNS = `id, caller, profile, setting, code_digest, state, created_at, updated_at, duration_ms, calls, tool_bytes,
  greatest(0, length(response) - ${SEAL_BYTES}) AS response_bytes,
  (state = 'suspended' AND lease_owner IS NOT NULL AND ${isUp('lease_owner')}) AS is_held`;

export function readRow(row: RunRow): StoredRun {
  const { id, caller, profile, setting, state } = row;
  return {
    id,
    caller,
    profile,
    setting,
    codeDigest: row.code_digest,
    state,
    createdAtMs: row.created_at,
    updatedAtMs: row.updated_at,
    isHeld: row.is_held,
    durationMs: row.duration_ms ?? undefined,
    figures: figuresIn(row),
  };
}

export async function pageOfRuns(sql: Sql, choice: RunChoice, limit: number): Promise<PlacedRun[]> {
  const { states, caller, exceptCallers, profile, sinceMs, updatedAfterMs, after } = choice;
  const values: SqlValue[] = [];
  const add = (value: SqlValue) => `$${values.push(value)}`;
  const where = [
    ...(states === undefined ? [] : [`state = ANY(${add(states)})`]),
    ...(caller === undefined ? [] : [`caller = ${add(caller)}`]),
    ...(exceptCallers === undefined ? [] : [`caller <> ALL(${add(exceptCallers)})`]),
    ...(profile === undefined ? [] : [`profile = ${add(profile)}`]),
    ...(sinceMs === undefined ? [] : [`created_at >= ${add(sinceMs)}`]),
    ...(updatedAfterMs === undefined ? [] : [`updated_at > ${add(updatedAfterMs)}`]),
    ...(after === undefined ? [] : [`(created_at, place) < (${add(after.createdAtMs)}, ${add(after.rowid)})`]),
  ];
  const rows = await sql.query<RunRow & { place: number }>(
    `SELECT ${COLUMNS}, place FROM codemode.runs WHERE ${where.join(' AND ') || 'true'}
      ORDER BY created_at DESC, place DESC LIMIT ${add(limit)}`,
    values,
  );
  return rows.map((row) => ({ ...readRow(row), place: { createdAtMs: row.created_at, rowid: row.place } }));
}

/** Response bytes of the runs since a time, by day (UTC), without unsealing them. */
export async function answersByDay(
  sql: Sql,
  sinceMs: number,
  exceptCallers: readonly string[],
): Promise<AnswersOfDay[]> {
  return sql.query<AnswersOfDay>(
    `SELECT to_char(to_timestamp(updated_at / 1000.0) AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, count(*) AS runs,
        coalesce(sum(calls), 0)::bigint AS calls, coalesce(sum(tool_bytes), 0)::bigint AS "toolBytes",
        coalesce(sum(greatest(0, length(response) - ${SEAL_BYTES})), 0) AS bytes
      FROM codemode.runs WHERE state <> 'suspended' AND updated_at >= $1 AND caller <> ALL($2)
      GROUP BY day ORDER BY day`,
    [sinceMs, exceptCallers],
  );
}
