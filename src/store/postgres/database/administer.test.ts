import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needs } from '../../../../test/support/needs.js';
import { PostgresServer } from '../../../../test/support/postgres.js';
import { addJobs } from '../queue/jobs.js';
import { Queue } from '../queue/queue.js';
import { administer } from './administer.js';
import { Postgres } from './connection.js';
import { requireSameKey } from './key-check.js';
import { migrate } from './migrate.js';
import { MIGRATIONS } from './migrations.js';

describe('a database and its operator', needs('postgresql'), () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start();
    await server.administer(`CREATE ROLE app LOGIN`);
  });
  afterAll(() => server.close());

  test('an empty database is described, migrated, and described again', async () => {
    const admin = await administer({ url: server.url(await server.createDatabase()) });
    try {
      expect(await admin.status()).toMatchObject({
        schemaVersion: 0,
        isListening: true,
        hosts: [],
        queue: { ready: 0 },
      });
      await admin.migrate();
      const status = await admin.status();
      expect(status).toMatchObject({ schemaVersion: MIGRATIONS.length, knownVersion: MIGRATIONS.length });
      expect(Math.abs(status.clockAheadMs)).toBeLessThan(1_000);
      expect(status.connections.max).toBe(60);
    } finally {
      await admin.close();
    }
  });

  test('a role that was granted rows works with them, and can change nothing else', async () => {
    const name = await server.createDatabase();
    await server.administer(`REVOKE ALL ON DATABASE ${name} FROM PUBLIC`, `GRANT CONNECT ON DATABASE ${name} TO app`);
    const app = await Postgres.open({ url: server.url(name, { user: 'app' }) });
    const admin = await administer({ url: server.url(name) });
    let queue: Queue | undefined;
    try {
      await expect(migrate(app)).rejects.toMatchObject({
        code: 'bad_config',
        message: expect.stringContaining('codemode store migrate --grant app'),
      });
      await admin.migrate({ grantTo: 'app' });
      expect(await migrate(app)).toMatchObject({ version: MIGRATIONS.length });
      await requireSameKey(app, new Uint8Array(32));
      const done: unknown[] = [];
      queue = new Queue(app, {
        handlers: {
          resume_run: async (payload: unknown) => void done.push(payload),
          expire_approvals: async () => {},
          clean_up: async () => {},
        },
        atOnce: 1,
      });
      await addJobs(app, [{ task: 'resume_run', payload: { run: 'a' }, key: 'a' }]);
      await expect.poll(() => done, { timeout: 5_000 }).toEqual([{ run: 'a' }]);
      for (const forbidden of ['CREATE TABLE codemode.t (n int)', 'DROP TABLE codemode.identity', 'CREATE SCHEMA s'])
        await expect(app.query(forbidden)).rejects.toMatchObject({ code: 'bad_config' });
    } finally {
      await queue?.close();
      await app.close();
      await admin.close();
    }
  });
});
