import type { Postgres } from './connection.js';
import { MISSING_RIGHT, postgresError, READ_ONLY } from './errors.js';
import { refuseOtherKey } from './key-check.js';
import { SCHEMA, schemaState } from './migrate.js';
import { MIGRATIONS } from './migrations.js';

/** Throws `bad_config` where a host would refuse to start. Writes nothing. */
export async function requireUsable(database: Postgres, key: () => Promise<Uint8Array>): Promise<void> {
  const [row] = await database.query<{ is_read_only: boolean; may_migrate: boolean }>(
    `SELECT current_setting('transaction_read_only') = 'on' AS is_read_only,
      coalesce((SELECT pg_has_role(nspowner, 'USAGE') FROM pg_namespace WHERE nspname = $1),
        has_database_privilege(current_database(), 'CREATE')) AS may_migrate`,
    [SCHEMA],
  );
  const refuse = (code: string, message: string) => postgresError({ code, message }, database.address);
  if (row?.is_read_only === true) throw refuse(READ_ONLY, '');
  const { version } = await schemaState(database);
  if (version < MIGRATIONS.length && row?.may_migrate !== true)
    throw refuse(MISSING_RIGHT, `its schema is at ${version} of ${MIGRATIONS.length}`);
  const given = await key();
  if (version > 0) await refuseOtherKey(database, given);
}
