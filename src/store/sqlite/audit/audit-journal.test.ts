import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { collected } from '../../../../test/support/collected.js';
import type { AuditEntry } from '../../../domain/audit.js';
import { AuditKeys } from '../../audit-keys.js';
import { masterKey } from '../../master-key.js';
import { Database } from '../database.js';
import { SqliteAuditStore } from './audit.js';
import { AuditJournal } from './audit-journal.js';

const base = mkdtempSync(join(tmpdir(), 'codemode-journal-'));
afterAll(() => rmSync(base, { recursive: true, force: true }));

const GONE = '1:1';
let folders = 0;

const sent = (callId: string, toolName = 'write'): AuditEntry => ({
  callId,
  atMs: 1_700_000_000_000,
  runId: 'run',
  caller: 'tester',
  profile: 'codemode',
  codeDigest: 'c0de',
  serverId: 'notes',
  toolName,
  argumentsDigest: '',
  resultBytes: null,
  durationMs: 0,
  verdict: 'sent',
  approval: { state: 'NOT_REQUIRED' },
  redactions: {},
});
const ended = (callId: string) => {
  const { approval, redactions } = sent(callId);
  return { callId, approval, redactions, resultBytes: 3, durationMs: 1.5, verdict: 'ok' as const };
};

/** A folder whose host is gone, and what it has left. */
async function open({ process = GONE, host = 'host' } = {}) {
  const folder = join(base, String(++folders));
  const database = await Database.open(folder);
  const key = await masterKey(folder);
  const store = SqliteAuditStore.open(database, key, folder);
  const journal = await AuditJournal.create(folder, new AuditKeys(key), { host, from: 0, process });
  const file = join(folder, 'audit-open', `${host}.journal`);
  const outcomes = async () => (await collected(store.each({}))).map(({ callId, verdict }) => `${callId} ${verdict}`);
  return { folder, store, journal, file, outcomes, key, database, [Symbol.dispose]: () => database.close() };
}

describe('of a host that was killed', () => {
  test('calls in flight have an unknown outcome, answered ones a known one, each once [B18]', async () => {
    using left = await open();
    for (const id of ['host.1', 'host.2', 'host.3', 'host.10']) left.journal.write(sent(id));
    left.journal.write(ended('host.2'));
    left.journal.write(ended('host.3'));
    // Killed after the commit and before its journal was emptied.
    left.store.append([{ ...sent('host.3'), ...ended('host.3') }]);
    left.store.adoptOrphans();
    expect(await left.outcomes()).toEqual([
      'host.3 ok',
      'host.2 ok',
      'host.1 outcome_unknown',
      'host.10 outcome_unknown',
    ]);
    expect(left.store.records({}, 9)[1]).toMatchObject({ runId: 'run', toolName: 'write', durationMs: 1.5 });
    expect(readdirSync(join(left.folder, 'audit-open'))).toEqual([]);
    expect(left.store.verify()).toMatchObject({ isIntact: true, records: 4 });
  });

  test('a call that is in the chain as sent gets its end, though its line in the journal is gone [B18]', async () => {
    using left = await open();
    left.store.append([sent('host.1'), sent('host.2'), sent('other.1'), sent('host.3')]);
    left.store.append([{ ...sent('host.3'), ...ended('host.3') }]);
    left.journal.write(ended('host.2'));
    left.store.adoptOrphans();
    expect((await left.outcomes()).slice(5)).toEqual(['host.2 ok', 'host.1 outcome_unknown']);
  });

  test('two hosts that find it at once put it into the chain once [B18]', async () => {
    using left = await open();
    left.journal.write(sent('host.1'));
    const text = readFileSync(left.file);
    left.store.adoptOrphans();
    // As the second has read it, before the first took it away.
    writeFileSync(left.file, text);
    left.store.adoptOrphans();
    expect(await left.outcomes()).toEqual(['host.1 outcome_unknown']);
  });

  test('a journal cut off anywhere gives what is whole of it [B18]', async () => {
    using left = await open();
    const start = left.journal.bytes;
    const ends = ['host.1', 'host.2', 'host.3'].map((id) => {
      left.journal.write(sent(id));
      return left.journal.bytes;
    });
    const whole = readFileSync(left.file);
    for (let bytes = whole.length; bytes >= start; bytes -= 7) {
      writeFileSync(left.file, whole);
      truncateSync(left.file, bytes);
      left.store.adoptOrphans();
    }
    // All were there the first time; what is cut off later adds nothing and breaks nothing.
    expect(await left.outcomes()).toHaveLength(ends.length);
    for (const [count, end] of ends.entries()) {
      using other = await open();
      for (const id of ['host.1', 'host.2', 'host.3']) other.journal.write(sent(id));
      truncateSync(other.file, end - 2);
      other.store.adoptOrphans();
      expect(await other.outcomes()).toHaveLength(count);
    }
  });

  test('lines of an earlier time behind the last one are not read [B18]', async () => {
    using left = await open();
    for (const id of ['host.1', 'host.2', 'host.3']) left.journal.write(sent(id));
    left.journal.empty();
    left.journal.write(sent('host.4'));
    left.store.adoptOrphans();
    expect(await left.outcomes()).toEqual(['host.4 outcome_unknown']);
  });
});

test('a journal of a host that is there is left to it [B18]', async () => {
  using left = await open();
  const journal = await left.store.openJournal('mine');
  journal.write(sent('mine.1'));
  left.store.adoptOrphans();
  expect(readdirSync(join(left.folder, 'audit-open'))).toEqual(['mine.journal']);
  expect(await left.outcomes()).toEqual([]);
  journal.close(true);
});

describe('who has no key', () => {
  test('cannot change, move, take out or add lines: what follows them is not believed [B18]', async () => {
    for (const change of [
      ([header, one, ...rest]: string[]) => [header, one?.replace('write', 'wrote'), ...rest],
      ([header, one, two, ...rest]: string[]) => [header, two, one, ...rest],
      ([header, , ...rest]: string[]) => [header, ...rest],
      ([header, one, ...rest]: string[]) => [header, `A${one}`, one, ...rest],
    ]) {
      using left = await open();
      for (const id of ['host.1', 'host.2', 'host.3']) left.journal.write(sent(id));
      writeFileSync(left.file, change(readFileSync(left.file, 'utf8').split('\n')).join('\n'));
      left.store.adoptOrphans();
      expect(await left.outcomes()).toEqual([]);
    }
  });

  test('cannot plant a forged or foreign journal: calls are refused until the chain is restarted [B18]', async () => {
    using other = await open({ host: 'foreign' });
    other.journal.write(sent('foreign.1'));
    using left = await open();
    writeFileSync(join(left.folder, 'audit-open', 'foreign.journal'), readFileSync(other.file));
    expect(() => left.store.adoptOrphans()).toThrow(/changed from outside.*foreign.journal/);
    expect(await left.outcomes()).toEqual([]);
    await left.store.restart('somebody left a file');
    left.store.adoptOrphans();
    expect(readdirSync(join(left.folder, 'audit-open'))).toEqual([]);
  });
});
