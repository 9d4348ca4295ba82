import { HostError } from '../../../domain/errors.js';
import { authenticate, isAuthentic, type SealBinding } from '../../../lib/secrets/sealed.js';
import type { Sql } from './connection.js';

const BINDING: SealBinding = { purpose: 'key of a shared store', owner: [] };

/** Checks that this host has the same key as the others. The first host stores the proof. Throws `bad_config`. */
export async function requireSameKey(sql: Sql, key: Uint8Array): Promise<void> {
  if ((await proofOf(sql)) === undefined)
    await sql.change('INSERT INTO codemode.identity (key_check) VALUES ($1) ON CONFLICT DO NOTHING', [
      authenticate(key, BINDING),
    ]);
  const proof = await proofOf(sql);
  if (proof === undefined || !isAuthentic(key, BINDING, proof)) throw otherKey();
}

/** The same check before the first host, too: writes nothing, and lets any key pass where there is no proof yet. */
export async function refuseOtherKey(sql: Sql, key: Uint8Array): Promise<void> {
  const proof = await proofOf(sql);
  if (proof !== undefined && !isAuthentic(key, BINDING, proof)) throw otherKey();
}

/** A host with another key could not read the other hosts' data, and they could not read what it sealed. */
function otherKey(): HostError {
  return new HostError(
    'bad_config',
    'this host was given another key than the hosts that share the database; set CODEMODE_KEY (or security.keyFile) to ' +
      'theirs. If that key is lost, what it sealed is lost too: start with an empty database',
  );
}

async function proofOf(sql: Sql): Promise<Buffer | undefined> {
  const [row] = await sql.query<{ key_check: Buffer }>('SELECT key_check FROM codemode.identity');
  return row?.key_check;
}
