import { HostError } from '../../../domain/errors.js';
import type { SharedStoreAdmin, SharedStoreStatus } from '../../../domain/shared-store.js';
import { QUEUE_SCHEMA } from '../queue/jobs.js';
import { Listener } from '../queue/listener.js';
import { migrateQueue, queueState } from '../queue/queue.js';
import { Postgres, type PostgresOptions, type Sql } from './connection.js';
import { migrate, requireVersion, SCHEMA, schemaState } from './migrate.js';
import { MIGRATIONS } from './migrations.js';
import { requireUsable } from './usable.js';

/** Longer than the listener's own probe takes on a database that answers. */
const LISTEN_MS = 2_500;
/** Runs are counted up to here: tens of milliseconds. */
const MAX_COUNTED = 100_000;

export interface AdminOptions extends PostgresOptions {
  /** The key that hosts are given. */
  readonly key: () => Promise<Uint8Array>;
}

export async function administer({ key, ...options }: AdminOptions): Promise<SharedStoreAdmin> {
  const database = await Postgres.open({ ...options, maxConnections: 2 });
  return {
    status: () => statusOf(database),
    requireUsable: () => requireUsable(database, key),
    migrate: async ({ grantTo } = {}) => {
      const { version } = await migrate(database);
      if (grantTo !== undefined) await requireOwner(database, grantTo);
      await migrateQueue(database);
      if (grantTo !== undefined) await database.transaction((sql) => grant(sql, grantTo));
      return { schemaVersion: version };
    },
    close: () => database.close(),
  };
}

async function statusOf(database: Postgres): Promise<SharedStoreStatus> {
  await requireVersion(database);
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
const NOTHING_YET: Contents = {
  hosts: [],
  runs: { suspended: 0, resumed: 0, ended: 0, isEstimate: false },
  pendingApprovals: 0,
};

async function contentsOf(sql: Sql): Promise<Contents> {
  const hosts = await sql.query<{ id: string; name: string; left_ms: number }>(
    `SELECT id, name, extract(epoch FROM least(expires_at, now() + interval '1 day') - now()) * 1000 AS left_ms FROM ${SCHEMA}.hosts
      WHERE isfinite(expires_at) OR expires_at > now() ORDER BY started_at`,
  );
  const [counts] = await sql.query<{
    suspended: number;
    resumed: number;
    counted: number;
    estimated: number;
    pending: number;
  }>(
    // Of many runs the number is the planner's estimate: counting ten million rows takes seconds. It knows nothing of a new table.
    `SELECT (SELECT count(*) FROM ${SCHEMA}.runs WHERE state = 'suspended' AND lease_owner IS NULL) AS suspended,
      (SELECT count(*) FROM ${SCHEMA}.runs WHERE state = 'suspended' AND lease_owner IS NOT NULL) AS resumed,
      (SELECT count(*) FROM (SELECT 1 FROM ${SCHEMA}.runs LIMIT ${MAX_COUNTED}) AS first_ones) AS counted,
      (SELECT reltuples FROM pg_class WHERE oid = '${SCHEMA}.runs'::regclass) AS estimated,
      (SELECT count(*) FROM ${SCHEMA}.approvals WHERE state = 'PENDING') AS pending`,
  );
  const { suspended = 0, resumed = 0, counted = 0, estimated = 0, pending = 0 } = counts ?? {};
  const isEstimate = counted >= MAX_COUNTED;
  const ended = isEstimate ? Math.max(counted, Math.round(estimated)) : counted;
  return {
    hosts: hosts.map(({ id, name, left_ms: leaseLeftMs }) => ({ id, name, leaseLeftMs: Math.round(leaseLeftMs) })),
    runs: { suspended, resumed, ended, isEstimate },
    pendingApprovals: pending,
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
  // Only a role that is there: `GRANT … TO public` is a word of SQL, and would let everybody in.
  const [row] = await sql.query<{ name: string }>(
    'SELECT quote_ident(rolname) AS name FROM pg_roles WHERE rolname = $1',
    [role],
  );
  if (row === undefined)
    throw new HostError('bad_config', `the database has no role "${role}"; create it with: createuser ${role}`);
  const to = row.name;
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

/** PostgreSQL only warns somebody who grants what is not theirs. */
async function requireOwner(sql: Sql, role: string): Promise<void> {
  const [other] = await sql.query<{ schema: string; owner: string; user: string }>(
    `SELECT nspname AS schema, pg_get_userbyid(nspowner) AS owner, current_user AS user FROM pg_namespace
      WHERE nspname = ANY($1) AND NOT pg_has_role(nspowner, 'USAGE') ORDER BY nspname`,
    [[SCHEMA, QUEUE_SCHEMA]],
  );
  if (other === undefined) return;
  throw new HostError(
    'bad_config',
    `${other.user} does not own the schema ${other.schema} and cannot grant it; as ${other.owner}: codemode store migrate --grant ${role}`,
  );
}
