import type { CredentialOwner, CredentialStore, HeldLock } from '../credentials.js';
import type { Database, Statement } from './database.js';

interface Row {
  readonly sealed: Uint8Array;
}

/** Sealed credentials in the SQLite file of a state folder. */
export class SqliteCredentialStore implements CredentialStore {
  readonly #database: Database;
  readonly #read: Statement<Row>;
  readonly #write: Statement<never>;
  readonly #remove: Statement<never>;
  readonly #removeServer: Statement<never>;
  readonly #servers: Statement<{ server_id: string }>;
  readonly #takeLock: Statement<never>;
  readonly #holder: Statement<{ holder: string }>;
  readonly #dropLock: Statement<never>;

  constructor(database: Database) {
    this.#database = database;
    this.#read = database.prepare('SELECT sealed FROM credentials WHERE server_id = ? AND url = ? AND kind = ?');
    this.#write = database.prepare('INSERT OR REPLACE INTO credentials VALUES (?, ?, ?, ?, ?)');
    this.#remove = database.prepare('DELETE FROM credentials WHERE server_id = ? AND url = ? AND kind = ?');
    this.#removeServer = database.prepare('DELETE FROM credentials WHERE server_id = ?');
    this.#servers = database.prepare('SELECT DISTINCT server_id FROM credentials ORDER BY server_id');
    this.#takeLock = database.prepare(
      `INSERT INTO credential_locks VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE
       SET holder = excluded.holder, until_ms = excluded.until_ms WHERE until_ms < ?`,
    );
    this.#holder = database.prepare('SELECT holder FROM credential_locks WHERE name = ?');
    this.#dropLock = database.prepare('DELETE FROM credential_locks WHERE name = ? AND holder = ?');
  }

  read({ serverId, url }: CredentialOwner, kind: string): Uint8Array | undefined {
    return this.#read.get(serverId, url, kind)?.sealed;
  }

  write({ serverId, url }: CredentialOwner, kind: string, sealed: Uint8Array, lock: HeldLock): boolean {
    return this.#database.transaction(() => {
      if (this.#holder.get(lock.name)?.holder !== lock.holder) return false;
      this.#write.run(serverId, url, kind, sealed, Date.now());
      return true;
    });
  }

  remove({ serverId, url }: CredentialOwner, kind: string): boolean {
    return this.#remove.run(serverId, url, kind) > 0;
  }

  removeServer(serverId: string): boolean {
    return this.#removeServer.run(serverId) > 0;
  }

  servers(): string[] {
    return this.#servers.all().map(({ server_id: serverId }) => serverId);
  }

  takeLock({ name, holder }: HeldLock, leaseMs: number): boolean {
    const nowMs = Date.now();
    return this.#takeLock.run(name, holder, nowMs + leaseMs, nowMs) > 0;
  }

  dropLock({ name, holder }: HeldLock): void {
    this.#dropLock.run(name, holder);
  }
}
