import type { Sql } from '../database/connection.js';
import { addJobs, resumeJobs } from '../queue/jobs.js';

/**
 * Until the transaction ends, nobody else suspends these runs or decides about them. Without it a decision could miss a run that
 * is being suspended, and the run the decision: it would wait for nobody and not be resumed.
 */
export async function lockRuns(sql: Sql, runIds: readonly string[]): Promise<void> {
  const keys = [...new Set(runIds)].sort();
  for (const runId of keys) await sql.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 24))', [runId]);
}

/** Lets hosts resume those of these runs that wait for nobody any more. */
export async function markReady(sql: Sql, runIds: readonly string[]): Promise<void> {
  if (runIds.length === 0) return;
  const ready = await sql.query<{ id: string }>(
    `UPDATE codemode.runs SET is_ready = true WHERE id = ANY($1) AND state = 'suspended' AND NOT is_ready
      AND NOT EXISTS (SELECT 1 FROM codemode.approvals WHERE approvals.run = runs.id AND approvals.state = 'PENDING')
      RETURNING id`,
    [runIds],
  );
  await addJobs(sql, resumeJobs(ready.map(({ id }) => id)));
}

/** The same for runs that were written past us, as by a copy of another store. Reads all suspended runs; a heartbeat adds their jobs. */
export async function markAllReady(sql: Sql): Promise<void> {
  await sql.change(
    `UPDATE codemode.runs SET is_ready = true WHERE state = 'suspended' AND NOT is_ready
      AND NOT EXISTS (SELECT 1 FROM codemode.approvals WHERE approvals.run = runs.id AND approvals.state = 'PENDING')`,
  );
}
