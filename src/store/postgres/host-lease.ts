import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { Postgres } from './database/connection.js';

export interface HostLeaseOptions {
  /** How long a silent host keeps what it holds. */
  readonly leaseMs: number;
}

/** Heartbeats per lease. A failed one is retried soon, so two may fail. */
const BEATS_PER_LEASE = 3;
const RETRIES_PER_LEASE = 10;

/**
 * This host among those that share the database: a row that says until when the host is up, by the database clock. Everything the
 * host holds refers to this row, so one heartbeat renews all of it. A host that was paused or cut off has no power over what
 * another host has taken since: see the fence of a run.
 */
export class HostLease {
  readonly id = randomBytes(12).toString('base64url');
  readonly #postgres: Postgres;
  readonly #leaseMs: number;
  readonly #onBeat = new Set<() => Promise<void>>();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  /** When the last successful renewal was sent, by two clocks of this machine. */
  #renewedAt = { steadyMs: Number.NEGATIVE_INFINITY, wallMs: 0 };
  #renewing: Promise<boolean> = Promise.resolve(true);
  #isActing = false;

  private constructor(postgres: Postgres, { leaseMs }: HostLeaseOptions) {
    this.#postgres = postgres;
    this.#leaseMs = leaseMs;
  }

  static async begin(postgres: Postgres, options: HostLeaseOptions): Promise<HostLease> {
    const host = new HostLease(postgres, options);
    await host.#renew();
    host.#schedule(true);
    return host;
  }

  /**
   * Whether no other host can have taken over what this host holds. A host that was paused or cut off is not certain until the
   * database has answered it again. The monotonic clock stops while the machine sleeps, and the wall clock can jump. The clock that
   * shows more elapsed time counts.
   */
  get isCertain(): boolean {
    return !this.#isClosed && this.heartbeatAgeMs < this.#leaseMs;
  }

  /** Time since the last successful renewal was sent. */
  get heartbeatAgeMs(): number {
    const { steadyMs, wallMs } = this.#renewedAt;
    return Math.max(performance.now() - steadyMs, Date.now() - wallMs);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Calls `act` after every heartbeat. Errors are ignored: it is called again. */
  onBeat(act: () => Promise<void>): void {
    this.#onBeat.add(act);
  }

  /** From now on this host counts as gone, and what it holds is released. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#timer);
    // A heartbeat that arrives later would revive this host.
    await this.#renewing;
    await this.#postgres.change('UPDATE codemode.hosts SET expires_at = now() WHERE id = $1', [this.id]);
  }

  #schedule(isRenewed: boolean): void {
    if (this.#isClosed) return;
    const delayMs = this.#leaseMs / (isRenewed ? BEATS_PER_LEASE : RETRIES_PER_LEASE);
    this.#timer = setTimeout(() => void this.#beat(), delayMs).unref();
  }

  async #beat(): Promise<void> {
    this.#renewing = this.#renew().then(
      () => true,
      // Until a retry succeeds, the lease may expire and other hosts may take over.
      () => false,
    );
    const isRenewed = await this.#renewing;
    this.#schedule(isRenewed);
    if (isRenewed && !this.#isActing) await this.#act();
  }

  /** An action that waits for a lock or a slow database must not delay the next heartbeat. */
  async #act(): Promise<void> {
    this.#isActing = true;
    for (const act of this.#onBeat) await act().catch(() => {});
    this.#isActing = false;
  }

  async #renew(): Promise<void> {
    const begunAt = { steadyMs: performance.now(), wallMs: Date.now() };
    await this.#postgres.change(
      `INSERT INTO codemode.hosts (id, name, expires_at) VALUES ($1, $2, now() + $3 * interval '1 millisecond')
        ON CONFLICT (id) DO UPDATE SET expires_at = excluded.expires_at`,
      [this.id, `${hostname()}:${process.pid}`, this.#leaseMs],
      { timeoutMs: this.#leaseMs / BEATS_PER_LEASE },
    );
    this.#renewedAt = begunAt;
  }
}

/** SQL: whether the host that this column names is up. */
export function isUp(column: string): string {
  return `EXISTS (SELECT 1 FROM codemode.hosts WHERE hosts.id = ${column} AND hosts.expires_at > now())`;
}
