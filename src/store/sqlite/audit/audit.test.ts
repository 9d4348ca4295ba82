import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { collected } from '../../../../test/support/collected.js';
import type { AuditEntry } from '../../../domain/audit.js';
import { masterKey } from '../../master-key.js';
import { Database } from '../database.js';
import { SqliteAuditStore } from './audit.js';

const base = mkdtempSync(join(tmpdir(), 'codemode-audit-'));
afterAll(() => rmSync(base, { recursive: true, force: true }));

let folders = 0;
const newFolder = () => join(base, `state-${++folders}`);
const entry = (number: number): AuditEntry => ({
  callId: `host.${number}`,
  atMs: 1_700_000_000_000 + number * 1_000,
  runId: `run-${number % 3}`,
  caller: 'tester',
  profile: 'codemode',
  codeDigest: 'c0de',
  serverId: 'notes',
  toolName: number % 2 === 0 ? 'read' : 'write',
  argumentsDigest: `a${number}`,
  resultBytes: number === 4 ? null : number * 10,
  durationMs: number + 0.125,
  verdict: 'ok',
  approval: { state: 'APPROVED', by: 'alice', at: '2026-05-01T10:00:00.000Z', reason: 'fine' },
  redactions: { jwt: 1 },
});
const entries = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => entry(from + index));

async function open(folder: string) {
  const database = await Database.open(folder);
  const store = SqliteAuditStore.open(database, await masterKey(folder), folder);
  return { database, store, folder, [Symbol.dispose]: () => database.close() };
}

/** Ten records, the head sealed at the tenth. */
async function filled(folder = newFolder()) {
  const opened = await open(folder);
  opened.store.append(entries(1, 4));
  opened.store.append(entries(5, 10));
  await opened.store.seal();
  return opened;
}

test('a name that the database would cut or change is recorded whole, and the chain stays intact', async () => {
  using audit = await open(newFolder());
  const names = ['read\u0000 everything', 'half \udc00', 'pair \u{1f600}'];
  audit.store.append(
    names.map((toolName, index) => ({ ...entry(index + 1), toolName, serverId: toolName, caller: toolName })),
  );
  const shown = ['read\\u0000 everything', 'half \\udc00', 'pair \u{1f600}'];
  const recorded: string[][] = [];
  for await (const { toolName, serverId, caller } of audit.store.each({})) recorded.push([toolName, serverId, caller]);
  expect(recorded).toEqual(shown.map((name) => [name, name, name]));
  expect(audit.store.verify()).toMatchObject({ isIntact: true });
});

test('what was recorded is read as it was, newest or all, and by what it has to do with [B18]', async () => {
  using audit = await filled();
  const all = await collected(audit.store.each({}));
  expect(all.map(({ hash: _, number, ...rest }) => [number, rest])).toEqual(
    entries(1, 10).map((each, at) => [at + 1, each]),
  );
  expect(new Set(all.map(({ hash }) => hash)).size).toBe(10);
  expect(audit.store.records({}, 2).map(({ number }) => number)).toEqual([9, 10]);
  expect(audit.store.records({ runId: 'run-1', toolName: 'read' }, 9).map(({ number }) => number)).toEqual([4, 10]);
  expect(audit.store.records({ serverId: 'other' }, 9)).toEqual([]);
  const late = await collected(audit.store.each({ sinceMs: entry(9).atMs }));
  expect(late.map(({ number }) => number)).toEqual([9, 10]);
  expect(audit.store.verify()).toMatchObject({
    isIntact: true,
    records: 10,
    head: { count: 10 },
    sealed: { count: 10 },
  });
});

test('the table may be ahead of the sealed head, as after a crash, and the next seal catches up [B18]', async () => {
  const folder = newFolder();
  {
    using crashed = await filled(folder);
    crashed.store.append(entries(11, 12));
  }
  using audit = await open(folder);
  expect(audit.store.verify()).toMatchObject({ isIntact: true, head: { count: 12 }, sealed: { count: 10 } });
  await audit.store.seal();
  expect(audit.store.verify()).toMatchObject({ isIntact: true, sealed: { count: 12 } });
});

