import type { Client } from 'pg';
import { Postgres } from '../../src/store/postgres/database/connection.js';
import type { Cluster } from './cluster.js';

/** The writes of a run at which a host can be held up. */
export type Step = 'store' | 'decide' | 'claim' | 'made' | 'sent' | 'delivered' | 'end';

interface Trigger {
  readonly event: string;
  readonly when: string;
  /** The column with the id of the run. */
  readonly run: 'id' | 'run';
}

/** When each step is taken, as a trigger of the database sees it. */
const TRIGGERS: Readonly<Record<Step, Trigger>> = {
  store: { event: 'INSERT ON codemode.runs', when: `NEW.state = 'suspended'`, run: 'id' },
  decide: {
    event: 'UPDATE ON codemode.approvals',
    when: `OLD.state = 'PENDING' AND NEW.state <> 'PENDING'`,
    run: 'run',
  },
  claim: {
    event: 'UPDATE ON codemode.runs',
    when: `NEW.state = 'suspended' AND NEW.lease_owner IS NOT NULL AND OLD.fence <> NEW.fence`,
    run: 'id',
  },
  made: { event: 'INSERT ON codemode.run_calls', when: `NEW.state = 'made'`, run: 'run' },
  sent: { event: 'INSERT OR UPDATE ON codemode.run_calls', when: `NEW.state = 'sent'`, run: 'run' },
  delivered: { event: 'INSERT ON codemode.run_deliveries', when: 'true', run: 'run' },
  end: { event: 'UPDATE ON codemode.runs', when: `OLD.state = 'suspended' AND NEW.state <> 'suspended'`, run: 'id' },
};
/** Of every run. */
const ANY = '*';
const POLL_MS = 20;

/**
 * Holds hosts up in the middle of a commit: a trigger waits for a lock that the test has. What happens to the host meanwhile
 * (killed, paused, cut off) happens at exactly that step of a run.
 */
export class Gates {
  readonly #database: Postgres;

  private constructor(database: Postgres) {
    this.#database = database;
  }

  static async install(cluster: Cluster): Promise<Gates> {
    const database = await Postgres.open({ url: cluster.databaseUrl });
    // Hosts wait for a lock for five seconds, and for a statement for ten: this is about the statement.
    await database.query(`
      CREATE SCHEMA IF NOT EXISTS witness;
      CREATE FUNCTION witness.gate() RETURNS trigger LANGUAGE plpgsql SET lock_timeout = 0 AS $$
        BEGIN
          PERFORM pg_advisory_xact_lock_shared(${LOCKS}, hashtext(TG_ARGV[0] || '${ANY}'));
          PERFORM pg_advisory_xact_lock_shared(${LOCKS}, hashtext(TG_ARGV[0] || (to_jsonb(NEW) ->> TG_ARGV[1])));
          RETURN NULL;
        END $$;`);
    // Deferred: it waits in the commit, so that what is let go is written whether its host is there or not.
    for (const [step, { event, when, run }] of Object.entries(TRIGGERS))
      await database.query(`CREATE CONSTRAINT TRIGGER gate_${step} AFTER ${event} DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW WHEN (${when}) EXECUTE FUNCTION witness.gate('${step}', '${run}')`);
    return new Gates(database);
  }

  async close(): Promise<void> {
    await this.#database.close();
  }

  /** From now on hosts that come to this step, of this run or of any, wait there. */
  async shut(step: Step, runId = ANY): Promise<Gate> {
    const keeper = this.#database.client();
    await keeper.connect();
    await keeper.query('SET lock_timeout = 0');
    await keeper.query('SELECT pg_advisory_lock($1, hashtext($2))', [LOCKS, `${step}${runId}`]);
    return new Gate(this.#database, keeper, `${step}${runId}`);
  }
}

/** The class of its locks in the database. */
const LOCKS = 2_400;

export class Gate {
  readonly #database: Postgres;
  readonly #keeper: Client;
  readonly #name: string;

  constructor(database: Postgres, keeper: Client, name: string) {
    this.#database = database;
    this.#keeper = keeper;
    this.#name = name;
  }

  /** Resolves when a write waits. */
  async reached(): Promise<void> {
    while (!(await this.isReached())) await pause();
  }

  /** Resolves when somebody else waits for what the one at the gate has locked. */
  async isFollowed(): Promise<void> {
    for (;;) {
      const [row] = await this.#database.query<{ count: number }>(
        'SELECT count(*) AS count FROM pg_stat_activity WHERE pg_blocking_pids(pid) && $1::int[]',
        [await this.#waiting()],
      );
      if ((row?.count ?? 0) > 0) return;
      await pause();
    }
  }

  async isReached(): Promise<boolean> {
    return (await this.#waiting()).length > 0;
  }

  /** What waits is written, and so is what comes after it. */
  async open(): Promise<void> {
    await this.#keeper.end();
  }

  /** What waits is not written: the database ends the connections. */
  async refuse(): Promise<void> {
    await this.#database.query('SELECT pg_terminate_backend(pid) FROM unnest($1::int[]) AS pid', [
      await this.#waiting(),
    ]);
    await this.open();
  }

  async #waiting(): Promise<number[]> {
    const rows = await this.#database.query<{ pid: number }>(
      `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND classid = $1 AND NOT granted
        AND objid::bigint = hashtext($2)::bigint & 4294967295`,
      [LOCKS, this.#name],
    );
    return rows.map(({ pid }) => pid);
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, POLL_MS));
}
