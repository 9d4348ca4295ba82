import type { SharedStoreAdmin, SharedStoreStatus } from '../../../domain/shared-store.js';
import { QUEUE_SCHEMA } from '../queue/jobs.js';
import { Listener } from '../queue/listener.js';
import { migrateQueue, queueState } from '../queue/queue.js';
import { Postgres, type PostgresOptions, type Sql } from './connection.js';
import { migrate, SCHEMA, schemaState } from './migrate.js';
import { MIGRATIONS } from './migrations.js';

/** Longer than the listener's own probe takes on a database that answers. */
const LISTEN_MS = 2_500;

export async function administer(options: PostgresOptions): Promise<SharedStoreAdmin> {
  const database = await Postgres.open({ ...options, maxConnections: 2 });
  return {
    status: () => statusOf(database),
    migrate: async ({ grantTo } = {}) => {
      const { version } = await migrate(database);
      await migrateQueue(database);
      if (grantTo !== undefined) await database.transaction((sql) => grant(sql, grantTo));
      return { schemaVersion: version };
    },
    close: () => database.close(),
  };
}

async function statusOf(database: Postgres): Promise<SharedStoreStatus> {
  const { version } = await schemaState(database);
  const [server] = await database.query<{ version: string; used: number; max: string; bytes: number }>(
    `SELECT current_setting('server_version') AS version, current_setting('max_connections') AS max,
      (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend') AS used,
      pg_database_size(current_database()) AS bytes`,
  );
  return {
    address: database.address.shown,
    isEncrypted: database.address.tls !== undefined,
    serverVersion: server?.version ?? '',
    schemaVersion: version,
    knownVersion: MIGRATIONS.length,
    ...(await clockOf(database)),
    connections: { used: server?.used ?? 0, max: Number(server?.max ?? 0) },
    isListening: await isListening(database),
    databaseBytes: server?.bytes ?? 0,
    ...(version < MIGRATIONS.length ? NOTHING_YET : await contentsOf(database)),
    queue: await queueState(database),
  };
}

type Contents = Pick<SharedStoreStatus, 'hosts' | 'runs' | 'pendingApprovals'>;
const NOTHING_YET: Contents = { hosts: [], runs: { suspended: 0, resumed: 0, ended: 0 }, pendingApprovals: 0 };

async function contentsOf(sql: Sql): Promise<Contents> {
  const hosts = await sql.query<{ id: string; name: string; left_ms: number }>(
    `SELECT id, name, extract(epoch FROM least(expires_at, now() + interval '1 day') - now()) * 1000 AS left_ms FROM ${SCHEMA}.hosts
      WHERE isfinite(expires_at) OR expires_at > now() ORDER BY started_at`,
  );
  const [counts] = await sql.query<{ suspended: number; resumed: number; ended: number; pending: number }>(
    // The number of ended runs is the planner's estimate: counting ten million rows takes seconds.
    `SELECT (SELECT count(*) FROM ${SCHEMA}.runs WHERE state = 'suspended' AND lease_owner IS NULL) AS suspended,
      (SELECT count(*) FROM ${SCHEMA}.runs WHERE state = 'suspended' AND lease_owner IS NOT NULL) AS resumed,
      (SELECT greatest(0, reltuples) FROM pg_class WHERE oid = '${SCHEMA}.runs'::regclass) AS ended,
      (SELECT count(*) FROM ${SCHEMA}.approvals WHERE state = 'PENDING') AS pending`,
  );
  return {
    hosts: hosts.map(({ id, name, left_ms: leaseLeftMs }) => ({ id, name, leaseLeftMs: Math.round(leaseLeftMs) })),
    runs: { suspended: counts?.suspended ?? 0, resumed: counts?.resumed ?? 0, ended: Math.round(counts?.ended ?? 0) },
    pendingApprovals: counts?.pending ?? 0,
  };
}

async function clockOf(sql: Sql): Promise<Pick<SharedStoreStatus, 'roundTripMs' | 'clockAheadMs'>> {
  const before = performance.now();
  const beforeMs = Date.now();
  const [row] = await sql.query<{ at: number }>('SELECT extract(epoch FROM clock_timestamp()) * 1000 AS at');
  const roundTripMs = performance.now() - before;
  return {
    roundTripMs: Math.round(roundTripMs * 10) / 10,
    clockAheadMs: Math.round(beforeMs + roundTripMs / 2 - (row?.at ?? beforeMs)),
  };
}

async function isListening(database: Postgres): Promise<boolean> {
  return new Promise((resolve) => {
    const answer = (isLive: boolean): void => {
      clearTimeout(timer);
      resolve(isLive);
      void listener.close();
    };
    const timer = setTimeout(() => answer(false), LISTEN_MS);
    const listener = new Listener(database, {
      channel: 'codemode_probe',
      onMessage: () => {},
      onConnected: () => answer(true),
    });
  });
}

/** Grants what a host needs: the rows of our tables. It creates, alters and drops nothing, and sees nothing outside the two schemas. */
async function grant(sql: Sql, role: string): Promise<void> {
  const [row] = await sql.query<{ name: string }>('SELECT quote_ident($1) AS name', [role]);
  const to = row?.name ?? '';
  for (const schema of [SCHEMA, QUEUE_SCHEMA]) {
    await sql.query(`GRANT USAGE ON SCHEMA ${schema} TO ${to}`);
    await sql.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${to}`);
    await sql.query(`GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA ${schema} TO ${to}`);
    await sql.query(`GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA ${schema} TO ${to}`);
    // Also for tables of later migrations.
    await sql.query(
      `ALTER DEFAULT PRIVILEGES IN SCHEMA ${schema} GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO ${to}`,
    );
    await sql.query(`ALTER DEFAULT PRIVILEGES IN SCHEMA ${schema} GRANT USAGE, SELECT ON SEQUENCES TO ${to}`);
  }
  // The queue library enables row security, so only the owner sees rows until a policy allows more.
  const guarded = await sql.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = $1::regnamespace AND relrowsecurity
      AND NOT EXISTS (SELECT 1 FROM pg_policy WHERE polrelid = pg_class.oid AND polname = 'codemode_hosts')`,
    [QUEUE_SCHEMA],
  );
  for (const { name } of guarded) {
    await sql.query(`CREATE POLICY codemode_hosts ON ${QUEUE_SCHEMA}.${name} USING (true) WITH CHECK (true)`);
  }
}
