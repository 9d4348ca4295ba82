import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needs } from '../../../test/support/needs.js';
import { PostgresServer } from '../../../test/support/postgres.js';
import { Postgres } from './connection.js';
import { addJob, type JobHandlers, migrateQueue, Queue, queueState } from './queue.js';

describe('jobs that any host takes', needs('postgresql'), () => {
  let server: PostgresServer;
  const closers: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(async () => {
    for (const close of closers.reverse()) await close();
    await server.close();
  });

  async function open(database?: string) {
    const postgres = await Postgres.open({ url: server.url(database ?? (await server.createDatabase())) });
    closers.push(() => postgres.close());
    return postgres;
  }

  async function start(postgres: Postgres, resume: (payload: unknown) => Promise<void>) {
    const nothing = async () => {};
    const handlers: JobHandlers = { resume_run: resume, expire_approvals: nothing, clean_up: nothing };
    const failed: unknown[] = [];
    const onFailed = (_: string, error: unknown) => failed.push(error);
    const queue = await Queue.start(postgres, { handlers, concurrency: 4, pollMs: 500, onFailed });
    closers.push(() => queue.close());
    return { queue, failed };
  }

  test('a job is done once by one of two hosts, and only if its transaction was committed', async () => {
    const postgres = await open();
    await migrateQueue(postgres);
    const done: unknown[] = [];
    await start(postgres, async (payload) => void done.push(payload));
    await start(postgres, async (payload) => void done.push(payload));
    const rolledBack = postgres.transaction(async (sql) => {
      await addJob(sql, 'resume_run', { run: 'never' });
      throw new RangeError('rolled back');
    });
    await expect(rolledBack).rejects.toThrow(RangeError);
    for (const run of ['a', 'b', 'c']) {
      await postgres.transaction((sql) => addJob(sql, 'resume_run', { run }, { key: `run:${run}` }));
    }
    await expect.poll(() => done.length, { timeout: 5_000 }).toBe(3);
    expect(done).toEqual(expect.arrayContaining([{ run: 'a' }, { run: 'b' }, { run: 'c' }]));
    await expect.poll(() => queueState(postgres)).toMatchObject({ ready: 0, taken: 0 });
  });

  test('a job for later waits, and what waits is counted', async () => {
    const postgres = await open();
    await migrateQueue(postgres);
    await addJob(postgres, 'resume_run', { run: 'later' }, { inMs: 60_000 });
    await addJob(postgres, 'resume_run', { run: 'now' });
    const state = await queueState(postgres);
    expect(state).toMatchObject({ ready: 1, later: 1, taken: 0 });
    expect(state.lagMs).toBeGreaterThanOrEqual(0);
  });

  test('a handler that throws is told of, and its job is tried again', async () => {
    const postgres = await open();
    await migrateQueue(postgres);
    let attempts = 0;
    const { failed } = await start(postgres, async () => {
      attempts += 1;
      if (attempts === 1) throw new Error('the first time');
    });
    await addJob(postgres, 'resume_run', {});
    await expect.poll(() => attempts, { timeout: 20_000 }).toBe(2);
    expect(failed).toHaveLength(1);
  });

  test('jobs are done after the database was restarted under the worker', async () => {
    const own = await PostgresServer.start();
    const postgres = await Postgres.open({ url: own.url('postgres') });
    const done: unknown[] = [];
    const { queue } = await start(postgres, async (payload) => void done.push(payload));
    try {
      await addJob(postgres, 'resume_run', { n: 1 });
      await expect.poll(() => done.length, { timeout: 5_000 }).toBe(1);
      await own.stop('immediate');
      await own.start();
      await addJob(postgres, 'resume_run', { n: 2 });
      await expect.poll(() => done.length, { timeout: 20_000 }).toBe(2);
    } finally {
      await queue.close();
      await postgres.close();
      await own.close();
    }
  });
});
