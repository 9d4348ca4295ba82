import type { ParsedCronItem, Runner } from 'graphile-worker';
import type { SharedQueueStatus } from '../../domain/shared-store.js';
import type { Postgres, Sql } from './connection.js';

/** The tables of the queue library, beside ours. */
export const QUEUE_SCHEMA = 'codemode_queue';

/** What hosts do for each other. Whichever host is free first takes a job. */
export type QueueTask = 'resume_run' | 'expire_approvals' | 'clean_up';

export interface JobOptions {
  /** A second job with the same key replaces the first one, unless that one is being worked on. */
  readonly key?: string;
  /** Not before then, by the clock of the database. */
  readonly inMs?: number;
}

/** What a job was given comes out of the database: its author parses it. */
export type JobHandlers = Readonly<Record<QueueTask, (payload: unknown) => Promise<void>>>;

export interface QueueOptions {
  readonly handlers: JobHandlers;
  /** Jobs at once in this process. Most of a job's time is spent waiting for the database. */
  readonly concurrency: number;
  /** How soon a job is seen where no announcement arrives, as behind a transaction pooler. */
  readonly pollMs: number;
  /** A handler threw: the job is tried again, ever later. */
  onFailed(task: string, error: unknown): void;
}

const MAX_ATTEMPTS = 25;
/** Every minute, on one host. */
const EVERY_MINUTE: readonly QueueTask[] = ['expire_approvals', 'clean_up'];

/** Adds a job as part of the caller's transaction: it exists exactly if the transaction is committed. */
export async function addJob(
  sql: Sql,
  task: QueueTask,
  payload: object,
  { key, inMs = 0 }: JobOptions = {},
): Promise<void> {
  await sql.query(
    `SELECT ${QUEUE_SCHEMA}.add_job($1, payload := $2::json, job_key := $3, max_attempts := $4,
      run_at := now() + $5 * interval '1 millisecond')`,
    [task, JSON.stringify(payload), key ?? null, MAX_ATTEMPTS, inMs],
  );
}

/** Creates or upgrades the tables of the queue. Needs the rights of the owner only where there is something to do. */
export async function migrateQueue(database: Postgres): Promise<void> {
  const { runMigrations } = await loadLibrary();
  await runMigrations({ ...(await sharedOptions(database)) });
}

/** Jobs that outlive the host that added them, worked on by any host. graphile-worker does the work; see decision 0080. */
export class Queue {
  readonly #runner: Runner;

  private constructor(runner: Runner) {
    this.#runner = runner;
  }

  static async start(database: Postgres, { handlers, concurrency, pollMs, onFailed }: QueueOptions): Promise<Queue> {
    const { run, parseCronItems } = await loadLibrary();
    const cron: ParsedCronItem[] = parseCronItems(
      EVERY_MINUTE.map((task) => ({
        task,
        match: '* * * * *',
        options: { maxAttempts: 1, jobKey: task, jobKeyMode: 'replace' },
      })),
    );
    const runner = await run({
      ...(await sharedOptions(database)),
      taskList: Object.fromEntries(
        Object.entries(handlers).map(([task, handle]) => [
          task,
          async (payload: unknown) => {
            try {
              await handle(payload);
            } catch (error) {
              onFailed(task, error);
              throw error;
            }
          },
        ]),
      ),
      concurrency,
      pollInterval: pollMs,
      // Ours ends the program, and drains first.
      noHandleSignals: true,
      parsedCronItems: cron,
    });
    // A database that goes away for longer than the library waits ends it with an error; nobody else handles that.
    runner.promise.catch(() => {});
    return new Queue(runner);
  }

  /** Settles when the library gave up on the database: then it must be started again. */
  get ended(): Promise<void> {
    return this.#runner.promise;
  }

  /** Jobs under way are finished, no new one is begun. */
  async close(): Promise<void> {
    await this.#runner.stop().catch(() => {});
  }
}

export async function queueState(sql: Sql): Promise<SharedQueueStatus> {
  const [table] = await sql.query<{ name: string | null }>(`SELECT to_regclass('${QUEUE_SCHEMA}.jobs') AS name`);
  if (table?.name === null) return { ready: 0, later: 0, taken: 0, lagMs: 0 };
  const [row] = await sql.query<{ ready: number; later: number; taken: number; lag_ms: number | null }>(
    `SELECT count(*) FILTER (WHERE locked_at IS NULL AND run_at <= now() AND attempts < max_attempts) AS ready,
        count(*) FILTER (WHERE locked_at IS NULL AND run_at > now() AND attempts < max_attempts) AS later,
        count(*) FILTER (WHERE locked_at IS NOT NULL) AS taken,
        extract(epoch FROM now() - min(run_at) FILTER (WHERE locked_at IS NULL AND run_at <= now() AND attempts < max_attempts)) * 1000 AS lag_ms
      FROM ${QUEUE_SCHEMA}.jobs`,
  );
  return { ready: row?.ready ?? 0, later: row?.later ?? 0, taken: row?.taken ?? 0, lagMs: row?.lag_ms ?? 0 };
}

async function sharedOptions(database: Postgres) {
  const { Logger } = await loadLibrary();
  return {
    pgPool: database.pool,
    schema: QUEUE_SCHEMA,
    // A pooler may give each statement another connection.
    noPreparedStatements: true,
    // It would write every job to stdout, which belongs to the protocol.
    logger: new Logger(() => () => {}),
  };
}

async function loadLibrary(): Promise<typeof import('graphile-worker')> {
  const module = await import('graphile-worker');
  return (module as unknown as { default?: typeof import('graphile-worker') }).default ?? module;
}
