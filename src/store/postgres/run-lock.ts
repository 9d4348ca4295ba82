import type { Sql } from './connection.js';

/**
 * Until the transaction ends, nobody else suspends these runs or decides about them. Without it a decision could miss a run that
 * is being suspended, and the run the decision: it would wait for nobody and not be resumed.
 */
export async function lockRuns(sql: Sql, runIds: readonly string[]): Promise<void> {
  const keys = [...new Set(runIds)].sort();
  for (const runId of keys) await sql.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 24))', [runId]);
}

/** Marks runs that wait for nobody any more as ready to be resumed. How many there were. */
export async function markReady(sql: Sql, runIds: readonly string[]): Promise<number> {
  if (runIds.length === 0) return 0;
  return sql.change(
    `UPDATE codemode.runs SET is_ready = true WHERE id = ANY($1) AND state = 'suspended' AND NOT is_ready
      AND NOT EXISTS (SELECT 1 FROM codemode.approvals WHERE approvals.run = runs.id AND approvals.state = 'PENDING')`,
    [runIds],
  );
}
