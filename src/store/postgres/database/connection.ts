import type { Socket } from 'node:net';
import type { Client, ClientConfig, Pool, PoolClient } from 'pg';
import { HostError } from '../../../domain/errors.js';
import { omitUndefined } from '../../../lib/omit-undefined.js';
import { storedNumber } from '../../../lib/text/stored-number.js';
import { type PostgresAddress, parsePostgresAddress } from './address.js';
import { isConflict, isOutcomeUnknown, postgresError } from './errors.js';

export interface PostgresOptions {
  /** `postgres://user:password@host:5432/database?sslmode=verify-full` */
  readonly url: string;
  /** The most connections that this process opens. */
  readonly maxConnections?: number;
  /** Shown in `pg_stat_activity`. */
  readonly applicationName?: string;
  readonly timeouts?: Partial<PostgresTimeouts>;
}

export interface PostgresTimeouts {
  /** To open a connection, or to wait for a free one. */
  readonly connectMs: number;
  readonly statementMs: number;
  readonly lockMs: number;
  /** The longest time that a host paused inside a transaction can hold its row locks. */
  readonly idleInTransactionMs: number;
}

export type SqlValue = string | number | boolean | bigint | Uint8Array | Date | null | readonly SqlValue[];

/** A connection, or an open transaction on one. Table names are written with their schema: there is no search path. */
export interface Sql {
  /** Rows as the driver returns them. The author of the statement asserts their type; it is not checked. */
  query<Row>(text: string, values?: readonly SqlValue[], options?: StatementOptions): Promise<Row[]>;
  /** Returns how many rows changed. */
  change(text: string, values?: readonly SqlValue[], options?: StatementOptions): Promise<number>;
}

export interface StatementOptions {
  readonly timeoutMs?: number;
}

const TIMEOUTS: PostgresTimeouts = {
  connectMs: 5_000,
  statementMs: 10_000,
  lockMs: 5_000,
  idleInTransactionMs: 5_000,
};
const MAX_CONNECTIONS = 10;
/** If an answer is later than the database's own timeout by this much, the link is considered cut. */
const LINK_GRACE_MS = 2_000;
/** In a deadlock the database rolls back one of the two transactions, which is then retried. */
const MAX_ATTEMPTS = 5;

/**
 * The database that hosts share. Nothing depends on the session, so it works behind a pooler that gives each transaction another
 * connection. The driver is loaded with the first connection, so SQLite users do not pay for it.
 */
export class Postgres implements Sql {
  readonly address: PostgresAddress;
  readonly #options: PostgresOptions;
  readonly #timeouts: PostgresTimeouts;
  readonly #driver: typeof import('pg');
  readonly #pool: Pool;
  /** A pooler refuses timeouts as connection parameters, so behind one they are set in each transaction. */
  readonly isPooled: boolean;

  private constructor(
    options: PostgresOptions,
    address: PostgresAddress,
    driver: typeof import('pg'),
    isPooled: boolean,
  ) {
    this.address = address;
    this.#options = options;
    this.#timeouts = { ...TIMEOUTS, ...options.timeouts };
    this.#driver = driver;
    this.isPooled = isPooled;
    this.#pool = this.newPool(options.maxConnections ?? MAX_CONNECTIONS);
  }

  /** Connects. Throws `bad_config` or `store_unavailable`, naming the problem and what to type. */
  static async open(options: PostgresOptions): Promise<Postgres> {
    const address = parsePostgresAddress(options.url);
    const driver = await loadDriver();
    const direct = new Postgres(options, address, driver, false);
    try {
      await direct.#tryToConnect();
      return direct;
    } catch (error) {
      await direct.close();
      if (!isParameterRefused(error)) throw error;
    }
    const pooled = new Postgres(options, address, driver, true);
    try {
      await pooled.#tryToConnect();
      return pooled;
    } catch (error) {
      await pooled.close();
      throw error;
    }
  }

  async query<Row>(text: string, values?: readonly SqlValue[], options?: StatementOptions): Promise<Row[]> {
    if (this.isPooled) return this.transaction((sql) => sql.query<Row>(text, values, options));
    return this.#translated(async () => (await this.#pool.query(statement(text, values, options))).rows as Row[]);
  }

  async change(text: string, values?: readonly SqlValue[], options?: StatementOptions): Promise<number> {
    if (this.isPooled) return this.transaction((sql) => sql.change(text, values, options));
    return this.#translated(async () => (await this.#pool.query(statement(text, values, options))).rowCount ?? 0);
  }

