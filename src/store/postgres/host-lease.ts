import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { Postgres } from './connection.js';

export interface HostLeaseOptions {
  /** How long a host that is not heard of keeps what it holds. */
  readonly leaseMs: number;
}

/** Heartbeats within one lease: two may fail. */
const BEATS_PER_LEASE = 3;
/** Rows of hosts that have ended are kept as long, for people who look. */
const FORGET_AFTER = '1 day';

/**
 * This host among those that share the database: a row that says until when it is up, by the clock of the database. Everything
 * that it holds names it, so one heartbeat renews all of it. A host that was paused or cut off has no power over what another
 * host has taken since: see the fence of a run.
 */
export class HostLease {
  readonly id = randomBytes(12).toString('base64url');
  readonly #postgres: Postgres;
  readonly #leaseMs: number;
  readonly #onBeat = new Set<() => Promise<void>>();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  private constructor(postgres: Postgres, { leaseMs }: HostLeaseOptions) {
    this.#postgres = postgres;
    this.#leaseMs = leaseMs;
  }

  static async begin(postgres: Postgres, options: HostLeaseOptions): Promise<HostLease> {
    const host = new HostLease(postgres, options);
    await host.#renew();
    host.#schedule();
    return host;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Calls it after every heartbeat. What it throws is ignored: it is called again. */
  onBeat(act: () => Promise<void>): void {
    this.#onBeat.add(act);
  }

  /** From now on this host counts as gone, and what it holds is free. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#postgres.change('UPDATE codemode.hosts SET expires_at = now() WHERE id = $1', [this.id]);
  }

  #schedule(): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => void this.#beat(), this.#leaseMs / BEATS_PER_LEASE).unref();
  }

  async #beat(): Promise<void> {
    try {
      await this.#renew();
      for (const act of this.#onBeat) await act();
    } catch {
      // The next heartbeat tries again; until then the lease may expire, and others take over.
    }
    this.#schedule();
  }

  async #renew(): Promise<void> {
    await this.#postgres.change(
      `INSERT INTO codemode.hosts (id, name, expires_at) VALUES ($1, $2, now() + $3 * interval '1 millisecond')
        ON CONFLICT (id) DO UPDATE SET expires_at = excluded.expires_at`,
      [this.id, `${hostname()}:${process.pid}`, this.#leaseMs],
      { timeoutMs: this.#leaseMs },
    );
    await this.#postgres.change(`DELETE FROM codemode.hosts WHERE expires_at < now() - interval '${FORGET_AFTER}'`);
  }
}

/** SQL: whether the host that this column names is up. */
export function isUp(column: string): string {
  return `EXISTS (SELECT 1 FROM codemode.hosts WHERE hosts.id = ${column} AND hosts.expires_at > now())`;
}
