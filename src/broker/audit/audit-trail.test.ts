import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { AuditEntry } from '../../domain/audit.js';
import { AuditStore } from '../../store/audit.js';
import { Database } from '../../store/database.js';
import { masterKey } from '../../store/master-key.js';
import { AuditTrail } from './audit-trail.js';

const base = mkdtempSync(join(tmpdir(), 'codemode-trail-'));
afterAll(() => rmSync(base, { recursive: true, force: true }));

let folders = 0;
const ENTRY: AuditEntry = {
  atMs: Date.now(),
  runId: 'run',
  caller: 'tester',
  profile: 'codemode',
  codeDigest: '',
  serverId: 'notes',
  toolName: 'write',
  argumentsDigest: '',
  resultBytes: 1,
  durationMs: 1,
  verdict: 'ok',
  approval: { state: 'NOT_REQUIRED' },
  redactions: {},
};

function openTrail(isRequired = true, folder = join(base, String(++folders))) {
  const warnings: string[] = [];
  let database: Database | undefined;
  const trail = new AuditTrail({
    open: async () => {
      database = await Database.open(folder);
      return AuditStore.open(database, await masterKey(folder), folder);
    },
    isRequired,
    retentionMs: 86_400_000,
    warn: (line) => warnings.push(line),
  });
  return { trail, folder, warnings, database: () => database as Database };
}

async function reader(folder: string) {
  const database = await Database.open(folder);
  const store = AuditStore.open(database, await masterKey(folder), folder);
  return { count: () => store.records({}, 1_000).length, store, [Symbol.dispose]: () => database.close() };
}

test('a call that may have changed something is on record before its program hears of it [B18]', async () => {
  const { trail, folder } = openTrail();
  expect(await trail.refusal()).toBeUndefined();
  using other = await reader(folder);
  const written = [trail.record(ENTRY, true), trail.record(ENTRY, true), trail.record(ENTRY, true)];
  expect(other.count()).toBe(0);
  await written[0];
  expect(other.count()).toBe(3); // those of one moment are written together
  await trail.close();
});

test('the others are written together, at the latest when their run has ended [B18]', async () => {
  const { trail, folder } = openTrail();
  await trail.refusal();
  using other = await reader(folder);
  expect(trail.record(ENTRY, false)).toBeUndefined();
  expect(other.count()).toBe(0);
  trail.flush();
  expect(other.count()).toBe(1);
  void trail.record(ENTRY, false);
  await trail.close();
  expect(other.store.verify()).toMatchObject({ isIntact: true, records: 2, sealed: { count: 2 } });
});

test('what is older than the retention goes by itself', async () => {
  const { trail, folder } = openTrail();
  await trail.refusal();
  void trail.record({ ...ENTRY, atMs: Date.now() - 2 * 86_400_000 }, false);
  void trail.record(ENTRY, false);
  await trail.close();
  using other = await reader(folder);
  expect(other.store.verify()).toMatchObject({ isIntact: true, records: 1, cut: { count: 1 } });
});

test('no call is made while none can be recorded, and calls are made again when that is mended [B18]', async () => {
  const folder = join(base, 'a-file');
  writeFileSync(folder, '');
  const { trail } = openTrail(true, folder);
  expect(await trail.refusal()).toMatchObject({
    errorClass: 'ToolCallError',
    message: expect.stringMatching(/no call is made, because calls cannot be recorded: .*cannot be opened/),
    hint: expect.stringContaining('audit.required: false'),
  });
  rmSync(folder);
  mkdirSync(folder);
  chmodSync(folder, 0o700);
  while ((await trail.refusal()) !== undefined) await new Promise((resolve) => setTimeout(resolve, 50));
  await trail.close();
});

test('a database that breaks in between refuses the next call, and what could not be written is written later [B18]', async () => {
  const { trail, folder, database } = openTrail();
  await trail.refusal();
  database().prepare("CREATE TRIGGER full BEFORE INSERT ON audit BEGIN SELECT RAISE(FAIL, 'disk is full'); END").run();
  await trail.record(ENTRY, true);
  expect(await trail.refusal()).toMatchObject({ message: expect.stringContaining('disk is full') });
  database().prepare('DROP TRIGGER full').run();
  while ((await trail.refusal()) !== undefined) await new Promise((resolve) => setTimeout(resolve, 50));
  using other = await reader(folder);
  expect(other.count()).toBe(1);
  await trail.close();
});

test('with required: false calls go on, and it is said once', async () => {
  const folder = join(base, 'another-file');
  writeFileSync(folder, '');
  const { trail, warnings } = openTrail(false, folder);
  expect(await trail.refusal()).toBeUndefined();
  await trail.record(ENTRY, true);
  expect(await trail.refusal()).toBeUndefined();
  expect(warnings).toEqual([expect.stringContaining('calls cannot be recorded')]);
  await trail.close();
});

test('a chain that was changed while the host ran refuses calls [B18]', async () => {
  const { trail, database } = openTrail();
  await trail.refusal();
  await trail.record(ENTRY, true);
  await trail.record(ENTRY, true);
  database().prepare('DELETE FROM audit WHERE number = 2').run();
  await trail.record(ENTRY, true);
  expect(await trail.refusal()).toMatchObject({ message: expect.stringContaining('changed from outside') });
  await trail.close();
});
