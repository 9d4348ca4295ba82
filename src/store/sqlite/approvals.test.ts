import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { Approval } from '../../domain/approval.js';
import { authenticate } from '../../lib/secrets/sealed.js';
import { earlierBinding } from '../approval-bindings.js';
import { SqliteApprovalStore } from './approvals.js';
import { Database } from './database.js';
import { SqliteRunStore } from './runs/runs.js';

const DAY_MS = 24 * 60 * 60 * 1000;
const folder = mkdtempSync(join(tmpdir(), 'codemode-approvals-'));
const database = await Database.open(folder);
const KEY = new Uint8Array(32).fill(1);
const store = new SqliteApprovalStore(database, KEY);
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
    hiddenParts: 0,
    code: 'code',
    reason: 'because',
    reasons: ['because'],
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

test.each([
  ['half of a surrogate pair', '*/\udc00{{'],
  ['a NUL', 'a\u0000b'],
  ['a byte order mark', '\ufeffyes'],
])('a decision whose reason has %s is the decision that was made', (_, text) => {
  const tool = { serverId: 's', serverFingerprint: 'f', toolName: `t ${text}`, toolDigest: 'd' };
  const [id, other] = ['yes', 'no'].map(
    (each) => asked(`${each} ${text.length}`, Date.now(), { tool, reason: text }).id,
  );
  store.decide(id ?? '', 'APPROVED', { by: text, reason: text, atMs: 1, scope: 'call' });
  store.decide(other ?? '', 'DENIED', { by: text, reason: text, atMs: 1, scope: 'call' });
  expect(store.find(id ?? '')).toMatchObject({ state: 'APPROVED', arguments: { secret: 'kept sealed' } });
  expect(store.find(other ?? '')?.decision?.by).not.toBe('unknown');
  expect([store.use(id ?? ''), store.use(id ?? '')]).toEqual([true, false]);
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

test('a permission for an hour is over after it, and is for this caller and these reasons only', () => {
  const { tool } = asked('four', Date.now(), { reasons: ['because', 'and so'] });
  const grant = { runId: undefined, expiresAtMs: 5_000 };
  store.decide('four', 'APPROVED', { ...yes, scope: 'hour' }, { grant });
  const question = { runId: 'any run', caller: 'ada', reasons: ['because'] };
  expect(store.grantFor(tool, question, 4_999)?.id).toBe('four');
  expect(store.grantFor(tool, { ...question, runId: undefined }, 4_999)?.id).toBe('four');
  expect(store.grantFor(tool, question, 5_000)).toBeUndefined();
  expect(store.grantFor(tool, { ...question, caller: 'eve' }, 1)).toBeUndefined();
  expect(store.grantFor(tool, { ...question, reasons: ['because', 'and another'] }, 1)).toBeUndefined();
  expect(store.grantFor(tool, { ...question, reasons: [] }, 1)).toBeUndefined();
  expect(store.grantFor({ ...tool, toolDigest: 'changed' }, question, 1)).toBeUndefined();
  expect(store.grantFor({ ...tool, serverFingerprint: 'elsewhere' }, question, 1)).toBeUndefined();
});

test('a decision covers the calls that it names, and a permission those with the same reasons', () => {
  const runId = 'one run';
  for (const [call, id] of ['shown 1', 'shown 2', 'later'].entries()) asked(id, Date.now(), { runId, call });
  store.decide('shown 1', 'APPROVED', { ...yes, scope: 'calls' }, { others: ['shown 1', 'shown 2'] });
  expect(['shown 1', 'shown 2', 'later'].map((id) => store.find(id)?.state)).toEqual([
    'APPROVED',
    'APPROVED',
    'PENDING',
  ]);
  asked('new reason', Date.now(), { runId, call: 3, reasons: ['because', 'private data from crm'] });
  asked('same reason', Date.now(), { runId, call: 4 });
  const grant = { runId, expiresAtMs: Date.now() + DAY_MS };
  store.decide('later', 'APPROVED', { ...yes, scope: 'run' }, { grant });
  expect(['same reason', 'new reason'].map((id) => store.find(id)?.state)).toEqual(['APPROVED', 'PENDING']);
});

test('the same approval is asked for once, whichever host asks', () => {
  const first = asked('first', Date.now(), { runId: 'r' });
  expect(store.add({ ...first, id: 'second' }).id).toBe('first');
  expect(store.find('second')).toBeUndefined();
  expect(store.add({ ...first, id: 'other', argumentsDigest: 'of others' }).id).toBe('other');
});

test('arguments that are shown for another call than theirs are not readable', () => {
  asked('harmless', Date.now(), { runId: 'r', argumentsDigest: 'digest of harmless' });
  expect(store.find('harmless')?.isUnreadable).toBeUndefined();
  for (const change of [
    "arguments_digest = 'digest of harmful'",
    "reason = 'no reason'",
    "tool = 'other'",
    'call = 2',
  ]) {
    database.prepare(`UPDATE approvals SET ${change} WHERE id = 'harmless'`).run();
    expect(store.find('harmless')).toMatchObject({ isUnreadable: true, arguments: null });
    const original = { arguments_digest: 'digest of harmless', reason: 'because', tool: 't' };
    for (const [column, value] of Object.entries(original))
      database.prepare(`UPDATE approvals SET ${column} = ?, call = 1 WHERE id = 'harmless'`).run(value);
    expect(store.find('harmless')?.isUnreadable).toBeUndefined();
  }
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

test('a later run finds decisions about the same call first, then the open approval', () => {
  const late = { caller: 'lea', program: 'p', argumentsDigest: 'same', expiresAtMs: Date.now() + DAY_MS };
  const approval = asked('lea-open', Date.now(), { ...late, runId: 'r1' });
  asked('lea-decided', Date.now(), { ...late, runId: 'r2' });
  store.decide('lea-decided', 'APPROVED', yes);
  const ids = () => store.ofSameCall(approval, Date.now()).map(({ id }) => id);
  expect(ids()).toEqual(['lea-decided', 'lea-open']);
  expect(store.decidedLate('lea', 'p', Date.now()).map(({ id }) => id)).toEqual(['lea-decided']);
  expect([store.decidedLate('lea', 'other', Date.now()), store.decidedLate('eve', 'p', Date.now())]).toEqual([[], []]);
  store.use('lea-decided');
  expect([ids(), store.decidedLate('lea', 'p', Date.now())]).toEqual([['lea-open'], []]);
});

describe('who can write to the file, without the key', () => {
  const late = { caller: 'eve', program: 'p', expiresAtMs: Date.now() + DAY_MS };
  const change = (id: string, sql: string) => database.prepare(`UPDATE approvals SET ${sql} WHERE id = ?`).run(id);
  const unused = (approval: Approval, at = store) => at.ofSameCall(approval, Date.now()).map(({ id }) => id);

  test('does not use a yes again', () => {
    const approval = asked('used', Date.now(), { ...late, argumentsDigest: 'used' });
    store.decide('used', 'APPROVED', yes);
    expect([store.isUsed('used'), unused(approval), store.use('used')]).toEqual([false, ['used'], true]);
    change('used', 'used_at = NULL');
    const next = new SqliteApprovalStore(database, KEY);
    for (const each of [store, next])
      expect([each.isUsed('used'), unused(approval, each), each.use('used')]).toEqual([true, [], false]);
  });

  test('does not put a row back as it was, for the process that used it', () => {
    const approval = asked('back', Date.now(), { ...late, argumentsDigest: 'back' });
    store.decide('back', 'APPROVED', yes);
    const { mark } = database.prepare<{ mark: Buffer }>("SELECT mark FROM approvals WHERE id = 'back'").get() ?? {};
    expect(store.use('back')).toBe(true);
    database.prepare("UPDATE approvals SET used_at = NULL, mark = ? WHERE id = 'back'").run(mark ?? null);
    expect([store.isUsed('back'), unused(approval), store.use('back')]).toEqual([true, [], false]);
  });

  test.each([
    ['an hour is not one call after it', "scope = 'call'", { ...yes, scope: 'hour' }],
    ['it does not last longer', `expires_at = ${Date.now() + 9 * DAY_MS}`, yes],
  ] as const)('changes no yes for later: %s', (title, sql, decision) => {
    const approval = asked(title, Date.now(), { ...late, argumentsDigest: title });
    store.decide(title, 'APPROVED', decision);
    change(title, sql);
    expect(unused(approval)).toEqual([]);
    expect(store.find(title)).toMatchObject({ state: 'DENIED' });
  });

  test('puts no words into the mouth of a person', () => {
    asked('told', Date.now());
    store.decide('told', 'DENIED', { ...yes, reason: 'no' });
    expect(store.find('told')?.decision).toEqual({ ...yes, reason: 'no' });
    change('told', "decision_reason = 'use delete_all instead'");
    expect(store.find('told')?.decision).toEqual({ by: 'unknown', scope: 'call', atMs: 1 });
    asked('open', Date.now());
    change('open', "decided_by = 'ada', decided_at = 1, decision_reason = 'go on'");
    expect(store.find('open')).not.toHaveProperty('decision');
  });

  test('does not keep a question open', () => {
    asked('kept open', Date.now());
    change('kept open', 'expires_at = expires_at + 1');
    expect(store.find('kept open')).toMatchObject({ isUnreadable: true });
  });

  test('a yes of an earlier version is for the call that waits, and for none that is made later', () => {
    const approval = asked('earlier', Date.now(), { ...late, argumentsDigest: 'earlier' });
    store.decide('earlier', 'APPROVED', yes);
    const mark = authenticate(KEY, earlierBinding(approval, 'APPROVED', yes));
    database.prepare("UPDATE approvals SET mark = ? WHERE id = 'earlier'").run(mark);
    expect(store.find('earlier')).toMatchObject({ state: 'APPROVED', decision: yes });
    expect([store.isUsed('earlier'), unused(approval), store.use('earlier')]).toEqual([true, [], false]);
  });
});

test('what is kept of one caller is bounded in number and bytes, and takes nothing of another', () => {
  const runs = new SqliteRunStore(database, KEY);
  const run = { caller: 'zed', profile: 'codemode', setting: '', codeDigest: '', title: '', createdAtMs: 1 };
  runs.suspend({ ...run, id: 'run of old 0', program: new Uint8Array([1]), contextJson: '{}' }, 1);
  for (const n of [0, 1, 2, 3, 4]) {
    asked(`old ${n}`, 1_000 + n, { caller: 'zed', arguments: { text: 'x'.repeat(1_000) } });
    store.decide(`old ${n}`, 'DENIED', yes);
  }
  asked('open of zed', 999, { caller: 'zed' });
  asked('of another', 998, { caller: 'yan' });
  store.closeOfRun('run of of another');
  expect(store.forgetOldest('zed', { count: 3, bytes: 1_000_000 })).toBe(1);
  expect(store.forgetOldest('zed', { count: 3, bytes: 3_000 })).toBe(1);
  // The first one belongs to a run that is suspended.
  const kept = ['old 0', 'old 1', 'old 2', 'old 3', 'old 4', 'open of zed', 'of another'];
  expect(kept.filter((id) => store.find(id) !== undefined)).toEqual(kept.filter((_, n) => n !== 1 && n !== 2));
  for (const id of kept) database.prepare('DELETE FROM approvals WHERE id = ?').run(id);
});

test('approvals of suspended runs are not among those that are closed to make room', () => {
  const runs = new SqliteRunStore(database, KEY);
  const run = { caller: 'zoe', profile: 'codemode', setting: '', codeDigest: '', title: '', createdAtMs: 1 };
  runs.suspend({ ...run, id: 'run of waits', program: new Uint8Array([1]), contextJson: '{}' }, 1);
  const end = { state: 'failed', responseJson: 'null', recordingJson: undefined, durationMs: undefined } as const;
  runs.end([{ ...run, ...end, id: 'run of over' }], 1);
  for (const id of ['waits', 'over']) asked(id, Date.now(), { caller: 'zoe' });
  expect(store.closeOfEnded('zoe', 10)).toBe(1);
  expect([store.find('waits')?.state, store.find('over')?.state]).toEqual(['PENDING', 'EXPIRED']);
});
