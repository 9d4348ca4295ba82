import type { ParsedCronItem, Runner } from 'graphile-worker';
import type { Pool } from 'pg';
import type { SharedQueueStatus } from '../../../domain/shared-store.js';
import type { Stop } from '../../../lib/async/awaitable.js';
import { pause } from '../../../lib/async/pause.js';
import type { Postgres, Sql } from '../database/connection.js';
import { type JobTask, QUEUE_SCHEMA } from './jobs.js';

/** Payloads come from the database, so each handler parses its own. */
export type JobHandlers = Readonly<Record<JobTask, (payload: unknown) => Promise<void>>>;

export interface QueueWork {
  readonly handlers: JobHandlers;
  /** Concurrent jobs in this process. */
  readonly atOnce: number;
}

/** A separate pool, so that neither a loaded host nor its jobs wait for each other: one connection listens, the others take jobs. */
const CONNECTIONS = 3;
/** How often each job slot polls for a job that was not announced. Behind a transaction pooler no job is announced. */
const POLL_MS = { direct: 2_000, pooled: 500 } as const;
/** How soon the library is restarted after the database was down for longer than the library waits. */
const RESTART_AFTER_MS = 1_000;
/** How often the clean-up without a caller runs, on one host. */
const CLEAN_UP_AT = '*/10 * * * *';
const MIGRATION_LOCK = 0x71756575;

/** Creates or upgrades the tables of the queue. Needs the owner's rights only if there is something to do. */
export async function migrateQueue(database: Postgres): Promise<void> {
  const { runMigrations } = await loadLibrary();
  // One host after the other, as with our own tables.
  await database.transaction(async (sql) => {
    await sql.query('SET LOCAL idle_in_transaction_session_timeout = 0');
    await sql.query('SET LOCAL lock_timeout = 0');
    await sql.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    const pool = database.newPool(1);
    try {
      await runMigrations(await libraryOptions(pool));
    } finally {
      await pool.end();
    }
  });
}

export async function hasQueue(sql: Sql): Promise<boolean> {
  const [table] = await sql.query<{ name: string | null }>(
    `SELECT to_regclass('${QUEUE_SCHEMA}._private_jobs') AS name`,
  );
  return table?.name != null;
}

/** Jobs that outlive the host that added them and that any host can take. graphile-worker does the work; see decision 0104. */
export class Queue {
  readonly #pool: Pool;
  readonly #work: QueueWork;
  readonly #pollMs: number;
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;
  #runner: Runner | undefined;

  constructor(database: Postgres, work: QueueWork) {
    this.#pool = database.newPool(CONNECTIONS);
    this.#pollMs = POLL_MS[database.isPooled ? 'pooled' : 'direct'];
    this.#work = work;
    this.#ended = this.#run();
  }

  /** Starts no further job. */
  readonly stop: Stop = () => {
    this.#stop.abort();
    void this.#runner?.stop().catch(() => {});
  };

  /** Resolves when the jobs in progress are done or were given back. */
  async close(): Promise<void> {
    this.stop();
    await this.#ended;
    if (!this.#pool.ending) await this.#pool.end();
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        this.#runner = await this.#start();
        if (this.#stop.signal.aborted) await this.#runner.stop();
        await this.#runner.promise;
      } catch {
        // The database was down for longer than the library waits. `repair` adds the jobs it held again.
      }
      await pause(RESTART_AFTER_MS, this.#stop.signal, { isRef: false });
    }
  }

  async #start(): Promise<Runner> {
    const { run, parseCronItems } = await loadLibrary();
    const options = { jobKey: 'clean_up', jobKeyMode: 'replace', maxAttempts: 1 } as const;
    const cleanUp: ParsedCronItem[] = parseCronItems([{ task: 'clean_up', match: CLEAN_UP_AT, options }]);
    return run({
      ...(await libraryOptions(this.#pool)),
      taskList: { ...this.#work.handlers },
      concurrency: this.#work.atOnce,
      pollInterval: this.#pollMs,
      // Our own signal handler ends the program, and drains first.
      noHandleSignals: true,
      parsedCronItems: cleanUp,
    });
  }
}

export async function queueState(sql: Sql): Promise<SharedQueueStatus> {
  if (!(await hasQueue(sql))) return { ready: 0, later: 0, taken: 0, lagMs: 0 };
  const [row] = await sql.query<{ ready: number; later: number; taken: number; lag_ms: number | null }>(
    `SELECT count(*) FILTER (WHERE locked_at IS NULL AND run_at <= now() AND attempts < max_attempts) AS ready,
        count(*) FILTER (WHERE locked_at IS NULL AND run_at > now() AND attempts < max_attempts) AS later,
        count(*) FILTER (WHERE locked_at IS NOT NULL) AS taken,
        extract(epoch FROM now() - min(greatest(run_at, now() - interval '1 year')) FILTER (WHERE locked_at IS NULL AND run_at <= now() AND attempts < max_attempts)) * 1000 AS lag_ms
      FROM ${QUEUE_SCHEMA}.jobs`,
  );
  return { ready: row?.ready ?? 0, later: row?.later ?? 0, taken: row?.taken ?? 0, lagMs: row?.lag_ms ?? 0 };
}

async function libraryOptions(pgPool: Pool) {
  const { Logger } = await loadLibrary();
  return {
    pgPool,
    schema: QUEUE_SCHEMA,
    // A pooler may give each statement another connection.
    noPreparedStatements: true,
    // The library would log every job to stdout, which belongs to the protocol.
    logger: new Logger(() => () => {}),
  };
}

async function loadLibrary(): Promise<typeof import('graphile-worker')> {
  const module = await import('graphile-worker');
  return (module as unknown as { default?: typeof import('graphile-worker') }).default ?? module;
}