  /**
   * Atomic. `work` is repeated if the database rolled it back because of another transaction, so it must have no effects but its
   * statements. After `store_unavailable` it is unknown whether it was committed.
   */
  async transaction<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result> {
    return this.#translated(async () => {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await this.#attempt(work);
        } catch (error) {
          if (attempt >= MAX_ATTEMPTS || !isConflict(error)) throw error;
        }
      }
    });
  }

  /** A separate connection outside the pool, for `LISTEN`. The caller ends it. */
  client(): Client {
    const client = new this.#driver.Client(this.#clientConfig());
    // Set at once: a connection can break with the very packet that opened it, and an error without a listener would end the process.
    client.on('error', () => {});
    return client;
  }

  /** Connections of this process: open, idle, and requests waiting for one. */
  get load(): { readonly open: number; readonly idle: number; readonly waiting: number } {
    return { open: this.#pool.totalCount, idle: this.#pool.idleCount, waiting: this.#pool.waitingCount };
  }

  /** A separate pool for the queue library, which sends its own statements. The caller ends it. */
  newPool(max: number): Pool {
    const pool = new this.#driver.Pool({ ...this.#clientConfig(), max, idleTimeoutMillis: 30_000 });
    // An idle connection that breaks is replaced when the next one is needed.
    pool.on('error', () => {});
    // A connection in use that breaks between two statements would end the process. The next statement fails anyway.
    pool.on('connect', (client) => client.on('error', () => {}));
    return pool;
  }

  async close(): Promise<void> {
    if (!this.#pool.ending) await this.#pool.end();
  }

  /** Outside the pool: the pool would leak a connection whose login failed on our side, which would keep the process alive. */
  async #tryToConnect(): Promise<void> {
    const open = async () => {
      const client = this.client();
      try {
        await client.connect();
        await client.end();
      } catch (error) {
        (client as unknown as { connection: { stream: Socket } }).connection.stream.destroy();
        throw error;
      }
    };
    await this.#translated(open, true);
  }

  async #attempt<Result>(work: (sql: Sql) => Promise<Result>): Promise<Result> {
    const client = await this.#pool.connect();
    let broken: Error | undefined;
    // Without a listener, a connection that breaks between two statements would end the process.
    const onError = (error: Error): void => {
      broken = error;
    };
    client.on('error', onError);
    try {
      await client.query(this.isPooled ? `BEGIN; ${this.#setTimeouts()}` : 'BEGIN');
      const result = await work(sqlOf(client));
      await client.query('COMMIT');
      return result;
    } catch (error) {
      // A connection that did not answer would not answer a ROLLBACK either.
      if (isOutcomeUnknown(error)) broken ??= error as Error;
      else
        await client.query('ROLLBACK').catch((failed: Error) => {
          broken ??= failed;
        });
      throw error;
    } finally {
      client.off('error', onError);
      client.release(broken);
    }
  }

  async #translated<Result>(act: () => Promise<Result>, isOpening = false): Promise<Result> {
    try {
      return await act();
    } catch (error) {
      // Errors that the work itself throws, or rows that it could not read, are not database errors.
      throw isOfDriver(error) ? postgresError(error, this.address, isOpening) : error;
    }
  }

  #setTimeouts(): string {
    const { statementMs, lockMs, idleInTransactionMs } = this.#timeouts;
    return (
      `SET LOCAL statement_timeout = ${statementMs}; SET LOCAL lock_timeout = ${lockMs}; ` +
      `SET LOCAL idle_in_transaction_session_timeout = ${idleInTransactionMs}`
    );
  }

  #clientConfig(): ClientConfig {
    const { host, port, user, password, database, tls } = this.address;
    const { connectMs, statementMs, lockMs, idleInTransactionMs } = this.#timeouts;
    return {
      host,
      port,
      user,
      password,
      database,
      ssl: tls === undefined ? false : { ...tls },
      application_name: this.#options.applicationName ?? 'codemode',
      connectionTimeoutMillis: connectMs,
      query_timeout: statementMs + LINK_GRACE_MS,
      keepAlive: true,
      types: { getTypeParser: (oid, format) => numberParser(oid) ?? this.#driver.types.getTypeParser(oid, format) },
      ...(this.isPooled
        ? {}
        : {
            statement_timeout: statementMs,
            lock_timeout: lockMs,
            idle_in_transaction_session_timeout: idleInTransactionMs,
          }),
    };
  }
}

function sqlOf(client: PoolClient): Sql {
  return {
    query: async <Row>(text: string, values?: readonly SqlValue[], options?: StatementOptions) =>
      (await client.query(statement(text, values, options))).rows as Row[],
    change: async (text, values, options) => (await client.query(statement(text, values, options))).rowCount ?? 0,
  };
}

/** Unnamed: the database drops the statement with the next one, so a pooler may switch connections in between. */
function statement(text: string, values: readonly SqlValue[] = [], { timeoutMs }: StatementOptions = {}) {
  return {
    text,
    values: values.map((value) =>
      value instanceof Uint8Array && !Buffer.isBuffer(value) ? Buffer.from(value) : value,
    ),
    ...omitUndefined({ query_timeout: timeoutMs }),
  };
}

const INT8 = 20;
const NUMERIC = 1700;

/** Times, sizes and counts are read as numbers. All of them fit exactly into a double. */
function numberParser(oid: number): ((text: string) => number) | undefined {
  return oid === INT8 || oid === NUMERIC ? (text) => storedNumber(Number(text)) : undefined;
}

/** Matches PgBouncer's message. */
function isParameterRefused(error: unknown): boolean {
  const { cause } = (error ?? {}) as { cause?: { message?: unknown } };
  return typeof cause?.message === 'string' && /unsupported startup parameter/i.test(cause.message);
}

/** The driver's errors have the server's `severity`, Node's `errno`, or come from the driver as plain errors. */
function isOfDriver(error: unknown): boolean {
  if (error instanceof HostError || !(error instanceof Error)) return false;
  return (
    'severity' in error ||
    'errno' in error ||
    'code' in error ||
    /Connection terminated|timeout|not queryable|does not support SSL|password must be|certificate|closed/i.test(
      error.message,
    )
  );
}

async function loadDriver(): Promise<typeof import('pg')> {
  const module = await import('pg');
  return (module as unknown as { default?: typeof import('pg') }).default ?? module;
}
