import type { RateStore, SharedRate } from '../rates.js';
import type { Postgres, Sql } from './database/connection.js';

/**
 * Computes what is left of a rate now, by the database clock, and takes one call if one is left. A new rate is full. One statement,
 * so two hosts that take the last call at once are serialized.
 */
const TAKE = `
  INSERT INTO codemode.rates AS known (key, balance, at) VALUES ($1, $2::float8 - 1, clock_timestamp())
  ON CONFLICT (key) DO UPDATE SET at = clock_timestamp(),
    balance = least($2::float8, known.balance + ${passed('known')} * $2::float8 / $3::float8) - 1
  WHERE least($2::float8, known.balance + ${passed('known')} * $2::float8 / $3::float8) >= 1
  RETURNING balance`;
const LEFT = `SELECT least($2::float8, balance + ${passed('rates')} * $2::float8 / $3::float8) AS balance
  FROM codemode.rates WHERE key = $1`;

function passed(table: string): string {
  return `greatest(0, extract(epoch FROM clock_timestamp() - ${table}.at) * 1000)`;
}

/** Rates that all hosts count together. */
export class PostgresRateStore implements RateStore {
  readonly #postgres: Postgres;

  constructor(postgres: Postgres) {
    this.#postgres = postgres;
  }

  async take(rates: readonly SharedRate[]): Promise<number> {
    const [only] = rates;
    if (rates.length === 1 && only !== undefined) return takeOne(this.#postgres, only);
    // In a fixed order, so that two hosts do not deadlock.
    const ordered = [...rates].sort((left, right) => (left.key < right.key ? -1 : 1));
    const refused: number[] = [];
    try {
      await this.#postgres.transaction(async (sql) => {
        refused.length = 0;
        for (const rate of ordered) {
          const waitMs = await takeOne(sql, rate);
          if (waitMs > 0) refused.push(waitMs);
        }
        if (refused.length > 0) throw new Refused();
      });
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
    }
    return Math.max(0, ...refused);
  }
}

/** 0: taken. Otherwise the time until a call is left. */
async function takeOne(sql: Sql, { key, calls, perMs }: SharedRate): Promise<number> {
  const [taken] = await sql.query<{ balance: number }>(TAKE, [key, calls, perMs]);
  if (taken !== undefined) return 0;
  const [left] = await sql.query<{ balance: number }>(LEFT, [key, calls, perMs]);
  return Math.max(1, Math.ceil((1 - (left?.balance ?? 0)) * (perMs / calls)));
}

/** Thrown to roll back what was taken from the other rates. */
class Refused extends Error {}
