import { isProcessAlive, processIdentity } from '../../lib/files/process-identity.js';
import { type SealBinding, seal, unseal } from '../../lib/secrets/sealed.js';
import type { KnownClient, PresenceStore, PresentRun, SeenClient } from '../presence.js';
import type { Database, Statement } from './database.js';

interface RunRow {
  id: string;
  holder: string;
  caller: string;
  profile: string;
  started_at: number;
  facts: Buffer;
}

interface ClientRow {
  name: string;
  transport: string;
  version: string;
  caller: string;
  holder: string;
  first_at: number;
  last_at: number;
}

const MAX_CLIENTS = 100;

/** What hosts of one state folder tell each other about themselves. */
export class SqlitePresenceStore implements PresenceStore {
  readonly #database: Database;
  readonly #key: Uint8Array;
  readonly #holder: string;
  readonly #putRun: Statement<never>;
  readonly #dropRun: Statement<never>;
  readonly #runs: Statement<RunRow>;
  readonly #run: Statement<RunRow>;
  readonly #cancel: Statement<never>;
  readonly #cancelled: Statement<{ id: string }>;
  readonly #putClient: Statement<never>;
  readonly #dropOldClients: Statement<never>;
  readonly #clients: Statement<ClientRow>;

  /** @param holder the announcing process; default: this process */
  constructor(database: Database, key: Uint8Array, holder = processIdentity() ?? `${process.pid}:unknown`) {
    this.#database = database;
    this.#key = key;
    this.#holder = holder;
    this.#putRun = database.prepare(
      'INSERT OR REPLACE INTO live_runs (id, holder, caller, profile, started_at, facts) VALUES (?, ?, ?, ?, ?, ?)',
    );
    this.#dropRun = database.prepare('DELETE FROM live_runs WHERE id = ?');
    this.#runs = database.prepare(
      'SELECT * FROM live_runs WHERE ?1 IS NULL OR caller = ?1 ORDER BY started_at DESC LIMIT ?2',
    );
    this.#run = database.prepare('SELECT * FROM live_runs WHERE id = ?');
    this.#cancel = database.prepare('UPDATE live_runs SET is_cancelled = 1 WHERE id = ?');
    this.#cancelled = database.prepare('SELECT id FROM live_runs WHERE holder = ? AND is_cancelled = 1');
    this.#putClient = database.prepare(
      `INSERT INTO clients (name, transport, version, caller, holder, first_at, last_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6)
        ON CONFLICT (name, transport) DO UPDATE SET version = excluded.version, caller = excluded.caller,
          holder = excluded.holder, last_at = excluded.last_at`,
    );
    this.#dropOldClients = database.prepare(
      `DELETE FROM clients WHERE (name, transport) IN
        (SELECT name, transport FROM clients ORDER BY last_at DESC LIMIT -1 OFFSET ${MAX_CLIENTS})`,
    );
    this.#clients = database.prepare('SELECT * FROM clients ORDER BY last_at DESC');
  }

  update(begun: readonly PresentRun[], over: readonly string[]): void {
    this.#database.transaction(() => {
      for (const { runId, caller, profile, createdAtMs, title, source } of begun) {
        const facts = seal(this.#key, binding(runId, this.#holder), Buffer.from(JSON.stringify([title, source])));
        this.#putRun.run(runId, this.#holder, caller, profile, createdAtMs, facts);
      }
      for (const id of over) this.#dropRun.run(id);
    });
  }

  runs(limit: number, caller?: string): PresentRun[] {
    return this.#runs.all(caller ?? null, limit).flatMap((row) => this.#read(row) ?? []);
  }

  find(runId: string): PresentRun | undefined {
    const row = this.#run.get(runId);
    return row === undefined ? undefined : this.#read(row);
  }

  askToCancel(runId: string): void {
    this.#cancel.run(runId);
  }

  cancelled(): string[] {
    return this.#cancelled.all(this.#holder).map(({ id }) => id);
  }

  clientSeen(client: SeenClient, nowMs: number): void {
    const { name, transport, version, caller } = client;
    this.#database.transaction(() => {
      this.#putClient.run(name, transport, version, caller, this.#holder, nowMs);
      this.#dropOldClients.run();
    });
  }

  clients(): KnownClient[] {
    return this.#clients.all().map(({ name, transport, version, caller, holder, first_at, last_at }) => ({
      ...{ name, version, caller, transport: transport === 'http' ? 'http' : 'stdio' },
      ...{ firstAtMs: first_at, lastAtMs: last_at, isHostUp: isProcessAlive(holder) },
    }));
  }

  #read(row: RunRow): PresentRun | undefined {
    const { id: runId, holder, caller, profile, started_at: createdAtMs, facts } = row;
    if (!isProcessAlive(holder)) {
      this.#dropRun.run(runId);
      return undefined;
    }
    const json = unseal(this.#key, binding(runId, holder), facts)?.toString('utf8');
    if (json === undefined) return undefined;
    const [title, source] = JSON.parse(json) as [string, string];
    return { runId, caller, profile, createdAtMs, title, source };
  }
}

function binding(runId: string, holder: string): SealBinding {
  return { purpose: 'live run', owner: [runId, holder] };
}
