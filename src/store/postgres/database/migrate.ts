import { HostError } from '../../../domain/errors.js';
import { QUEUE_SCHEMA } from '../queue/jobs.js';
import type { Sql } from './connection.js';
import { OLDEST_VERSION } from './errors.js';
import { MIGRATIONS, type Migration } from './migrations.js';

/** All our tables are in our own schema, so that other programs can share the database. */
export const SCHEMA = 'codemode';
/** Hosts that start at once migrate one after the other. The number is arbitrary, and the same in every version. */
const MIGRATION_LOCK = 0x636f6465;
const MIGRATION_TIMEOUT_MS = 3_600_000;
/** The comment that marks the schema as ours. */
const MARK = 'codemode store';

export interface SchemaState {
  /** The number of applied migrations. 0 means that the schema does not exist. */
  readonly version: number;
  /** The oldest program version that works with it, as the number of migrations it knows. */
  readonly worksWith: number;
}

interface Transactional extends Sql {
  transaction<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result>;
}

/**
 * Brings the schema to this program's version. A schema that is up to date needs only read rights, so hosts can run as a role that
 * only reads and writes rows once the owner has migrated. Throws `bad_config`.
 */
export async function migrate(database: Transactional, migrations = MIGRATIONS): Promise<SchemaState> {
  await requireVersion(database);
  const before = await schemaState(database, migrations.length);
  if (isUsable(before, migrations.length) && before.version >= migrations.length) return before;
  return database.transaction(async (sql) => {
    // No timeout: an index over a large table takes long, and so does waiting for the host that builds it.
    await sql.query('SET LOCAL statement_timeout = 0');
    await sql.query('SET LOCAL lock_timeout = 0');
    await sql.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK], { timeoutMs: MIGRATION_TIMEOUT_MS });
    // Another host may have migrated in the meantime.
    const { version } = await schemaState(sql, migrations.length);
    if (version === 0) await createSchema(sql);
    for (const [index, migration] of migrations.entries()) {
      if (index >= version) await apply(sql, index + 1, migration);
    }
    return schemaState(sql, migrations.length);
  });
}

/** Throws `bad_config` if a schema belongs to another program, or ours to a newer version. */
export async function schemaState(sql: Sql, known = MIGRATIONS.length): Promise<SchemaState> {
  // By its table of migrations, which is created with the schema: another host may be adding the other tables just now.
  const [queue] = await sql.query<{ tables: number; is_ours: boolean }>(
    `SELECT count(*) AS tables, coalesce(bool_or(relname = 'migrations' AND EXISTS (
        SELECT FROM pg_attribute WHERE attrelid = pg_class.oid AND attname = 'breaking')), false) AS is_ours
      FROM pg_class WHERE relnamespace = to_regnamespace($1) AND relkind IN ('r', 'p', 'v')`,
    [QUEUE_SCHEMA],
  );
  if (queue !== undefined && queue.tables > 0 && !queue.is_ours) throw foreignSchema(QUEUE_SCHEMA);
  const [schema] = await sql.query<{ comment: string | null; tables: number }>(
    `SELECT obj_description(oid, 'pg_namespace') AS comment,
        (SELECT count(*) FROM pg_class WHERE relnamespace = pg_namespace.oid AND relkind IN ('r', 'p', 'v')) AS tables
      FROM pg_namespace WHERE nspname = $1`,
    [SCHEMA],
  );
  if (schema === undefined) return NOTHING;
  if (schema.comment !== MARK) {
    // An administrator may have created an empty schema for a role that must not create one.
    if (schema.comment === null && schema.tables === 0) return NOTHING;
    throw foreignSchema(SCHEMA);
  }
  const [row] = await sql.query<{ version: number | null; works_with: number | null }>(
    `SELECT max(number) AS version, max(works_with) AS works_with FROM ${SCHEMA}.migrations`,
  );
  const state = { version: row?.version ?? 0, worksWith: row?.works_with ?? 0 };
  if (!isUsable(state, known)) {
    throw new HostError(
      'bad_config',
      `the database was migrated by a newer codemode (schema ${state.version}; this one knows ${known}); upgrade this host: ` +
        'npm install -g codemode@latest',
    );
  }
  return state;
}

const NOTHING: SchemaState = { version: 0, worksWith: 0 };

function isUsable({ worksWith }: SchemaState, known: number): boolean {
  return worksWith <= known;
}

/** Throws `bad_config`. */
export async function requireVersion(sql: Sql): Promise<void> {
  const [row] = await sql.query<{ number: string; version: string }>(
    `SELECT current_setting('server_version_num') AS number, current_setting('server_version') AS version`,
  );
  if (Number(row?.number ?? 0) >= OLDEST_VERSION * 10_000) return;
  throw new HostError(
    'bad_config',
    `the database is PostgreSQL ${row?.version ?? 'of an unknown version'}; codemode needs ${OLDEST_VERSION} or newer: upgrade it`,
  );
}

async function createSchema(sql: Sql): Promise<void> {
  await sql.query(`CREATE SCHEMA IF NOT EXISTS ${SCHEMA}`);
  await sql.query(`COMMENT ON SCHEMA ${SCHEMA} IS '${MARK}'`);
  await sql.query(
    `CREATE TABLE IF NOT EXISTS ${SCHEMA}.migrations (
      number integer PRIMARY KEY,
      name text NOT NULL,
      works_with integer NOT NULL,
      at timestamptz NOT NULL DEFAULT now()
    )`,
  );
}

async function apply(sql: Sql, number: number, { name, sql: text, worksWith = number - 1 }: Migration): Promise<void> {
  await sql.query(text, [], { timeoutMs: MIGRATION_TIMEOUT_MS });
  await sql.query(`INSERT INTO ${SCHEMA}.migrations (number, name, works_with) VALUES ($1, $2, $3)`, [
    number,
    name,
    worksWith,
  ]);
}

function foreignSchema(name: string): HostError {
  return new HostError(
    'bad_config',
    `the database already has a schema "${name}" that belongs to something else; set \`store\` to a database of its own: createdb codemode`,
  );
}
