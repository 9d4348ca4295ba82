import type { Sql } from '../database/connection.js';
import { isUp } from '../host-lease.js';
import { NOW_MS } from './close-approvals.js';
import { addJobs, expireJob, QUEUE_SCHEMA, resumeJobs, resumeKey } from './jobs.js';

/** SQL: a suspended run that is ready and that no live host holds. */
export const RESUMABLE = `state = 'suspended' AND is_ready AND (lease_owner IS NULL OR NOT ${isUp('lease_owner')})`;

/** The most runs whose jobs are added again with one heartbeat. */
const MAX_REPAIRED = 500;
/** An approval that is still pending this long after its expiry has lost its job. */
const OVERDUE_MS = 5_000;

/** Adds jobs that no host was told of, or whose host died with them: the library would return those only after four hours. */
export async function addLostJobs(sql: Sql): Promise<void> {
  // In random order: runs that no host can resume must not hide others. A run whose job failed does not wait for the library, which
  // would retry after seconds, then minutes, then hours.
  const forgotten = await sql.query<{ id: string }>(
    `SELECT id FROM codemode.runs WHERE ${RESUMABLE} AND NOT EXISTS (SELECT 1 FROM ${QUEUE_SCHEMA}.jobs
        WHERE jobs.key = '${resumeKey('')}' || runs.id AND jobs.locked_at IS NULL AND jobs.run_at <= now()
          AND jobs.attempts < jobs.max_attempts)
      ORDER BY random() LIMIT ${MAX_REPAIRED}`,
  );
  const [overdue] = await sql.query<{ now_ms: number }>(
    `SELECT ${NOW_MS} AS now_ms FROM codemode.approvals
      WHERE state = 'PENDING' AND expires_at <= ${NOW_MS} - ${OVERDUE_MS} LIMIT 1`,
  );
  await addJobs(sql, [
    ...resumeJobs(forgotten.map(({ id }) => id)),
    ...(overdue === undefined ? [] : [expireJob(overdue.now_ms)]),
  ]);
}
