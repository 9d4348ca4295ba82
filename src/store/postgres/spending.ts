import type { SpendingStore } from '../spending.js';
import type { Sql } from './database/connection.js';

/** What all hosts have spent together. Each amount is spent in one statement. */
export class PostgresSpendingStore implements SpendingStore {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  async spent(day: string): Promise<number> {
    const [row] = await this.#sql.query<{ amount: number }>('SELECT amount FROM codemode.spending WHERE day = $1', [
      day,
    ]);
    return row?.amount ?? 0;
  }

  async spendWithin(day: string, amount: number, most: number) {
    const [row] = await this.#sql.query<{ amount: number }>(
      `INSERT INTO codemode.spending (day, amount) SELECT $1, $2::bigint WHERE $2::bigint <= $3::bigint
        ON CONFLICT (day) DO UPDATE SET amount = spending.amount + excluded.amount
        WHERE spending.amount + excluded.amount <= $3::bigint RETURNING amount`,
      [day, amount, most],
    );
    if (row !== undefined) return { isSpent: true, before: row.amount - amount };
    return { isSpent: false, before: await this.spent(day) };
  }

  async spend(day: string, amount: number): Promise<void> {
    await this.#sql.change(
      `INSERT INTO codemode.spending (day, amount) VALUES ($1, $2)
        ON CONFLICT (day) DO UPDATE SET amount = spending.amount + excluded.amount`,
      [day, amount],
    );
  }

  async giveBack(day: string, amount: number): Promise<void> {
    await this.#sql.change('UPDATE codemode.spending SET amount = greatest(0, amount - $2::bigint) WHERE day = $1', [
      day,
      amount,
    ]);
  }
}
