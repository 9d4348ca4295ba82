import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { AuditEntry } from '../../domain/audit.js';
import { masterKey } from '../../store/master-key.js';
import { SqliteAuditStore } from '../../store/sqlite/audit/audit.js';
import { Database } from '../../store/sqlite/database.js';
import { AuditTrail } from './audit-trail.js';

const base = mkdtempSync(join(tmpdir(), 'codemode-trail-'));
afterAll(() => rmSync(base, { recursive: true, force: true }));

let folders = 0;
const ENTRY: AuditEntry = {
  callId: '',
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
      return SqliteAuditStore.open(database, await masterKey(folder), folder);
    },
    isRequired,
    retentionMs: 86_400_000,
    warn: (line) => warnings.push(line),
  });
  return { trail, folder, warnings, database: () => database as Database };
}

/** The lines of the journal. Bytes of earlier, longer content may follow the last line. */
function journalOf(folder: string): { callId: string }[] {
  const [name = ''] = readdirSync(join(folder, 'audit-open'));
  const lines = readFileSync(join(folder, 'audit-open', name), 'utf8')
    .split('\n')
    .slice(1);
  const entries: { callId: string }[] = [];
  for (const line of lines) {
    const body = line.slice(line.indexOf(' ') + 1);
    if (!body.startsWith('{') || !body.endsWith('}')) break;
    entries.push(JSON.parse(body) as { callId: string });
  }
  return entries;
}

async function reader(folder: string) {
  const database = await Database.open(folder);
  const store = SqliteAuditStore.open(database, await masterKey(folder), folder);
  return { count: () => store.records({}, 1_000).length, store, [Symbol.dispose]: () => database.close() };
}

test('a call is journaled before it is sent, and its outcome before the program gets the answer [B18]', async () => {
  const { trail, folder } = openTrail();
  expect(await trail.refusal()).toBeUndefined();
  const [first, second] = [trail.nextCallId(), trail.nextCallId()];
  expect(trail.sending({ ...ENTRY, callId: first, verdict: 'sent' })).toBeUndefined();
  expect(trail.sending({ ...ENTRY, callId: second, verdict: 'sent' })).toBeUndefined();
  expect(journalOf(folder)).toMatchObject([
    { callId: first, verdict: 'sent', runId: 'run' },
    { callId: second, verdict: 'sent', runId: 'run' },
  ]);
  await trail.record({ ...ENTRY, callId: first });
  expect(journalOf(folder)[2]).toMatchObject({ callId: first, verdict: 'ok', durationMs: 1 });
  await trail.record({ ...ENTRY, callId: second });
  await trail.close();
  expect(readdirSync(join(folder, 'audit-open'))).toEqual([]);
});

test('outcomes are appended to the chain in batches, at the latest when their run ends [B18]', async () => {
  const { trail, folder } = openTrail();
  await trail.refusal();
  using other = await reader(folder);
  await trail.record({ ...ENTRY, callId: trail.nextCallId() });
  expect(other.count()).toBe(0);
  await trail.flush();
  expect(other.count()).toBe(1);
  await trail.record({ ...ENTRY, callId: trail.nextCallId() });
  await trail.close();
  expect(other.store.verify()).toMatchObject({ isIntact: true, records: 2, sealed: { count: 2 } });
});

