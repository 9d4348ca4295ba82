import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { Database } from './database.js';
import { SqliteRunStore } from './runs/runs.js';
import { summariseState } from './state-summary.js';

const folder = mkdtempSync(join(tmpdir(), 'codemode-state-summary-'));
afterAll(() => rmSync(folder, { recursive: true }));

const RUN = { caller: 'somebody', profile: 'codemode', setting: 'digest', codeDigest: 'digest', createdAtMs: 1 };

test('a state folder that does not exist is not made', () => {
  const missing = join(folder, 'missing');
  expect(summariseState(missing, Date.now())).toMatchObject({ pendingApprovals: 0, runIds: [] });
  expect(existsSync(missing)).toBe(false);
});

test('runs are seen without the key, the newest first, and nothing is written', async () => {
  const place = mkdtempSync(join(folder, 'runs-'));
  const database = await Database.open(place);
  const store = new SqliteRunStore(database, new Uint8Array(32).fill(1));
  store.suspend({ ...RUN, id: 'old', program: new Uint8Array([1]), contextJson: '{}', title: 'x' }, 1);
  store.suspend({ ...RUN, id: 'new', createdAtMs: 2, program: new Uint8Array([1]), contextJson: '{}', title: 'x' }, 2);
  expect(summariseState(place, 10)).toEqual({
    pendingApprovals: 0,
    suspendedRuns: 2,
    runIds: ['new', 'old'],
    approvalIds: [],
    scriptNames: [],
  });
  database.close();
  const before = readdirSync(place);
  summariseState(place, 10);
  expect(readdirSync(place)).toEqual(before);
});

test('a file that is not a database is reported as a problem, not thrown', () => {
  const place = mkdtempSync(join(folder, 'broken-'));
  writeFileSync(join(place, 'codemode.db'), 'this is not a database, and long enough to be looked at'.repeat(100));
  expect(summariseState(place, 10)).toMatchObject({ runIds: [], problem: expect.stringContaining('not a database') });
});
