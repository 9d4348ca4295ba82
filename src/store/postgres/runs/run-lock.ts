import type { Sql } from '../database/connection.js';
import { addJobs, resumeJobs } from '../queue/jobs.js';

/**
 * Until the transaction ends, nobody else suspends these runs or decides about them. Without the lock a decision and a concurrent
 * suspend could miss each other: the run would wait for no approval and never be resumed.
 */
export async function lockRuns(sql: Sql, runIds: readonly string[]): Promise<void> {
  const keys = [...new Set(runIds)].sort();
  for (const runId of keys) await sql.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 24))', [runId]);
}

/** Marks those runs ready that have no pending approval, so that hosts can resume them. */
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

/** The same for runs written by other means, such as a copy of another store. Reads all suspended runs. A heartbeat adds their jobs. */
export async function markAllReady(sql: Sql): Promise<void> {
  await sql.change(
    `UPDATE codemode.runs SET is_ready = true WHERE state = 'suspended' AND NOT is_ready
      AND NOT EXISTS (SELECT 1 FROM codemode.approvals WHERE approvals.run = runs.id AND approvals.state = 'PENDING')`,
  );
}
