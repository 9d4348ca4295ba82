import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needs } from '../../../../test/support/needs.js';
import { PATIENT, PostgresServer } from '../../../../test/support/postgres.js';
import { addJobs } from '../queue/jobs.js';
import { Queue } from '../queue/queue.js';
import { administer } from './administer.js';
import { Postgres } from './connection.js';
import { requireSameKey } from './key-check.js';
import { migrate } from './migrate.js';
import { MIGRATIONS } from './migrations.js';

const KEY = new Uint8Array(32).fill(1);
const key = async () => KEY;

describe('a database and its operator', needs('postgresql'), () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start();
    await server.administer(`CREATE ROLE app LOGIN`);
  });
  afterAll(() => server.close());

  test('an empty database is described, migrated, and described again', async () => {
    const admin = await administer({ url: server.url(await server.createDatabase()), key });
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
    const app = await Postgres.open({ url: server.url(name, { user: 'app' }), ...PATIENT });
    const admin = await administer({ url: server.url(name), key });
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

  test('rows are granted by their owner, to a role that exists', async () => {
    const name = await server.createDatabase();
    const owner = await administer({ url: server.url(name), key });
    const app = await administer({ url: server.url(name, { user: 'app' }), key });
    try {
      for (const role of ['nobody', 'public'])
        await expect(owner.migrate({ grantTo: role })).rejects.toMatchObject({
          code: 'bad_config',
          message: `the database has no role "${role}"; create it with: createuser ${role}`,
        });
      await owner.migrate({ grantTo: 'app' });
      await expect(app.migrate({ grantTo: 'app' })).rejects.toMatchObject({
        code: 'bad_config',
        message:
          'app does not own the schema codemode and cannot grant it; as codemode: codemode store migrate --grant app',
      });
    } finally {
      await Promise.all([owner.close(), app.close()]);
    }
  });

  test('a host that would be refused is refused before it starts, and nothing is written', async () => {
    const name = await server.createDatabase();
    await server.administer(`REVOKE ALL ON DATABASE ${name} FROM PUBLIC`, `GRANT CONNECT ON DATABASE ${name} TO app`);
    const owner = await administer({ url: server.url(name), key });
    const app = await administer({ url: server.url(name, { user: 'app' }), key });
    const other = await administer({ url: server.url(name), key: async () => new Uint8Array(32) });
    const database = await Postgres.open({ url: server.url(name), ...PATIENT });
    const refused = (message: string) => ({ code: 'bad_config', message: expect.stringContaining(message) });
    try {
      await expect(app.requireUsable()).rejects.toMatchObject(refused('codemode store migrate --grant app'));
      await owner.migrate({ grantTo: 'app' });
      await app.requireUsable();
      expect(await database.query('SELECT * FROM codemode.identity')).toEqual([]);
      await requireSameKey(database, KEY);
      await app.requireUsable();
      await expect(other.requireUsable()).rejects.toMatchObject(refused('another key'));
      await server.administer(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
      const replica = await administer({ url: server.url(name), key });
      await expect(replica.requireUsable()).rejects.toMatchObject(refused('is read-only'));
      await replica.close();
    } finally {
      await Promise.all([owner, app, other, database].map((each) => each.close()));
    }
  });
});
