import type { Database, Statement } from './database.js';

/** What all hosts of one state folder have spent together, day by day. Amounts are whole millionths. */
export class SpendingStore {
  readonly #database: Database;
  readonly #read: Statement<{ amount: number }>;
  readonly #add: Statement<never>;
  readonly #take: Statement<never>;

  constructor(database: Database) {
    this.#database = database;
    this.#read = database.prepare('SELECT amount FROM spending WHERE day = ?');
    this.#add = database.prepare(
      'INSERT INTO spending (day, amount) VALUES (?, ?) ON CONFLICT (day) DO UPDATE SET amount = amount + excluded.amount',
    );
    this.#take = database.prepare('UPDATE spending SET amount = max(0, amount - ?) WHERE day = ?');
  }

  spent(day: string): number {
    return this.#read.get(day)?.amount ?? 0;
  }

  /**
   * Spends unless the day would then cost more than `most`. One transaction: two hosts can't both spend the last of it.
   * What the day has cost before, and whether it was spent.
   */
  spendWithin(day: string, amount: number, most: number): { readonly isSpent: boolean; readonly before: number } {
    return this.#database.transaction(() => {
      const before = this.spent(day);
      if (before + amount > most) return { isSpent: false, before };
      this.#add.run(day, amount);
      return { isSpent: true, before };
    });
  }

  /** Spends whatever the day has cost: a person has said so. */
  spend(day: string, amount: number): void {
    this.#add.run(day, amount);
  }

  giveBack(day: string, amount: number): void {
    this.#take.run(amount, day);
  }
}
