import { cpSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { AuditEntry } from '../../domain/audit.js';
import { masterKey } from '../master-key.js';
import { SqliteAuditStore } from './audit/audit.js';
import { Database } from './database.js';

/** The end of the chain, cut off at every point: which cuts are noticed, and by whom. */

const base = mkdtempSync(join(tmpdir(), 'codemode-tail-'));
afterAll(() => rmSync(base, { recursive: true, force: true }));

const [SEALED, WRITTEN] = [10, 14];
const WAL_HEADER_BYTES = 32;
const FRAME_BYTES = 24 + 4_096;

const entry = (number: number): AuditEntry => ({
  callId: `host.${number}`,
  atMs: 1_700_000_000_000,
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
});

async function open(folder: string) {
  const database = await Database.open(folder);
  const store = SqliteAuditStore.open(database, await masterKey(folder), folder);
  return { database, store, [Symbol.dispose]: () => database.close() };
}

/** A host that has sealed ten records and written four more. */
async function running(name: string) {
  const folder = join(base, name);
  const opened = await open(folder);
  for (let number = 1; number <= WRITTEN; number++) {
    opened.store.append([entry(number)]);
    if (number === SEALED) await opened.store.seal();
  }
  return { ...opened, folder };
}

test('truncation is noticed by everybody up to the seal, and always by the host that wrote it [B18]', async () => {
  for (let left = 0; left < WRITTEN; left++) {
    using host = await running(`cut-${left}`);
    host.database.prepare('DELETE FROM audit WHERE number > ?').run(left);
    using other = await open(host.folder);
    expect({ left, isNoticed: !other.store.verify().isIntact }).toEqual({ left, isNoticed: left < SEALED });
    if (left < SEALED) expect(() => other.store.append([entry(1)])).toThrow('changed from outside');
    expect(() => host.store.append([entry(15)])).toThrow('changed from outside');
  }
});

test('a database log cut at any byte gives a whole chain or one known to be cut [B18]', async () => {
  using host = await running('log');
  const log = join(host.folder, 'codemode.db-wal');
  const frames = Math.floor((statSync(log).size - WAL_HEADER_BYTES) / FRAME_BYTES);
  const counts = new Set<number>();
  for (let frame = 0; frame <= frames; frame++) {
    for (const cut of [0, 1, FRAME_BYTES - 1]) {
      const copy = join(base, 'copy');
      rmSync(copy, { recursive: true, force: true });
      cpSync(host.folder, copy, { recursive: true, filter: (file) => !file.endsWith('-shm') });
      truncateSync(join(copy, 'codemode.db-wal'), WAL_HEADER_BYTES + frame * FRAME_BYTES + (frame < frames ? cut : 0));
      using cutOff = await open(copy);
      const { isIntact, records, problem } = cutOff.store.verify();
      expect({ records, isIntact }).toEqual({ records, isIntact: records >= SEALED });
      if (!isIntact) expect(problem?.reason).toMatch(/are gone/);
      counts.add(records);
    }
  }
  expect([...counts].sort((left, right) => left - right)).toEqual(Array.from({ length: WRITTEN + 1 }, (_, at) => at));
  expect(readFileSync(join(host.folder, 'audit.head'), 'utf8')).toContain(`"count":${SEALED}`);
});
