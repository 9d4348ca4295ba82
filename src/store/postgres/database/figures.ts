import type { SharedFigures } from '../../../domain/shared-store.js';
import type { HostLease } from '../host-lease.js';
import { queueState } from '../queue/queue.js';
import type { Postgres } from './connection.js';
import { SCHEMA } from './migrate.js';

/** Counts are refreshed at most this often, however often they are requested. */
const KEPT_MS = 5_000;
/** Counts that take longer are left out. */
const COUNT_MS = 3_000;

/** The metrics of the shared database, as seen by one host. */
export class Figures {
  readonly #postgres: Postgres;
  readonly #host: HostLease;
  #counted: { readonly atMs: number; readonly counts: Promise<SharedFigures['counts']> } | undefined;

  constructor(postgres: Postgres, host: HostLease) {
    this.#postgres = postgres;
    this.#host = host;
  }

  async read(): Promise<SharedFigures> {
    const now = performance.now();
    if (this.#counted === undefined || now - this.#counted.atMs > KEPT_MS)
      this.#counted = { atMs: now, counts: this.#count().catch(() => undefined) };
    return {
      connections: this.#postgres.load,
      heartbeatAgeMs: this.#host.heartbeatAgeMs,
      counts: await this.#counted.counts,
    };
  }

  async #count(): Promise<SharedFigures['counts']> {
    const before = performance.now();
    const [row] = await this.#postgres.query<{ hosts: number; suspended: number; resumed: number; pending: number }>(
      `SELECT (SELECT count(*) FROM ${SCHEMA}.hosts WHERE expires_at > now()) AS hosts,
        (SELECT count(*) FROM ${SCHEMA}.runs WHERE state = 'suspended') AS suspended,
        (SELECT count(*) FROM ${SCHEMA}.runs WHERE lease_owner IS NOT NULL) AS resumed,
        (SELECT count(*) FROM ${SCHEMA}.approvals WHERE state = 'PENDING') AS pending`,
      [],
      { timeoutMs: COUNT_MS },
    );
    const answeredInMs = performance.now() - before;
    const { hosts = 0, suspended = 0, resumed = 0, pending = 0 } = row ?? {};
    return { hosts, suspended, resumed, pending, answeredInMs, queue: await queueState(this.#postgres) };
  }
}
