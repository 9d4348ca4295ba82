import { hasQueue, migrateQueue } from '../queue/queue.js';
import { Postgres, type PostgresOptions } from './connection.js';
import { requireSameKey } from './key-check.js';
import { migrate } from './migrate.js';

/** Connects, brings the schema up to date, and checks that this host has the same key as the others. Throws `bad_config`. */
export async function openDatabase(options: PostgresOptions, key: Uint8Array): Promise<Postgres> {
  const postgres = await Postgres.open(options);
  try {
    await migrate(postgres);
    if (!(await hasQueue(postgres))) await migrateQueue(postgres);
    await requireSameKey(postgres, key);
    return postgres;
  } catch (error) {
    await postgres.close();
    throw error;
  }
}
