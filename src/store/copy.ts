import { HostError } from '../domain/errors.js';
import type { CopiedRows, CopyDirection } from '../domain/shared-store.js';
import { Postgres, type PostgresOptions, type Sql, type SqlValue } from './postgres/database/connection.js';
import { requireSameKey } from './postgres/database/key-check.js';
import { migrate } from './postgres/database/migrate.js';
import { markAllReady } from './postgres/runs/run-lock.js';
import { Database } from './sqlite/database.js';

export interface CopyOptions {
  readonly direction: CopyDirection;
  readonly stateFolder: string;
  readonly postgres: PostgresOptions;
  /** The key of both stores: sealed columns are copied unchanged, and no other key opens them. */
  readonly key: Uint8Array;
}

interface CopiedTable {
  readonly name: string;
  readonly key: readonly string[];
  readonly columns: readonly string[];
}

/** Rows per page. The image of a suspended run can be megabytes. */
const PAGE = 100;

/**
 * The tables that mean the same in both stores, parents before children. Not copied: the audit log, whose chain authenticates the
 * place it was recorded in; leases, console sessions and rates, which end with their hosts; caches, which are filled again.
 */
const TABLES: readonly CopiedTable[] = [
  { name: 'run_modules', key: ['digest'], columns: ['modules'] },
  {
    name: 'runs',
    key: ['id'],
    columns:
      'caller profile setting code_digest state created_at updated_at duration_ms calls tool_bytes title program context response recording modules'.split(
        ' ',
      ),
  },
  { name: 'run_calls', key: ['run', 'number'], columns: ['state', 'call'] },
  { name: 'run_deliveries', key: ['run', 'position'], columns: ['delivery'] },
  {
    name: 'approvals',
    key: ['id'],
    columns:
      'run call caller server server_fingerprint tool tool_digest arguments arguments_digest reason state created_at expires_at decided_by decided_at decision_reason scope used_at mark'.split(
        ' ',
      ),
  },
  {
    name: 'grants',
    key: ['run', 'caller', 'server', 'tool'],
    columns: 'server_fingerprint tool_digest expires_at approval mark'.split(' '),
  },
  { name: 'spending', key: ['day'], columns: ['amount'] },
  { name: 'scripts', key: ['name'], columns: ['head', 'source'] },
  { name: 'undone', key: ['run', 'call'], columns: ['state'] },
  { name: 'credentials', key: ['server_id', 'url', 'kind'], columns: ['sealed'] },
];

/** Copies rows that the target does not have. Throws `conflict` while a host is up, because it could write during the copy. */
export async function copyRows({ direction, stateFolder, postgres: options, key }: CopyOptions): Promise<CopiedRows> {
  const postgres = await Postgres.open({ ...options, maxConnections: 2 });
  const sqlite = await Database.open(stateFolder);
  try {
    await migrate(postgres);
    await requireSameKey(postgres, key);
    await refuseWhileHostsAreUp(postgres);
    const copied: Record<string, number> = {};
    for (const table of TABLES) {
      copied[table.name] =
        direction === 'to-database'
          ? await copyTable(fromSqlite(sqlite, table), toPostgres(postgres, table))
          : await copyTable(fromPostgres(postgres, table), toSqlite(sqlite, table));
    }
    if (direction === 'to-database') await markAllReady(postgres);
    return copied;
  } finally {
    sqlite.close();
    await postgres.close();
  }
}

type Row = Readonly<Record<string, SqlValue>>;
type ReadPage = (offset: number) => Promise<readonly Row[]>;
type WriteRows = (rows: readonly Row[]) => Promise<number>;

async function copyTable(read: ReadPage, write: WriteRows): Promise<number> {
  let copied = 0;
  for (let offset = 0; ; offset += PAGE) {
    const rows = await read(offset);
    copied += await write(rows);
    if (rows.length < PAGE) return copied;
  }
}

function namesOf({ key, columns }: CopiedTable): string[] {
  return [...key, ...columns];
}

function fromSqlite(sqlite: Database, table: CopiedTable): ReadPage {
  const statement = sqlite.prepare<Row>(
    `SELECT ${namesOf(table).join(', ')} FROM ${table.name} ORDER BY ${table.key.join(', ')} LIMIT ? OFFSET ?`,
  );
  return async (offset) => statement.all(PAGE, offset);
}

function fromPostgres(sql: Sql, table: CopiedTable): ReadPage {
  const text = `SELECT ${namesOf(table).join(', ')} FROM codemode.${table.name} ORDER BY ${table.key.join(', ')} LIMIT $1 OFFSET $2`;
  return (offset) => sql.query<Row>(text, [PAGE, offset]);
}

function toPostgres(postgres: Postgres, table: CopiedTable): WriteRows {
  const names = namesOf(table);
  const places = names.map((_, index) => `$${index + 1}`).join(', ');
  const text = `INSERT INTO codemode.${table.name} (${names.join(', ')}) VALUES (${places}) ON CONFLICT DO NOTHING`;
  return (rows) =>
    postgres.transaction(async (sql) => {
      let written = 0;
      for (const row of rows)
        written += await sql.change(
          text,
          names.map((name) => row[name] ?? null),
        );
      return written;
    });
}

function toSqlite(sqlite: Database, table: CopiedTable): WriteRows {
  // Only this column has no counterpart: the time a login was saved. No decision depends on it.
  const extra = table.name === 'credentials' ? { column: ', saved_at_ms', value: ', 0' } : { column: '', value: '' };
  const names = namesOf(table);
  const statement = sqlite.prepare(
    `INSERT OR IGNORE INTO ${table.name} (${names.join(', ')}${extra.column})
      VALUES (${names.map(() => '?').join(', ')}${extra.value})`,
  );
  return async (rows) =>
    sqlite.transaction(() => {
      let written = 0;
      for (const row of rows)
        written += statement.run(...names.map((name) => (row[name] ?? null) as string | number | Uint8Array | null));
      return written;
    });
}

async function refuseWhileHostsAreUp(sql: Sql): Promise<void> {
  const [row] = await sql.query<{ count: number }>(
    'SELECT count(*) AS count FROM codemode.hosts WHERE expires_at > now()',
  );
  if ((row?.count ?? 0) === 0) return;
  throw new HostError(
    'conflict',
    `${row?.count} hosts use the database; stop them first, then copy again (codemode store lists them)`,
  );
}
