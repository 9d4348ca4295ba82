import type { SpendingStore } from '../spending.js';
import type { Database, Statement } from './database.js';

/** What all hosts of one state folder have spent together. */
export class SqliteSpendingStore implements SpendingStore {
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

  spendWithin(day: string, amount: number, most: number): { readonly isSpent: boolean; readonly before: number } {
    return this.#database.transaction(() => {
      const before = this.spent(day);
      if (before + amount > most) return { isSpent: false, before };
      this.#add.run(day, amount);
      return { isSpent: true, before };
    });
  }

  spend(day: string, amount: number): void {
    this.#add.run(day, amount);
  }

  giveBack(day: string, amount: number): void {
    this.#take.run(amount, day);
  }
}
