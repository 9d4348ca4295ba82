import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Database } from './database.js';
import { SqlitePresenceStore } from './presence.js';

const RUN = {
  caller: 'stdio',
  profile: 'codemode',
  createdAtMs: 1,
  title: 'line',
  source: 'line;\nmore',
};
const folder = mkdtempSync(join(tmpdir(), 'codemode-presence-'));
let database: Database;
let store: SqlitePresenceStore;

beforeAll(async () => {
  database = await Database.open(folder);
  store = new SqlitePresenceStore(database, new Uint8Array(32).fill(7));
});
afterAll(() => {
  database.close();
  rmSync(folder, { recursive: true, force: true });
});

test('runs in progress are listed until they end; those of an ended process are not', () => {
  store.update(
    [
      { ...RUN, runId: 'a' },
      { ...RUN, runId: 'b', createdAtMs: 2 },
    ],
    [],
  );
  new SqlitePresenceStore(database, new Uint8Array(32).fill(7), '1:1').update([{ ...RUN, runId: 'dead' }], []);
  expect(store.runs(10).map(({ runId }) => runId)).toEqual(['b', 'a']);
  expect(store.find('a')).toEqual({ ...RUN, runId: 'a' });
  expect(store.find('dead')).toBeUndefined();
  store.askToCancel('b');
  expect(store.cancelled()).toEqual(['b']);
  store.update([], ['a', 'b']);
  expect(store.runs(10)).toEqual([]);
});

test('a run that somebody wrote into the file without the key is not shown', () => {
  new SqlitePresenceStore(database, new Uint8Array(32).fill(8)).update([{ ...RUN, runId: 'forged' }], []);
  expect([store.find('forged'), store.runs(10)]).toEqual([undefined, []]);
});

test('clients are known by name and transport, the last one first, at most a hundred', () => {
  const client = { name: 'claude-code', version: '2', transport: 'stdio', caller: 'stdio' } as const;
  store.clientSeen(client, 10);
  new SqlitePresenceStore(database, new Uint8Array(32).fill(7), '1:1').clientSeen({ ...client, version: '3' }, 20);
  expect(store.clients()).toEqual([{ ...client, version: '3', firstAtMs: 10, lastAtMs: 20, isHostUp: false }]);
  for (let index = 0; index < 120; index++) store.clientSeen({ ...client, name: `c${index}` }, 100 + index);
  expect(store.clients()).toHaveLength(100);
  expect(store.clients()[0]).toMatchObject({ name: 'c119', isHostUp: true });
});
