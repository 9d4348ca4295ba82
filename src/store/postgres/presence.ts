import { type SealBinding, seal, unseal } from '../../lib/secrets/sealed.js';
import type { KnownClient, PresenceStore, PresentRun, SeenClient } from '../presence.js';
import type { Postgres } from './database/connection.js';
import { type HostLease, isUp } from './host-lease.js';

interface RunRow {
  readonly id: string;
  readonly host: string;
  readonly caller: string;
  readonly profile: string;
  readonly started_at: number;
  readonly facts: Buffer;
}

interface ClientRow {
  readonly name: string;
  readonly transport: string;
  readonly version: string;
  readonly caller: string;
  readonly first_at: number;
  readonly last_at: number;
  readonly is_up: boolean;
}

const MAX_CLIENTS = 100;

/** What hosts of one database tell each other about themselves. */
export class PostgresPresenceStore implements PresenceStore {
  readonly #postgres: Postgres;
  readonly #key: Uint8Array;
  readonly #host: HostLease;

  constructor(postgres: Postgres, key: Uint8Array, host: HostLease) {
    this.#postgres = postgres;
    this.#key = key;
    this.#host = host;
  }

  async update(begun: readonly PresentRun[], over: readonly string[]): Promise<void> {
    const { id: host } = this.#host;
    await this.#postgres.transaction(async (sql) => {
      for (const { runId, caller, profile, createdAtMs, title, source } of begun) {
        const facts = seal(this.#key, binding(runId, host), Buffer.from(JSON.stringify([title, source])));
        await sql.change(
          `INSERT INTO codemode.live_runs (id, host, caller, profile, started_at, facts) VALUES ($1, $2, $3, $4, $5, $6)
            ON CONFLICT (id) DO UPDATE SET host = excluded.host, facts = excluded.facts, is_cancelled = false`,
          [runId, host, caller, profile, createdAtMs, facts],
        );
      }
      if (over.length > 0)
        await sql.change('DELETE FROM codemode.live_runs WHERE id = ANY($1) AND host = $2', [over, host]);
    });
  }

  async runs(limit: number, caller?: string): Promise<PresentRun[]> {
    const rows = await this.#postgres.query<RunRow>(
      `SELECT * FROM codemode.live_runs WHERE ${isUp('live_runs.host')} AND ($2::text IS NULL OR caller = $2)
        ORDER BY started_at DESC LIMIT $1`,
      [limit, caller ?? null],
    );
    return rows.flatMap((row) => this.#read(row) ?? []);
  }

  async find(runId: string): Promise<PresentRun | undefined> {
    const [row] = await this.#postgres.query<RunRow>(
      `SELECT * FROM codemode.live_runs WHERE id = $1 AND ${isUp('live_runs.host')}`,
      [runId],
    );
    return row === undefined ? undefined : this.#read(row);
  }

  async askToCancel(runId: string): Promise<void> {
    await this.#postgres.change('UPDATE codemode.live_runs SET is_cancelled = true WHERE id = $1', [runId]);
  }

  async cancelled(): Promise<string[]> {
    const rows = await this.#postgres.query<{ id: string }>(
      'SELECT id FROM codemode.live_runs WHERE host = $1 AND is_cancelled',
      [this.#host.id],
    );
    return rows.map(({ id }) => id);
  }

  async clientSeen({ name, transport, version, caller }: SeenClient, nowMs: number): Promise<void> {
    await this.#postgres.change(
      `INSERT INTO codemode.clients (name, transport, version, caller, host, first_at, last_at)
        VALUES ($1, $2, $3, $4, $5, $6, $6) ON CONFLICT (name, transport) DO UPDATE SET version = excluded.version,
          caller = excluded.caller, host = excluded.host, last_at = excluded.last_at`,
      [name, transport, version, caller, this.#host.id, nowMs],
    );
    await this.#postgres.change(
      `DELETE FROM codemode.clients WHERE (name, transport) IN
        (SELECT name, transport FROM codemode.clients ORDER BY last_at DESC OFFSET ${MAX_CLIENTS})`,
    );
  }

  async clients(): Promise<KnownClient[]> {
    const rows = await this.#postgres.query<ClientRow>(
      `SELECT name, transport, version, caller, first_at, last_at, ${isUp('clients.host')} AS is_up
        FROM codemode.clients ORDER BY last_at DESC`,
    );
    return rows.map(({ name, transport, version, caller, first_at, last_at, is_up }) => ({
      ...{ name, version, caller, transport: transport === 'http' ? 'http' : 'stdio' },
      ...{ firstAtMs: first_at, lastAtMs: last_at, isHostUp: is_up },
    }));
  }

  #read({ id: runId, host, caller, profile, started_at: createdAtMs, facts }: RunRow): PresentRun | undefined {
    const json = unseal(this.#key, binding(runId, host), facts)?.toString('utf8');
    if (json === undefined) return undefined;
    const [title, source] = JSON.parse(json) as [string, string];
    return { runId, caller, profile, createdAtMs, title, source };
  }
}

function binding(runId: string, host: string): SealBinding {
  return { purpose: 'live run', owner: [runId, host] };
}
