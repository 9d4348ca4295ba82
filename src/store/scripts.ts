import { hash } from 'node:crypto';
import { closeSync, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import type { ScriptHead, StoredScript } from '../domain/script.js';
import { type SealBinding, seal, unseal } from '../lib/sealed.js';
import type { Database, Statement } from './database.js';

interface Row {
  name: string;
  head: Buffer;
}

/** More than anybody keeps in mind; a listing opens them all. */
export const MAX_SCRIPTS = 500;

export type Added = 'added' | 'replaced' | 'taken' | 'full';

/**
 * Stored scripts, sealed and bound to their names: who can write to the file and has no key can neither plant one nor
 * exchange two. One that does not open is not there.
 */
export class ScriptStore {
  readonly #database: Database;
  readonly #key: Uint8Array;
  readonly #put: Statement<never>;
  readonly #names: Statement<{ name: string }>;
  readonly #heads: Statement<Row>;
  readonly #find: Statement<Row & { source: Buffer }>;
  readonly #remove: Statement<never>;

  constructor(database: Database, key: Uint8Array) {
    this.#database = database;
    this.#key = key;
    this.#put = database.prepare('INSERT OR REPLACE INTO scripts (name, head, source) VALUES (?, ?, ?)');
    this.#names = database.prepare('SELECT name FROM scripts');
    this.#heads = database.prepare('SELECT name, head FROM scripts ORDER BY name');
    this.#find = database.prepare('SELECT name, head, source FROM scripts WHERE name = ?');
    this.#remove = database.prepare('DELETE FROM scripts WHERE name = ?');
  }

  /** Of two processes that add one name at once, one is told that it is taken. */
  add({ source, ...head }: StoredScript, replaces: boolean): Added {
    const { name } = head;
    const sealedHead = seal(this.#key, binding('head', name), Buffer.from(JSON.stringify(head)));
    const sealedSource = seal(this.#key, binding('source', name), Buffer.from(source));
    return this.#database.transaction(() => {
      const names = new Set(this.#names.all().map((row) => row.name));
      const isKnown = names.has(name);
      if (isKnown && !replaces) return 'taken';
      if (!isKnown && names.size >= MAX_SCRIPTS) return 'full';
      this.#put.run(name, sealedHead, sealedSource);
      return isKnown ? 'replaced' : 'added';
    });
  }

  list(): ScriptHead[] {
    return this.#heads.all().flatMap((row) => this.#open(row) ?? []);
  }

  find(name: string): StoredScript | undefined {
    const row = this.#find.get(name);
    const head = row === undefined ? undefined : this.#open(row);
    if (row === undefined || head === undefined) return undefined;
    const source = unseal(this.#key, binding('source', name), row.source)?.toString('utf8');
    // Both are ours; but one may have been put back from a copy of the file.
    return source === undefined || scriptDigest(source) !== head.digest ? undefined : { ...head, source };
  }

  remove(name: string): boolean {
    return this.#remove.run(name) > 0;
  }

  #open({ name, head }: Row): ScriptHead | undefined {
    const json = unseal(this.#key, binding('head', name), head)?.toString('utf8');
    return json === undefined ? undefined : (JSON.parse(json) as ScriptHead);
  }
}

export function scriptDigest(source: string): string {
  return hash('sha256', source, 'hex');
}

function binding(kind: string, name: string): SealBinding {
  return { purpose: `script ${kind}`, owner: [name] };
}

/** An empty file of a fixed name says that a script was stored once. Opening the database takes 40 ms of a start. */
export function scriptSign(stateFolder: string): { isSet(): boolean; set(): void } {
  const file = join(stateFolder, 'has-scripts');
  return { isSet: () => existsSync(file), set: () => closeSync(openSync(file, 'a', 0o600)) };
}
