import type { ScriptHead, StoredScript } from '../../domain/script.js';
import { ScriptSeals } from '../script-seals.js';
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
import type { Postgres, Sql } from './database/connection.js';

/** Stored scripts in the database that hosts share. */
export class PostgresScriptStore implements ScriptStore {
  readonly #postgres: Postgres;
  readonly #seals: ScriptSeals;

  constructor(postgres: Postgres, key: Uint8Array) {
    this.#postgres = postgres;
    this.#seals = new ScriptSeals(key);
  }

  async add(script: UnnumberedScript, replaces: boolean, mostSaved = Number.POSITIVE_INFINITY): Promise<Added> {
    const { name } = script;
    return this.#postgres.transaction(async (sql) => {
      // The lock keeps the number of scripts bounded even if two hosts add one at the same time.
      await sql.change('LOCK TABLE codemode.scripts IN SHARE ROW EXCLUSIVE MODE');
      const keys = (await sql.query<{ name: string }>('SELECT name FROM codemode.scripts')).map((row) => row.name);
      const isKnown = keys.includes(name);
      if (isKnown && !replaces) return { state: 'taken' };
      if (!isKnown && keys.filter((key) => !key.includes('@')).length >= MAX_SCRIPTS) return { state: 'full' };
      if (mostSaved < MAX_SCRIPTS && savedBy(await this.#list(sql), script) >= mostSaved)
        return { state: 'saver_full' };
      const last = await this.#find(sql, name);
      if (last !== undefined) await this.#write(sql, last, earlierKey(name, last.version));
      const version = (last?.version ?? 0) + 1;
      await this.#write(sql, { ...script, version }, name);
      const old = earlierIn(keys, name).slice(MAX_EARLIER_VERSIONS - 1);
      for (const each of old)
        await sql.change('DELETE FROM codemode.scripts WHERE name = $1', [earlierKey(name, each)]);
      return { state: isKnown ? 'replaced' : 'added', version };
    });
  }

  async #write(sql: Sql, script: StoredScript, key: string): Promise<void> {
    const { head, source } = this.#seals.seal(script, key);
    await sql.change(
      `INSERT INTO codemode.scripts (name, head, source) VALUES ($1, $2, $3)
        ON CONFLICT (name) DO UPDATE SET head = excluded.head, source = excluded.source`,
      [key, head, source],
    );
  }

  async #find(sql: Sql, key: string): Promise<StoredScript | undefined> {
    const [row] = await sql.query<{ name: string; head: Buffer; source: Buffer }>(
      'SELECT name, head, source FROM codemode.scripts WHERE name = $1',
      [key],
    );
    return row === undefined ? undefined : this.#seals.open(row);
  }

  list(): Promise<ScriptHead[]> {
    return this.#list(this.#postgres);
  }

  async #list(sql: Sql): Promise<ScriptHead[]> {
    const rows = await sql.query<{ name: string; head: Buffer }>(
      `SELECT name, head FROM codemode.scripts WHERE position('@' in name) = 0 ORDER BY name COLLATE "C"`,
    );
    return rows.flatMap((row) => this.#seals.openHead(row) ?? []);
  }

  find(name: string, version?: number): Promise<StoredScript | undefined> {
    return this.#find(this.#postgres, version === undefined ? name : earlierKey(name, version));
  }

  async earlierVersions(name: string): Promise<number[]> {
    const rows = await this.#postgres.query<{ name: string }>(
      'SELECT name FROM codemode.scripts WHERE starts_with(name, $1)',
      [`${name}@`],
    );
    return earlierIn(
      rows.map((row) => row.name),
      name,
    );
  }

  async remove(name: string): Promise<boolean> {
    return this.#postgres.transaction(async (sql) => {
      await sql.change('DELETE FROM codemode.scripts WHERE starts_with(name, $1)', [`${name}@`]);
      return (await sql.change('DELETE FROM codemode.scripts WHERE name = $1', [name])) > 0;
    });
  }
}
