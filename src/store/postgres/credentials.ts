import type { CredentialOwner, CredentialStore, HeldLock } from '../credentials.js';
import type { Postgres } from './database/connection.js';

/** Sealed credentials in the database that hosts share. */
export class PostgresCredentialStore implements CredentialStore {
  readonly #postgres: Postgres;

  constructor(postgres: Postgres) {
    this.#postgres = postgres;
  }

  async read({ serverId, url }: CredentialOwner, kind: string): Promise<Uint8Array | undefined> {
    const [row] = await this.#postgres.query<{ sealed: Buffer }>(
      'SELECT sealed FROM codemode.credentials WHERE server_id = $1 AND url = $2 AND kind = $3',
      [serverId, url, kind],
    );
    return row?.sealed;
  }

  async write({ serverId, url }: CredentialOwner, kind: string, sealed: Uint8Array, lock: HeldLock): Promise<boolean> {
    const written = await this.#postgres.change(
      `WITH held AS (SELECT name FROM codemode.credential_locks WHERE name = $5 AND holder = $6 FOR SHARE)
        INSERT INTO codemode.credentials (server_id, url, kind, sealed) SELECT $1, $2, $3, $4 FROM held
        ON CONFLICT (server_id, url, kind) DO UPDATE SET sealed = excluded.sealed, saved_at = now()`,
      [serverId, url, kind, sealed, lock.name, lock.holder],
    );
    return written > 0;
  }

  async remove({ serverId, url }: CredentialOwner, kind: string): Promise<boolean> {
    const removed = await this.#postgres.change(
      'DELETE FROM codemode.credentials WHERE server_id = $1 AND url = $2 AND kind = $3',
      [serverId, url, kind],
    );
    return removed > 0;
  }

  async removeServer(serverId: string): Promise<boolean> {
    return (await this.#postgres.change('DELETE FROM codemode.credentials WHERE server_id = $1', [serverId])) > 0;
  }

  async servers(): Promise<string[]> {
    const rows = await this.#postgres.query<{ server_id: string }>(
      'SELECT DISTINCT server_id FROM codemode.credentials ORDER BY server_id',
    );
    return rows.map(({ server_id: serverId }) => serverId);
  }

  async takeLock({ name, holder }: HeldLock, leaseMs: number): Promise<boolean> {
    const taken = await this.#postgres.change(
      `INSERT INTO codemode.credential_locks AS known (name, holder, until)
        VALUES ($1, $2, clock_timestamp() + $3 * interval '1 millisecond') ON CONFLICT (name) DO UPDATE
        SET holder = excluded.holder, until = excluded.until WHERE known.until < clock_timestamp()`,
      [name, holder, leaseMs],
    );
    return taken > 0;
  }

  async dropLock({ name, holder }: HeldLock): Promise<void> {
    await this.#postgres.change('DELETE FROM codemode.credential_locks WHERE name = $1 AND holder = $2', [
      name,
      holder,
    ]);
  }
}
