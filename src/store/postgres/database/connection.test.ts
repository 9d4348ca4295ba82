import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needs } from '../../../../test/support/needs.js';
import { PATIENT, PostgresServer } from '../../../../test/support/postgres.js';
import { Listener } from '../queue/listener.js';
import { hasQueue, migrateQueue } from '../queue/queue.js';
import { Postgres } from './connection.js';
import { requireSameKey } from './key-check.js';
import { migrate, schemaState } from './migrate.js';
import { MIGRATIONS } from './migrations.js';

describe('a database that hosts share', needs('postgresql'), () => {
  let server: PostgresServer;
  const opened: Postgres[] = [];
  const open = async (database: string, options: Partial<Parameters<typeof Postgres.open>[0]> = {}) => {
    const postgres = await Postgres.open({ url: server.url(database), ...PATIENT, ...options });
    opened.push(postgres);
    return postgres;
  };
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(async () => {
    await Promise.all(opened.map((postgres) => postgres.close()));
    await server.close();
  });

  test('rows come back with numbers, bytes and nulls as they were written', async () => {
    const postgres = await open(await server.createDatabase());
    const rows = await postgres.query('SELECT $1::bigint AS big, $2::bytea AS bytes, $3::text AS none', [
      1_800_000_000_000,
      new Uint8Array([0, 255]),
      null,
    ]);
    expect(rows).toEqual([{ big: 1_800_000_000_000, bytes: Buffer.from([0, 255]), none: null }]);
  });

  test('a transaction that throws leaves nothing behind', async () => {
    const postgres = await open(await server.createDatabase());
    await postgres.query('CREATE TABLE t (n integer)');
    const failed = postgres.transaction(async (sql) => {
      await sql.change('INSERT INTO t VALUES (1)');
      throw new RangeError('of the work itself');
    });
    await expect(failed).rejects.toThrow(RangeError);
    expect(await postgres.query('SELECT * FROM t')).toEqual([]);
  });

  test('two transactions that wait for each other are both carried out', async () => {
    const postgres = await open(await server.createDatabase());
    await postgres.query('CREATE TABLE t (id integer, n integer)');
    await postgres.query('INSERT INTO t VALUES (1, 0), (2, 0)');
    const bump = (first: number, second: number) =>
      postgres.transaction(async (sql) => {
        await sql.change('UPDATE t SET n = n + 1 WHERE id = $1', [first]);
        await sql.query('SELECT pg_sleep(0.1)');
        await sql.change('UPDATE t SET n = n + 1 WHERE id = $1', [second]);
      });
    await Promise.all([bump(1, 2), bump(2, 1)]);
    expect(await postgres.query('SELECT n FROM t')).toEqual([{ n: 2 }, { n: 2 }]);
  });

  test('a statement that takes too long is ended by the database', async () => {
    const postgres = await open(await server.createDatabase(), { timeouts: { statementMs: 100 } });
    await expect(postgres.query('SELECT pg_sleep(5)')).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(await postgres.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  test('after the database was restarted, the same object works again', async () => {
    const own = await PostgresServer.start();
    const postgres = await Postgres.open({ url: own.url('postgres') });
    try {
      await postgres.query('SELECT 1');
      await own.stop('immediate');
      await expect(postgres.query('SELECT 1')).rejects.toMatchObject({ code: 'store_unavailable' });
      await own.start();
      expect(await postgres.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    } finally {
      await postgres.close();
      await own.close();
    }
  });

  test('hosts that start at once migrate once', async () => {
    const database = await server.createDatabase();
    const hosts = await Promise.all([open(database), open(database), open(database)]);
    const states = await Promise.all(hosts.map((host) => migrate(host)));
    expect(states.map(({ version }) => version)).toEqual([MIGRATIONS.length, MIGRATIONS.length, MIGRATIONS.length]);
    expect(await hosts[0]?.query('SELECT count(*) AS count FROM codemode.migrations')).toEqual([
      { count: MIGRATIONS.length },
    ]);
  });

  test('a program one version back works with the schema, an older one says to upgrade', async () => {
    const postgres = await open(await server.createDatabase());
    const next = [...MIGRATIONS, { name: 'next', sql: 'CREATE TABLE codemode.next (n integer)' }];
    await migrate(postgres, next);
    expect(await migrate(postgres, MIGRATIONS)).toMatchObject({ version: next.length });
    await expect(schemaState(postgres, MIGRATIONS.length - 1)).rejects.toMatchObject({
      code: 'bad_config',
      message: expect.stringMatching(/newer codemode .*npm install -g codemode@latest/s),
    });
  });

  test.each(['codemode', 'codemode_queue'])('a schema %s of something else is left alone', async (name) => {
    const postgres = await open(await server.createDatabase());
    await postgres.query(`CREATE SCHEMA ${name}`);
    await postgres.query(`CREATE TABLE ${name}.jobs (n integer)`);
    await expect(migrate(postgres)).rejects.toMatchObject({
      code: 'bad_config',
      message: expect.stringMatching(/belongs to something else.*createdb/s),
    });
  });

  test('a queue that another host is just creating is not taken for a foreign one', async () => {
    const postgres = await open(await server.createDatabase());
    await postgres.query('CREATE SCHEMA codemode_queue');
    // What graphile-worker creates in one transaction, before it migrates.
    await postgres.query(
      'CREATE TABLE codemode_queue.migrations (id int PRIMARY KEY, ts timestamptz NOT NULL DEFAULT now(), breaking boolean NOT NULL DEFAULT false)',
    );
    await migrate(postgres);
    await migrateQueue(postgres);
    expect(await hasQueue(postgres)).toBe(true);
  });

  test('a host with another key than the first one is refused', async () => {
    const postgres = await open(await server.createDatabase());
    await migrate(postgres);
    await requireSameKey(postgres, new Uint8Array(32).fill(1));
    await requireSameKey(postgres, new Uint8Array(32).fill(1));
    await expect(requireSameKey(postgres, new Uint8Array(32).fill(2))).rejects.toMatchObject({
      code: 'bad_config',
      message: expect.stringContaining('CODEMODE_KEY'),
    });
  });

  test('a listener receives announcements of other hosts, also after a reconnect', async () => {
    const postgres = await open(await server.createDatabase());
    const heard: string[] = [];
    let connections = 0;
    const listener = new Listener(postgres, {
      channel: 'codemode_test',
      onMessage: (payload) => heard.push(payload),
      onConnected: () => {
        connections += 1;
      },
    });
    await expect.poll(() => connections, { timeout: 10_000 }).toBe(1);
    await postgres.query(`SELECT pg_notify('codemode_test', 'one')`);
    await expect.poll(() => heard).toEqual(['one']);
    await postgres.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()`,
    );
    await expect.poll(() => connections, { timeout: 10_000 }).toBe(2);
    await postgres.query(`SELECT pg_notify('codemode_test', 'two')`);
    await expect.poll(() => heard).toEqual(['one', 'two']);
    await listener.close();
  });

  test('a connection that breaks with the packet that opened it does not end the process', async () => {
    const ready = Buffer.from('R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I', 'latin1');
    const fields = Buffer.from('SFATAL\0C57P01\0Mterminating connection\0\0', 'latin1');
    const error = Buffer.concat([Buffer.from('E\0\0\0', 'latin1'), Buffer.from([fields.length + 4]), fields]);
    const dying = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.end(Buffer.concat([ready, error])));
    });
    await once(dying.listen(0, '127.0.0.1'), 'listening');
    const { port } = dying.address() as AddressInfo;
    const postgres = await Postgres.open({ url: `postgres://codemode@127.0.0.1:${port}/x?sslmode=disable` });
    const listener = new Listener(postgres, { channel: 'test', onMessage() {}, onConnected() {} });
    await once(dying, 'connection');
    // The one after it is opened once the first is lost.
    await once(dying, 'connection');
    expect(listener.isLive).toBe(false);
    await listener.close();
    await postgres.close();
    dying.close();
  });
});
