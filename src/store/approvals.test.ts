import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { Approval } from '../domain/approval.js';
import { ApprovalStore } from './approvals.js';
import { Database } from './database.js';

const DAY_MS = 24 * 60 * 60 * 1000;
const folder = mkdtempSync(join(tmpdir(), 'codemode-approvals-'));
const database = await Database.open(folder);
const store = new ApprovalStore(database, new Uint8Array(32).fill(1));
afterAll(() => {
  database.close();
  rmSync(folder, { recursive: true, force: true });
});

function asked(id: string, createdAtMs: number, more: Partial<Approval> = {}): Approval {
  const tool = { serverId: 's', serverFingerprint: 'f', toolName: 't', toolDigest: 'd' };
  const approval: Approval = {
    id,
    runId: `run of ${id}`,
    call: 1,
    caller: 'ada',
    tool,
    arguments: { secret: 'kept sealed' },
    argumentsDigest: 'a',
    code: 'code',
    reason: 'because',
    state: 'PENDING',
    createdAtMs,
    expiresAtMs: createdAtMs + DAY_MS,
    ...more,
  };
  store.add(approval);
  return approval;
}
const yes = { by: 'ada', atMs: 1, scope: 'call' } as const;

test('what was asked comes back as it was, and its arguments are not in the file', () => {
  const approval = asked('one', 1);
  expect(store.find('one')).toEqual(approval);
  const row = database.prepare<{ arguments: Buffer }>("SELECT arguments FROM approvals WHERE id = 'one'").get();
  expect(row?.arguments.includes('kept sealed')).toBe(false);
});

test('the first decision counts, and one that came too late changes nothing', () => {
  asked('two', Date.now());
  expect(store.decide('two', 'APPROVED', yes)).toMatchObject({ isFirst: true });
  expect(store.decide('two', 'DENIED', yes)).toMatchObject({ isFirst: false, approval: { state: 'APPROVED' } });
  expect(store.find('two')?.state).toBe('APPROVED');
  expect(store.decide('nothing', 'APPROVED', yes)).toBeUndefined();
});

test('a question that expired cannot be answered any more', () => {
  asked('three', 1_000);
  expect(store.expire(Date.now())).toBeGreaterThanOrEqual(1);
  expect(store.decide('three', 'APPROVED', yes)).toMatchObject({ isFirst: false, approval: { state: 'EXPIRED' } });
});

test('a permission for an hour is over after it, and is for this caller only', () => {
  const { tool } = asked('four', Date.now());
  store.decide('four', 'APPROVED', { ...yes, scope: 'hour' }, { runId: undefined, expiresAtMs: 5_000 });
  expect(store.grantFor(tool, 'any run', 'ada', 4_999)).toBe('four');
  expect(store.grantFor(tool, 'any run', 'ada', 5_000)).toBeUndefined();
  expect(store.grantFor(tool, 'any run', 'eve', 1)).toBeUndefined();
  expect(store.grantFor({ ...tool, toolDigest: 'changed' }, 'any run', 'ada', 1)).toBeUndefined();
  expect(store.grantFor({ ...tool, serverFingerprint: 'elsewhere' }, 'any run', 'ada', 1)).toBeUndefined();
});

test('an answer is used once', () => {
  asked('five', Date.now());
  expect([store.use('five'), store.use('five')]).toEqual([true, false]);
});

test('old decisions are forgotten, open questions never', () => {
  const old = Date.now() - 100 * DAY_MS;
  asked('decided', old);
  store.decide('decided', 'DENIED', yes);
  asked('open', old);
  store.prune(Date.now());
  expect(store.find('decided')).toBeUndefined();
  expect(store.find('open')?.state).toBe('PENDING');
});
