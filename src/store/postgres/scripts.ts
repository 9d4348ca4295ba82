import type { ScriptHead, StoredScript } from '../../domain/script.js';
import { ScriptSeals } from '../script-seals.js';
import { type Added, MAX_SCRIPTS, type ScriptStore } from '../scripts.js';
import type { Postgres } from './connection.js';

/** Stored scripts in the database that hosts share. */
export class PostgresScriptStore implements ScriptStore {
  readonly #postgres: Postgres;
  readonly #seals: ScriptSeals;

  constructor(postgres: Postgres, key: Uint8Array) {
    this.#postgres = postgres;
    this.#seals = new ScriptSeals(key);
  }

  async add(script: StoredScript, replaces: boolean): Promise<Added> {
    const { name, head, source } = this.#seals.seal(script);
    return this.#postgres.transaction(async (sql) => {
      // The number of scripts is bounded, even where two hosts add one at the same time.
      await sql.change('LOCK TABLE codemode.scripts IN SHARE ROW EXCLUSIVE MODE');
      const names = await sql.query<{ name: string }>('SELECT name FROM codemode.scripts');
      const isKnown = names.some((row) => row.name === name);
      if (isKnown && !replaces) return 'taken';
      if (!isKnown && names.length >= MAX_SCRIPTS) return 'full';
      await sql.change(
        `INSERT INTO codemode.scripts (name, head, source) VALUES ($1, $2, $3)
          ON CONFLICT (name) DO UPDATE SET head = excluded.head, source = excluded.source`,
        [name, head, source],
      );
      return isKnown ? 'replaced' : 'added';
    });
  }

  async list(): Promise<ScriptHead[]> {
    const rows = await this.#postgres.query<{ name: string; head: Buffer }>(
      'SELECT name, head FROM codemode.scripts ORDER BY name COLLATE "C"',
    );
    return rows.flatMap((row) => this.#seals.openHead(row) ?? []);
  }

  async find(name: string): Promise<StoredScript | undefined> {
    const [row] = await this.#postgres.query<{ name: string; head: Buffer; source: Buffer }>(
      'SELECT name, head, source FROM codemode.scripts WHERE name = $1',
      [name],
    );
    return row === undefined ? undefined : this.#seals.open(row);
  }

  async remove(name: string): Promise<boolean> {
    return (await this.#postgres.change('DELETE FROM codemode.scripts WHERE name = $1', [name])) > 0;
  }
}
