import type { ScriptHead, StoredScript } from '../../domain/script.js';
import { type ScriptRow, ScriptSeals } from '../script-seals.js';
import { type Added, MAX_SCRIPTS, type ScriptStore } from '../scripts.js';
import type { Database, Statement } from './database.js';

/** Stored scripts in the SQLite file of a state folder. */
export class SqliteScriptStore implements ScriptStore {
  readonly #database: Database;
  readonly #seals: ScriptSeals;
  readonly #put: Statement<never>;
  readonly #names: Statement<{ name: string }>;
  readonly #heads: Statement<Omit<ScriptRow, 'source'>>;
  readonly #find: Statement<ScriptRow>;
  readonly #remove: Statement<never>;

  constructor(database: Database, key: Uint8Array) {
    this.#database = database;
    this.#seals = new ScriptSeals(key);
    this.#put = database.prepare('INSERT OR REPLACE INTO scripts (name, head, source) VALUES (?, ?, ?)');
    this.#names = database.prepare('SELECT name FROM scripts');
    this.#heads = database.prepare('SELECT name, head FROM scripts ORDER BY name');
    this.#find = database.prepare('SELECT name, head, source FROM scripts WHERE name = ?');
    this.#remove = database.prepare('DELETE FROM scripts WHERE name = ?');
  }

  add(script: StoredScript, replaces: boolean): Added {
    const { name, head, source } = this.#seals.seal(script);
    return this.#database.transaction(() => {
      const names = new Set(this.#names.all().map((row) => row.name));
      const isKnown = names.has(name);
      if (isKnown && !replaces) return 'taken';
      if (!isKnown && names.size >= MAX_SCRIPTS) return 'full';
      this.#put.run(name, head, source);
      return isKnown ? 'replaced' : 'added';
    });
  }

  list(): ScriptHead[] {
    return this.#heads.all().flatMap((row) => this.#seals.openHead(row) ?? []);
  }

  find(name: string): StoredScript | undefined {
    const row = this.#find.get(name);
    return row === undefined ? undefined : this.#seals.open(row);
  }

  remove(name: string): boolean {
    return this.#remove.run(name) > 0;
  }
}
