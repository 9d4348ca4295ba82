import type { Postgres, SqlValue } from '../database/connection.js';
import { lockRuns, markReady } from '../runs/run-lock.js';
import { announce } from './wakes.js';

/** Approvals store times in milliseconds. The database clock decides which have passed. */
export const NOW_MS = '(extract(epoch FROM now()) * 1000)::bigint';

/** Runs whose approvals are closed in one transaction. Each takes a lock, and the database has room for some thousands over all hosts. */
const RUNS_AT_ONCE = 200;

/** Closes approvals that nobody will decide. Their runs are resumed and learn that nobody decided. Returns how many were closed. */
export async function closeApprovals(postgres: Postgres, which: string, values: readonly SqlValue[]): Promise<number> {
  for (let total = 0; ; ) {
    const { runs, closed } = await closeSome(postgres, which, values);
    total += closed;
    if (runs < RUNS_AT_ONCE) return total;
  }
}

function closeSome(
  postgres: Postgres,
  which: string,
  values: readonly SqlValue[],
): Promise<{ readonly runs: number; readonly closed: number }> {
  return postgres.transaction(async (sql) => {
    const found = await sql.query<{ run: string }>(
      `SELECT DISTINCT run FROM codemode.approvals WHERE state = 'PENDING' AND ${which} LIMIT ${RUNS_AT_ONCE}`,
      values,
    );
    const runIds = found.map(({ run }) => run);
    if (runIds.length === 0) return { runs: 0, closed: 0 };
    await lockRuns(sql, runIds);
    const closed = await sql.change(
      `UPDATE codemode.approvals SET state = 'EXPIRED' WHERE state = 'PENDING' AND run = ANY($${values.length + 1}) AND ${which}`,
      [...values, runIds],
    );
    await markReady(sql, runIds);
    await announce(sql);
    return { runs: runIds.length, closed };
  });
}

export function expireApprovals(postgres: Postgres): Promise<number> {
  return closeApprovals(postgres, `expires_at <= ${NOW_MS}`, []);
}
