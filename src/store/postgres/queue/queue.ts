import type { ParsedCronItem, Runner } from 'graphile-worker';
import type { Pool } from 'pg';
import type { SharedQueueStatus } from '../../../domain/shared-store.js';
import type { Stop } from '../../../lib/async/awaitable.js';
import { pause } from '../../../lib/async/pause.js';
import type { Postgres, Sql } from '../database/connection.js';
import { type JobTask, QUEUE_SCHEMA } from './jobs.js';

/** What a job was given comes out of the database: its author parses it. */
export type JobHandlers = Readonly<Record<JobTask, (payload: unknown) => Promise<void>>>;

export interface QueueWork {
  readonly handlers: JobHandlers;
  /** Jobs at once in this process. */
  readonly atOnce: number;
}

/** Its own, so that neither a host under load nor its jobs wait for each other: one listens, the others take jobs. */
const CONNECTIONS = 3;
/** How often each of a host's places looks for a job that it was not told of. Behind a transaction pooler it is told of none. */
const POLL_MS = { direct: 2_000, pooled: 500 } as const;
/** How soon the library is started again after the database was away for longer than it waits. */
const RESTART_AFTER_MS = 1_000;
/** What nobody asked for is cleaned up so often, on one host. */
const CLEAN_UP_AT = '*/10 * * * *';
const MIGRATION_LOCK = 0x71756575;

/** Creates or upgrades the tables of the queue. Needs the rights of the owner only where there is something to do. */
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
  const [table] = await sql.query<{ name: string | null }>(`SELECT to_regclass('${QUEUE_SCHEMA}.jobs') AS name`);
  return table?.name != null;
}

/** Jobs that outlive the host that added them, worked on by any host. graphile-worker does the work; see decision 0104. */
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

  /** Begins no job from now on. */
  readonly stop: Stop = () => {
    this.#stop.abort();
    void this.#runner?.stop().catch(() => {});
  };

  /** Resolves when the jobs under way are done, or were given back. */
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
        // The database was away for longer than the library waits. Jobs that it held are added again by `repair`.
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
      // Ours ends the program, and drains first.
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
    // It would write every job to stdout, which belongs to the protocol.
    logger: new Logger(() => () => {}),
  };
}

async function loadLibrary(): Promise<typeof import('graphile-worker')> {
  const module = await import('graphile-worker');
  return (module as unknown as { default?: typeof import('graphile-worker') }).default ?? module;
}