test('two hosts append to one chain, and neither moves the head back [B18]', async () => {
  const folder = newFolder();
  using first = await open(folder);
  using second = await open(folder);
  for (let round = 0; round < 20; round++) {
    first.store.append([entry(round)]);
    second.store.append([entry(round), entry(round)]);
    await Promise.all([first.store.seal(), second.store.seal()]);
  }
  expect(second.store.verify()).toMatchObject({ isIntact: true, records: 60, sealed: { count: 60 } });
});

describe('a process that can write to the database but has no key is detected', () => {
  const columns = [
    ...['at_ms', 'run_id', 'caller', 'profile', 'code_digest', 'server_id', 'tool_name', 'arguments_digest'],
    ...['result_bytes', 'duration_ms', 'verdict', 'approval', 'redactions', 'call_id', 'hash', 'mac'],
  ];

  test.each(columns)('after a change of %s [B18]', async (column) => {
    using audit = await filled();
    const number = ['at_ms', 'result_bytes', 'duration_ms'].includes(column);
    audit.database
      .prepare(`UPDATE audit SET ${column} = ${number ? `${column} + 1` : `${column} || ' '`} WHERE number = 6`)
      .run();
    expect(audit.store.verify()).toMatchObject({ isIntact: false, problem: { record: 6 } });
  });

  const attempts: readonly (readonly [string, string, number])[] = [
    ['a record deleted in the middle', 'DELETE FROM audit WHERE number = 6', 7],
    ['the first records deleted', 'DELETE FROM audit WHERE number <= 3', 4],
    ['the last records deleted', 'DELETE FROM audit WHERE number >= 8', 8],
    ['all records deleted', 'DELETE FROM audit', 1],
    ['a number changed', 'UPDATE audit SET number = 99 WHERE number = 6', 7],
    [
      'a record appended that is a copy of another',
      `INSERT INTO audit SELECT 11, at_ms, run_id, caller, profile, code_digest, server_id, tool_name, arguments_digest,
       result_bytes, duration_ms, verdict, approval, redactions, hash, mac, call_id FROM audit WHERE number = 3`,
      11,
    ],
    ['a result taken away', 'UPDATE audit SET result_bytes = NULL WHERE number = 10', 10],
    ['an anchor invented', `INSERT INTO audit_anchor VALUES (1, 3, '${'0'.repeat(64)}', 0, 'retention', 'AAAA')`, 3],
  ];

  test.each(attempts)('%s [B18]', async (_, sql, record) => {
    using audit = await filled();
    audit.database.prepare(sql).run();
    expect(audit.store.verify()).toMatchObject({ isIntact: false, problem: { record } });
  });

  test('two records that changed places [B18]', async () => {
    using audit = await filled();
    for (const [from, to] of [
      [6, 99],
      [7, 6],
      [99, 7],
    ])
      audit.database.prepare('UPDATE audit SET number = ? WHERE number = ?').run(to as number, from as number);
    expect(audit.store.verify()).toMatchObject({ isIntact: false, problem: { record: 6 } });
  });

  test('a record with a right hash but no key behind it [B18]', async () => {
    using audit = await filled();
    const other = await filled();
    // The same entries under another key: every hash is right, because hashes need no key.
    other.database.close();
    audit.database.prepare('DELETE FROM audit WHERE number = 10').run();
    audit.database.prepare(`ATTACH '${join(other.folder, 'codemode.db')}' AS other`).run();
    audit.database.prepare('INSERT INTO audit SELECT * FROM other.audit WHERE number = 10').run();
    expect(audit.store.verify()).toMatchObject({
      isIntact: false,
      problem: { record: 10, reason: expect.stringContaining('with this key') },
    });
  });

  test('the database of another folder, and an older one of this folder [B18]', async () => {
    const folder = newFolder();
    (await filled(folder)).database.close();
    const old = newFolder();
    cpSync(folder, old, { recursive: true });
    const other = await filled();
    other.database.close();
    {
      using later = await open(folder);
      later.store.append(entries(11, 20));
      await later.store.seal();
    }
    for (const [from, record] of [
      [old, 11],
      [other.folder, 1],
    ] as const) {
      for (const file of readdirSync(folder)) if (file.startsWith('codemode.db')) rmSync(join(folder, file));
      for (const file of readdirSync(from))
        if (file.startsWith('codemode.db')) cpSync(join(from, file), join(folder, file));
      using changed = await open(folder);
      expect(changed.store.verify()).toMatchObject({ isIntact: false, problem: { record } });
      expect(() => changed.store.append([entry(1)])).toThrow(/changed from outside.*codemode audit verify/);
    }
  });

  test('the sealed head deleted, emptied, changed or taken from another folder [B18]', async () => {
    const other = await filled();
    other.database.close();
    const foreign = readFileSync(join(other.folder, 'audit.head'), 'utf8');
    for (const change of [
      (file: string) => rmSync(file),
      (file: string) => writeFileSync(file, ''),
      (file: string) => writeFileSync(file, foreign),
      (file: string) => writeFileSync(file, readFileSync(file, 'utf8').replace('"count":10', '"count":9')),
    ]) {
      using audit = await filled();
      change(join(audit.folder, 'audit.head'));
      audit.database.prepare('DELETE FROM audit WHERE number = 10').run();
      expect(audit.store.verify()).toMatchObject({ isIntact: false });
      using again = await open(audit.folder);
      expect(() => again.store.append([entry(1)])).toThrow('changed from outside');
      await expect(again.store.seal()).rejects.toThrow('changed from outside');
    }
  });

  test('a whole folder set back to an older copy is noticed only by who noted a later head down [B18]', async () => {
    const folder = newFolder();
    (await filled(folder)).database.close();
    cpSync(folder, `${folder}-copy`, { recursive: true });
    let head = { count: 0, hash: '' };
    {
      using audit = await open(folder);
      audit.store.append(entries(11, 12));
      await audit.store.seal();
      ({ head } = audit.store.verify());
      audit.store.append(entries(13, 14));
      expect(audit.store.verify(head)).toMatchObject({ isIntact: true });
    }
    using back = await open(`${folder}-copy`);
    expect(back.store.verify()).toMatchObject({ isIntact: true });
    expect(back.store.verify(head)).toMatchObject({ isIntact: false, problem: { record: 11 } });
    back.store.append(entries(21, 24));
    expect(back.store.verify(head)).toMatchObject({ isIntact: false, problem: { record: 12 } });
  });
});

