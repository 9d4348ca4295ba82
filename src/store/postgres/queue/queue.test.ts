import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needs } from '../../../../test/support/needs.js';
import { PATIENT, PostgresServer } from '../../../../test/support/postgres.js';
import { Postgres } from '../database/connection.js';
import { addJobs, expireJob, type Job, resumeJobs } from './jobs.js';
import { type JobHandlers, migrateQueue, Queue, queueState } from './queue.js';

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

  async function open() {
    const postgres = await Postgres.open({ url: server.url(await server.createDatabase()), ...PATIENT });
    closers.push(() => postgres.close());
    await migrateQueue(postgres);
    return postgres;
  }

  function start(postgres: Postgres, resume: (payload: unknown) => Promise<void>) {
    const nothing = async () => {};
    const handlers: JobHandlers = { resume_run: resume, expire_approvals: nothing, clean_up: nothing };
    const queue = new Queue(postgres, { handlers, atOnce: 4 });
    closers.push(() => queue.close());
    return queue;
  }

  test('a job is done once by one of two hosts, and only if its transaction was committed', async () => {
    const postgres = await open();
    const done: unknown[] = [];
    start(postgres, async (payload) => void done.push(payload));
    start(postgres, async (payload) => void done.push(payload));
    const rolledBack = postgres.transaction(async (sql) => {
      await addJobs(sql, resumeJobs(['never']));
      throw new RangeError('rolled back');
    });
    await expect(rolledBack).rejects.toThrow(RangeError);
    await postgres.transaction((sql) => addJobs(sql, resumeJobs(['a', 'b', 'c', 'a'])));
    await expect.poll(() => done.length, { timeout: 5_000 }).toBe(3);
    expect(done).toEqual(expect.arrayContaining([{ run: 'a' }, { run: 'b' }, { run: 'c' }]));
    await expect.poll(() => queueState(postgres)).toMatchObject({ ready: 0, taken: 0 });
  });

  test('a job for later waits, and what waits is counted', async () => {
    const postgres = await open();
    const later = Date.now() + 60_000;
    await addJobs(postgres, [expireJob(later), ...resumeJobs(['now'])]);
    // The second of both is the same one.
    await addJobs(postgres, [expireJob(later)]);
    const state = await queueState(postgres);
    expect(state).toMatchObject({ ready: 1, later: 1, taken: 0 });
    expect(state.lagMs).toBeGreaterThanOrEqual(0);
  });

  test('a job whose handler throws is tried again', async () => {
    const postgres = await open();
    let attempts = 0;
    start(postgres, async () => {
      attempts += 1;
      if (attempts === 1) throw new Error('the first time');
    });
    await addJobs(postgres, resumeJobs(['a']));
    await expect.poll(() => attempts, { timeout: 20_000 }).toBe(2);
  });

  test('a job that a dead host has taken is done by another once it is added again', async () => {
    const postgres = await open();
    const [job] = resumeJobs(['a']) as [Job];
    await addJobs(postgres, [job]);
    await postgres.change(
      `UPDATE codemode_queue._private_jobs SET locked_at = now(), locked_by = 'dead', attempts = 1 WHERE key = $1`,
      [job.key],
    );
    const done: unknown[] = [];
    start(postgres, async (payload) => void done.push(payload));
    await addJobs(postgres, [job]);
    await expect.poll(() => done, { timeout: 5_000 }).toEqual([{ run: 'a' }]);
  });

  test('jobs are done after the database was restarted under the worker', async () => {
    const own = await PostgresServer.start();
    const postgres = await Postgres.open({ url: own.url('postgres'), ...PATIENT });
    await migrateQueue(postgres);
    const done: unknown[] = [];
    const queue = start(postgres, async (payload) => void done.push(payload));
    try {
      await addJobs(postgres, resumeJobs(['1']));
      await expect.poll(() => done.length, { timeout: 5_000 }).toBe(1);
      await own.stop('immediate');
      await own.start();
      await addJobs(postgres, resumeJobs(['2']));
      await expect.poll(() => done.length, { timeout: 20_000 }).toBe(2);
    } finally {
      await queue.close();
      await postgres.close();
      await own.close();
    }
  });
});