test('a slow call is in the sealed chain while it is in flight [B18]', async () => {
  const { trail, folder } = openTrail();
  await trail.refusal();
  using other = await reader(folder);
  const callId = trail.nextCallId();
  await trail.sending({ ...ENTRY, callId, verdict: 'sent' });
  const sealed = () => other.store.verify().sealed?.count ?? 0;
  while (sealed() === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  expect(other.store.records({}, 9)).toMatchObject([{ callId, verdict: 'sent' }]);
  await trail.record({ ...ENTRY, callId });
  await trail.close();
  expect(other.store.records({}, 9)).toMatchObject([
    { callId, verdict: 'sent' },
    { callId, verdict: 'ok' },
  ]);
});

test('a long journal is truncated while a call is in flight, and no record is lost [B18]', async () => {
  const { trail, folder } = openTrail();
  await trail.refusal();
  const stays = trail.nextCallId();
  await trail.sending({ ...ENTRY, callId: stays, verdict: 'sent' });
  const reason = 'r'.repeat(4_000);
  for (let n = 0; n < 500; n++) {
    const entry = { ...ENTRY, callId: trail.nextCallId(), approval: { ...ENTRY.approval, reason } };
    await trail.sending({ ...entry, verdict: 'sent' });
    await trail.record(entry);
  }
  using other = await reader(folder);
  expect(other.store.records({}, 1)).toHaveLength(1);
  const next = trail.nextCallId();
  await trail.sending({ ...ENTRY, callId: next, verdict: 'sent' });
  expect(journalOf(folder)[0]?.callId).toBe(next);
  expect(other.store.records({}, 1_000)[0]).toMatchObject({ callId: stays, verdict: 'sent' });
  await trail.close();
});

test('a call that cannot be recorded is not sent [B18]', async () => {
  const { trail } = openTrail();
  await trail.refusal();
  const runId = 'r'.repeat(70_000);
  expect(trail.sending({ ...ENTRY, runId, callId: trail.nextCallId(), verdict: 'sent' })).toMatchObject({
    message: expect.stringContaining('the journal of calls cannot be written'),
  });
  await trail.close();
});

test('records older than the retention are removed', async () => {
  const { trail, folder } = openTrail();
  await trail.refusal();
  await trail.record({ ...ENTRY, atMs: Date.now() - 2 * 86_400_000 });
  await trail.record(ENTRY);
  await trail.close();
  using other = await reader(folder);
  expect(other.store.verify()).toMatchObject({ isIntact: true, records: 1, cut: { count: 1 } });
});

test('calls are refused while they cannot be recorded, and resume once they can [B18]', async () => {
  const folder = join(base, 'a-file');
  writeFileSync(folder, '');
  const { trail } = openTrail(true, folder);
  expect(await trail.refusal()).toMatchObject({
    errorClass: 'ToolCallError',
    message: expect.stringMatching(
      /no call is made, because calls cannot be recorded: the state folder .* cannot be written/,
    ),
    hint: expect.stringContaining('audit.required: false'),
  });
  rmSync(folder);
  mkdirSync(folder);
  chmodSync(folder, 0o700);
  while ((await trail.refusal()) !== undefined) await new Promise((resolve) => setTimeout(resolve, 50));
  await trail.close();
});

test('a database failure refuses the next call, and the pending record is written later [B18]', async () => {
  const { trail, folder, database } = openTrail();
  await trail.refusal();
  database().prepare("CREATE TRIGGER full BEFORE INSERT ON audit BEGIN SELECT RAISE(FAIL, 'disk is full'); END").run();
  await trail.record({ ...ENTRY, callId: trail.nextCallId() });
  await trail.flush();
  expect(await trail.refusal()).toMatchObject({ message: expect.stringContaining('disk is full') });
  database().prepare('DROP TRIGGER full').run();
  while ((await trail.refusal()) !== undefined) await new Promise((resolve) => setTimeout(resolve, 50));
  using other = await reader(folder);
  expect(other.count()).toBe(1);
  await trail.close();
});

test('with required: false calls continue, with one warning', async () => {
  const folder = join(base, 'another-file');
  writeFileSync(folder, '');
  const { trail, warnings } = openTrail(false, folder);
  expect(await trail.refusal()).toBeUndefined();
  await trail.record({ ...ENTRY, callId: trail.nextCallId() });
  await trail.flush();
  expect(await trail.refusal()).toBeUndefined();
  expect(warnings).toEqual([expect.stringContaining('calls cannot be recorded')]);
  await trail.close();
});

test('a chain that was changed while the host ran refuses calls [B18]', async () => {
  const { trail, database } = openTrail();
  await trail.refusal();
  await trail.record({ ...ENTRY, callId: trail.nextCallId() });
  await trail.flush();
  await trail.record({ ...ENTRY, callId: trail.nextCallId() });
  await trail.flush();
  database().prepare('DELETE FROM audit WHERE number = 2').run();
  await trail.record({ ...ENTRY, callId: trail.nextCallId() });
  await trail.flush();
  expect(await trail.refusal()).toMatchObject({ message: expect.stringContaining('changed from outside') });
  await trail.close();
});
