import type { Client } from 'pg';
import { Postgres } from '../../src/store/postgres/connection.js';
import type { Cluster } from './cluster.js';

/** The writes of a run at which a host can be held up. */
export type Step = 'store' | 'decide' | 'claim' | 'made' | 'sent' | 'delivered' | 'end';

/** When each step is taken, as a trigger of the database sees it, and of which run. */
const TRIGGERS: Readonly<Record<Step, readonly [when: string, run: 'id' | 'run']>> = {
  store: ['BEFORE INSERT ON codemode.runs FOR EACH ROW', 'id'],
  decide: [
    `BEFORE UPDATE ON codemode.approvals FOR EACH ROW WHEN (OLD.state = 'PENDING' AND NEW.state <> 'PENDING')`,
    'run',
  ],
  claim: [
    `BEFORE UPDATE ON codemode.runs FOR EACH ROW
      WHEN (NEW.state = 'suspended' AND NEW.lease_owner IS NOT NULL AND OLD.fence <> NEW.fence)`,
    'id',
  ],
  made: [`BEFORE INSERT ON codemode.run_calls FOR EACH ROW WHEN (NEW.state = 'made')`, 'run'],
  // Fires for a row that is there already, too: only afterwards it becomes an update.
  sent: [`BEFORE INSERT ON codemode.run_calls FOR EACH ROW WHEN (NEW.state = 'sent')`, 'run'],
  delivered: ['BEFORE INSERT ON codemode.run_deliveries FOR EACH ROW', 'run'],
  end: [
    `BEFORE UPDATE ON codemode.runs FOR EACH ROW WHEN (OLD.state = 'suspended' AND NEW.state <> 'suspended')`,
    'id',
  ],
};
/** Of every run. */
const ANY = '*';
const POLL_MS = 20;

/**
 * Holds hosts up in the middle of a write: a trigger waits for a lock that the test has. What happens to the host meanwhile
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
          RETURN NEW;
        END $$;`);
    for (const [step, [when, run]] of Object.entries(TRIGGERS))
      await database.query(`CREATE TRIGGER gate_${step} ${when} EXECUTE FUNCTION witness.gate('${step}', '${run}')`);
    return new Gates(database);
  }

  async close(): Promise<void> {
    await this.#database.close();
  }

  /** From now on hosts that come to this step, of this run or of any, wait there. */
  async shut(step: Step, runId = ANY): Promise<Gate> {
    const keeper = this.#database.client();
    keeper.on('error', () => {});
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

  /** Resolves when so many writes wait. */
  async reached(count = 1): Promise<void> {
    while ((await this.#waiting()).length < count) await new Promise((wake) => setTimeout(wake, POLL_MS));
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
