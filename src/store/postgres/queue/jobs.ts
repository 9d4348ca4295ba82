import type { Sql } from '../database/connection.js';

/** The schema of the queue library's tables, beside ours. */
export const QUEUE_SCHEMA = 'codemode_queue';

/** Work that hosts do for each other. The first free host takes a job. */
export type JobTask = 'resume_run' | 'expire_approvals' | 'clean_up';

export interface Job {
  readonly task: JobTask;
  readonly payload: object;
  /** A second job with the same key replaces the first, unless the first is in progress. */
  readonly key: string;
  /** The earliest start, by the database clock. Default: at once. */
  readonly atMs?: number;
}

const MAX_ATTEMPTS = 25;

/** Adds jobs in the caller's transaction: they exist only if the transaction is committed. */
export async function addJobs(sql: Sql, jobs: readonly Job[]): Promise<void> {
  if (jobs.length === 0) return;
  await sql.query(
    `SELECT count(*) FROM ${QUEUE_SCHEMA}.add_jobs(ARRAY(SELECT (task, payload::json, NULL, to_timestamp(at_ms / 1000.0),
        ${MAX_ATTEMPTS}, key, NULL, NULL)::${QUEUE_SCHEMA}.job_spec
      FROM unnest($1::text[], $2::text[], $3::text[], $4::float8[]) AS given (task, payload, key, at_ms)))`,
    [
      jobs.map(({ task }) => task),
      jobs.map(({ payload }) => JSON.stringify(payload)),
      jobs.map(({ key }) => key),
      jobs.map(({ atMs }) => atMs ?? null),
    ],
  );
}

/** Tells the hosts that these runs have no pending approval. A hint: the host that takes the job must still win the run's lease. */
export function resumeJobs(runIds: readonly string[]): Job[] {
  return [...new Set(runIds)].map((run) => ({ task: 'resume_run', payload: { run }, key: resumeKey(run) }));
}

export function resumeKey(runId: string): string {
  return `run:${runId}`;
}

/** One job for all approvals that expire in the same second. */
export function expireJob(expiresAtMs: number): Job {
  const atMs = Math.ceil(expiresAtMs / 1_000) * 1_000;
  return { task: 'expire_approvals', payload: {}, key: `expire:${atMs}`, atMs };
}

/** Clean-up jobs for the same caller are merged into one. */
export function cleanUpJob(caller: string): Job {
  return { task: 'clean_up', payload: { caller }, key: `clean:${caller}` };
}