describe('old records', () => {
  test('go, and what is left is still a chain that shows changes [B18]', async () => {
    using audit = await filled();
    expect(audit.store.prune(entry(5).atMs)).toBe(4);
    expect(audit.store.prune(entry(5).atMs)).toBe(0);
    expect(audit.store.verify()).toMatchObject({
      isIntact: true,
      records: 6,
      first: 5,
      cut: { count: 4, reason: 'retention' },
    });
    audit.store.append(entries(11, 12));
    expect(audit.store.verify()).toMatchObject({ isIntact: true, records: 8 });
    audit.database.prepare('DELETE FROM audit WHERE number = 5').run();
    expect(audit.store.verify()).toMatchObject({ isIntact: false, problem: { record: 6 } });
  });

  test('go even when the head is behind, and the last one stays [B18]', async () => {
    using audit = await filled();
    audit.store.append(entries(11, 14));
    expect(audit.store.prune(Number.MAX_SAFE_INTEGER)).toBe(13);
    expect(audit.store.verify()).toMatchObject({ isIntact: true, records: 1, first: 14, sealed: { count: 10 } });
    await audit.store.seal();
    using again = await open(audit.folder);
    again.store.append([entry(15)]);
    expect(again.store.verify()).toMatchObject({ isIntact: true, records: 2, sealed: { count: 14 } });
  });
});

test('a chain that was changed can be restarted, which stays on record [B18]', async () => {
  using audit = await filled();
  audit.database.prepare('DELETE FROM audit WHERE number = 10').run();
  using host = await open(audit.folder);
  expect(() => host.store.append([entry(1)])).toThrow('changed from outside');
  await audit.store.restart('we know who it was');
  host.store.append(entries(1, 2));
  await host.store.seal();
  expect(host.store.verify()).toMatchObject({
    isIntact: true,
    records: 2,
    first: 11,
    cut: { count: 10, reason: 'restarted: we know who it was' },
  });
});

test('the same arguments have the same digest, and another in another folder', async () => {
  using audit = await filled();
  using other = await filled();
  expect(audit.store.argumentsDigest('{"a":1}')).toBe(audit.store.argumentsDigest('{"a":1}'));
  expect(audit.store.argumentsDigest('{"a":1}')).not.toBe(audit.store.argumentsDigest('{"a":2}'));
  expect(audit.store.argumentsDigest('{"a":1}')).not.toBe(other.store.argumentsDigest('{"a":1}'));
});
