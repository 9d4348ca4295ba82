import type { ScriptHead, StoredScript } from '../../domain/script.js';
import { type ScriptRow, ScriptSeals } from '../script-seals.js';
import {
  type Added,
  earlierIn,
  earlierKey,
  MAX_EARLIER_VERSIONS,
  MAX_SCRIPTS,
  type ScriptStore,
  savedBy,
  type UnnumberedScript,
} from '../scripts.js';
import type { Database, Statement } from './database.js';

/** Stored scripts in the SQLite file of a state folder. */
export class SqliteScriptStore implements ScriptStore {
  readonly #database: Database;
  readonly #seals: ScriptSeals;
  readonly #put: Statement<never>;
  readonly #names: Statement<{ name: string }>;
  readonly #heads: Statement<Omit<ScriptRow, 'source'>>;
  readonly #find: Statement<ScriptRow>;
  readonly #earlier: Statement<{ name: string }>;
  readonly #remove: Statement<never>;

  constructor(database: Database, key: Uint8Array) {
    this.#database = database;
    this.#seals = new ScriptSeals(key);
    this.#put = database.prepare('INSERT OR REPLACE INTO scripts (name, head, source) VALUES (?, ?, ?)');
    this.#names = database.prepare("SELECT name FROM scripts WHERE instr(name, '@') = 0");
    this.#heads = database.prepare("SELECT name, head FROM scripts WHERE instr(name, '@') = 0 ORDER BY name");
    this.#find = database.prepare('SELECT name, head, source FROM scripts WHERE name = ?');
    this.#earlier = database.prepare("SELECT name FROM scripts WHERE instr(name, ? || '@') = 1");
    this.#remove = database.prepare('DELETE FROM scripts WHERE name = ?');
  }

  add(script: UnnumberedScript, replaces: boolean, mostSaved = Number.POSITIVE_INFINITY): Added {
    const { name } = script;
    return this.#database.transaction((): Added => {
      const names = new Set(this.#names.all().map((row) => row.name));
      const isKnown = names.has(name);
      if (isKnown && !replaces) return { state: 'taken' };
      if (!isKnown && names.size >= MAX_SCRIPTS) return { state: 'full' };
      if (savedBy(this.list(), script) >= mostSaved) return { state: 'saver_full' };
      const last = this.find(name);
      if (last !== undefined) this.#write(last, earlierKey(name, last.version));
      for (const old of this.earlierVersions(name).slice(MAX_EARLIER_VERSIONS)) this.#remove.run(earlierKey(name, old));
      const version = (last?.version ?? 0) + 1;
      this.#write({ ...script, version }, name);
      return { state: isKnown ? 'replaced' : 'added', version };
    });
  }

  #write(script: StoredScript, key: string): void {
    const { head, source } = this.#seals.seal(script, key);
    this.#put.run(key, head, source);
  }

  list(): ScriptHead[] {
    return this.#heads.all().flatMap((row) => this.#seals.openHead(row) ?? []);
  }

  find(name: string, version?: number): StoredScript | undefined {
    const row = this.#find.get(version === undefined ? name : earlierKey(name, version));
    return row === undefined ? undefined : this.#seals.open(row);
  }

  earlierVersions(name: string): number[] {
    const keys = this.#earlier.all(name).map((row) => row.name);
    return earlierIn(keys, name);
  }

  remove(name: string): boolean {
    return this.#database.transaction(() => {
      for (const version of this.earlierVersions(name)) this.#remove.run(earlierKey(name, version));
      return this.#remove.run(name) > 0;
    });
  }
}
