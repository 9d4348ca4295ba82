import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { StoredScript } from '../../domain/script.js';
import { MAX_SCRIPTS, scriptDigest } from '../scripts.js';
import { Database } from './database.js';
import { SqliteScriptStore } from './scripts.js';

const KEY = new Uint8Array(32).fill(1);
const folder = mkdtempSync(join(tmpdir(), 'codemode-scripts-'));
let database: Database;
let store: SqliteScriptStore;
beforeAll(async () => {
  database = await Database.open(folder);
  store = new SqliteScriptStore(database, KEY);
});
afterAll(() => {
  database.close();
  rmSync(folder, { recursive: true, force: true });
});

function script(name: string, source = `// the source of ${name}`): StoredScript {
  return {
    name,
    source,
    description: `what ${name} does`,
    profile: 'codemode',
    language: 'typescript',
    inputSchema: { type: 'object' },
    digest: scriptDigest(source),
    createdAtMs: 1,
    version: 1,
  };
}

test('a script comes back as it was stored, and its text is not in the file', () => {
  const whole = script('whole');
  expect(store.add(whole, false)).toEqual({ state: 'added', version: 1 });
  expect(store.find('whole')).toEqual(whole);
  const { source: _, ...head } = whole;
  expect(store.list()).toEqual([head]);
  for (const file of ['codemode.db', 'codemode.db-wal'])
    expect(readFileSync(join(folder, file)).includes('what whole does')).toBe(false);
  expect(store.remove('whole')).toBe(true);
  expect(store.find('whole')).toBeUndefined();
  expect(store.remove('whole')).toBe(false);
});

test('a name that is taken stays with its script unless it is to be replaced', () => {
  store.add(script('taken', 'first'), false);
  expect(store.add(script('taken', 'second'), false)).toEqual({ state: 'taken' });
  expect(store.find('taken')?.source).toBe('first');
  expect(store.add(script('taken', 'third'), true)).toEqual({ state: 'replaced', version: 2 });
  expect(store.find('taken')?.source).toBe('third');
  store.remove('taken');
});

test('what was not written under the key, or stood under another name, is not there', () => {
  store.add(script('honest'), false);
  new SqliteScriptStore(database, new Uint8Array(32).fill(2)).add(script('planted'), false);
  expect(store.find('planted')).toBeUndefined();
  expect(store.list().map(({ name }) => name)).toEqual(['honest']);
  database.prepare("UPDATE scripts SET name = 'renamed' WHERE name = 'honest'").run();
  expect(store.find('renamed')).toBeUndefined();
  store.remove('renamed');
  store.remove('planted');
});

test('an older source that is put back under a newer head is not there', () => {
  store.add(script('rolled', 'the old one'), false);
  database.prepare('CREATE TEMP TABLE kept AS SELECT source FROM scripts').run();
  store.add(script('rolled', 'the new one'), true);
  database.prepare("UPDATE scripts SET source = (SELECT source FROM kept) WHERE name = 'rolled'").run();
  expect(store.find('rolled')).toBeUndefined();
  store.remove('rolled');
});

test('an earlier version that is put in the place of the newest is not there', () => {
  store.add(script('older', 'the old one'), false);
  store.add(script('older', 'the new one'), true);
  database.prepare("DELETE FROM scripts WHERE name = 'older'").run();
  database.prepare("UPDATE scripts SET name = 'older' WHERE name = 'older@1'").run();
  expect(store.find('older')).toBeUndefined();
  store.remove('older');
});

test('the number of scripts is bounded, and one that is there can still be replaced', () => {
  database.transaction(() => {
    for (let number = 0; number < MAX_SCRIPTS; number++)
      database
        .prepare('INSERT INTO scripts VALUES (?, ?, ?)')
        .run(`many-${number}`, Buffer.from('x'), Buffer.from('x'));
  });
  expect(store.add(script('one-more'), false)).toEqual({ state: 'full' });
  expect(store.add(script('many-1'), true)).toMatchObject({ state: 'replaced' });
});
