import type { Sql } from '../database/connection.js';

/** The tables of the queue library, beside ours. */
export const QUEUE_SCHEMA = 'codemode_queue';

/** What hosts do for each other. Whichever host is free first takes a job. */
export type JobTask = 'resume_run' | 'expire_approvals' | 'clean_up';

export interface Job {
  readonly task: JobTask;
  readonly payload: object;
  /** A second job with the same key replaces the first one, unless that one is being worked on. */
  readonly key: string;
  /** Not before then, by the clock of the database; at once without it. */
  readonly atMs?: number;
}

const MAX_ATTEMPTS = 25;

/** Adds jobs as part of the caller's transaction: they exist exactly if the transaction is committed. */
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

/** Tells the hosts that these runs wait for nobody. A hint: who takes it must win the lease of the run. */
export function resumeJobs(runIds: readonly string[]): Job[] {
  return [...new Set(runIds)].map((run) => ({ task: 'resume_run', payload: { run }, key: resumeKey(run) }));
}

export function resumeKey(runId: string): string {
  return `run:${runId}`;
}

/** One job for all questions that expire in the same second. */
export function expireJob(expiresAtMs: number): Job {
  const atMs = Math.ceil(expiresAtMs / 1_000) * 1_000;
  return { task: 'expire_approvals', payload: {}, key: `expire:${atMs}`, atMs };
}

/** Jobs that would delete of the same caller become one. */
export function cleanUpJob(caller: string): Job {
  return { task: 'clean_up', payload: { caller }, key: `clean:${caller}` };
}
