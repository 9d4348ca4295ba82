import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { CallerQuotas, DEFAULT_QUOTAS } from '../../../domain/quotas.js';
import type { EndedRun } from '../../runs.js';
import { Database } from '../database.js';
import { SqliteRunStore } from './runs.js';

const folder = mkdtempSync(join(tmpdir(), 'codemode-runs-'));
afterAll(() => rmSync(folder, { recursive: true }));

const RUN = { caller: 'somebody', profile: 'codemode', setting: 'digest', codeDigest: 'digest', createdAtMs: 1 };
const ended = (id: string, createdAtMs = 1): EndedRun => ({
  ...RUN,
  id,
  createdAtMs,
  state: 'succeeded',
  responseJson: `"answer of ${id}"`,
  recordingJson: undefined,
  title: `title of ${id}`,
  durationMs: 12.5,
});

test('the newest two thousand that ended are kept, and all that wait, however old', async () => {
  const database = await Database.open(folder);
  const store = new SqliteRunStore(database, new Uint8Array(32).fill(1));
  for (const id of ['suspended-1', 'suspended-2'])
    store.suspend({ ...RUN, id, program: new Uint8Array([1]), contextJson: '{}', title: 'await it' }, 1);
  for (let batch = 0; batch < 230; batch++)
    store.end(
      Array.from({ length: 10 }, (_, index) => ended(`run-${batch * 10 + index}`, 1_000 + batch)),
      1_000 + batch,
    );
  const kept = new Set(store.list(10_000).map(({ id }) => id));
  expect(kept).toContain('suspended-1');
  expect(kept).toContain('suspended-2');
  // So many more may be there at times.
  expect(kept.size).toBeGreaterThanOrEqual(2_000);
  expect(kept.size).toBeLessThanOrEqual(2_000 + 50 + 10 + 2);
  for (let run = 2_299; run >= 300; run--) expect(kept).toContain(`run-${run}`);
  expect(kept).not.toContain('run-0');
  expect(store.responseOf({ ...RUN, id: 'run-2299' })).toBe('"answer of run-2299"');
  expect(store.responseOf({ ...RUN, id: 'run-0' })).toBeUndefined();
  database.close();
});

test('many quick runs of one caller push out none of another', async () => {
  const database = await Database.open(mkdtempSync(join(folder, 'callers-')));
  const quotas = new CallerQuotas({ ...DEFAULT_QUOTAS, history: 100 });
  const store = new SqliteRunStore(database, new Uint8Array(32).fill(1), { quotas });
  store.end([{ ...ended('theirs'), caller: 'somebody else' }], 1);
  for (let batch = 0; batch < 30; batch++)
    store.end(
      Array.from({ length: 10 }, (_, index) => ended(`run-${batch * 10 + index}`, 1_000 + batch)),
      1_000 + batch,
    );
  expect(store.responseOf({ id: 'theirs', caller: 'somebody else' })).toBe('"answer of theirs"');
  expect(store.list(1_000, RUN.caller).length).toBeLessThanOrEqual(100 + 50 + 10);
  expect(store.responseOf({ ...RUN, id: 'run-299' })).toBe('"answer of run-299"');
  database.close();
});

test('suspended runs of one caller take no more disk than its quota; another caller has its own', async () => {
  const database = await Database.open(mkdtempSync(join(folder, 'disk-')));
  const quotas = new CallerQuotas({ ...DEFAULT_QUOTAS, suspended: 3_000 });
  const store = new SqliteRunStore(database, new Uint8Array(32).fill(1), { quotas });
  const put = (id: string, caller: string) =>
    store.suspend({ ...RUN, caller, id, program: new Uint8Array(1_000), contextJson: '{}', title: 'it' }, 1);
  put('one', 'greedy');
  put('two', 'greedy');
  // The same run again takes the place of its earlier image.
  put('two', 'greedy');
  expect(() => put('three', 'greedy')).toThrow(/quotas\.suspended allows one caller/);
  expect(quotas.refusals('suspended')).toBe(1);
  put('four', 'modest');
  expect(store.resumable(10).map(({ id }) => id)).toEqual(['one', 'two', 'four']);
  database.close();
});

test('a listed run keeps its title and duration after it is suspended and cancelled', async () => {
  const database = await Database.open(mkdtempSync(join(folder, 'titles-')));
  const store = new SqliteRunStore(database, new Uint8Array(32).fill(1));
  store.suspend({ ...RUN, id: 'abcd-1', program: new Uint8Array([1]), contextJson: '{}', title: 'await it()' }, 1);
  expect([store.titlesOf(['abcd-1']).get('abcd-1'), store.find('abcd-1')?.durationMs]).toEqual([
    'await it()',
    undefined,
  ]);
  store.end([{ ...ended('abcd-1'), state: 'cancelled', title: undefined, durationMs: undefined }, ended('abce-2')], 2);
  expect(store.titlesOf(['abcd-1']).get('abcd-1')).toBe('await it()');
  expect([store.titlesOf(['abce-2']).get('abce-2'), store.find('abce-2')?.durationMs]).toEqual([
    'title of abce-2',
    12.5,
  ]);
  database.close();
});

test('a title is sealed on disk, and one moved from another run is not shown', async () => {
  const place = mkdtempSync(join(folder, 'sealed-'));
  const database = await Database.open(place);
  const store = new SqliteRunStore(database, new Uint8Array(32).fill(1));
  store.end([{ ...ended('one'), title: 'const token = 12345' }, ended('two')], 1);
  database.prepare('UPDATE runs SET title = (SELECT title FROM runs WHERE id = ?) WHERE id = ?').run('one', 'two');
  expect([store.titlesOf(['one']).get('one'), store.titlesOf(['two']).get('two')]).toEqual([
    'const token = 12345',
    undefined,
  ]);
  database.close();
  expect(readFileSync(join(place, 'codemode.db')).includes('const token')).toBe(false);
});

test('ids are found by the characters they start with, wildcards included', async () => {
  const database = await Database.open(mkdtempSync(join(folder, 'ids-')));
  const store = new SqliteRunStore(database, new Uint8Array(32).fill(1));
  store.end(
    ['aaaa-1', 'aaab-2', 'aaab-3', 'bbbb-4'].map((id) => ended(id)),
    1,
  );
  expect(store.idsWith('aaab', 10)).toEqual(['aaab-2', 'aaab-3']);
  expect(store.idsWith('aaa', 2)).toEqual(['aaaa-1', 'aaab-2']);
  expect(store.idsWith('%', 10)).toEqual([]);
  database.close();
});

test('someone who writes the file without the key moves no answer and repeats no call', async () => {
  const state = mkdtempSync(join(folder, 'moved-'));
  const database = await Database.open(state);
  const store = new SqliteRunStore(database, new Uint8Array(32).fill(1));
  store.end([{ ...ended('moved'), recordingJson: '{}' }], 1);
  database.prepare("UPDATE runs SET caller = 'eve' WHERE id = 'moved'").run();
  expect(store.responseOf({ id: 'moved', caller: 'eve' })).toBeUndefined();
  expect([store.recordingOf('moved'), store.titlesOf(['moved']).get('moved')]).toEqual([undefined, undefined]);

  const suspended = { ...RUN, id: 'sent', program: new Uint8Array([1]), contextJson: '{}', title: 'await it' };
  store.suspend(suspended, 1);
  store.callMade({ runId: 'sent', fence: 0 }, 1, '{}');
  expect(store.open('sent')?.sinceThen.calls).toEqual([{ number: 1, isSent: false, callJson: '{}' }]);
  store.callSent({ runId: 'sent', fence: 0 }, 1, '{}');
  expect(store.open('sent')?.sinceThen.calls).toEqual([{ number: 1, isSent: true, callJson: '{}' }]);
  database.prepare("UPDATE run_calls SET state = 'made'").run();
  expect(store.open('sent')).toBeUndefined();
  database.close();
});

test('large answers of one caller take no more disk than it may have, and nothing of another', async () => {
  const database = await Database.open(mkdtempSync(join(folder, 'large-')));
  const store = new SqliteRunStore(database, new Uint8Array(32).fill(1), { maxEndedBytes: 100_000 });
  const large = (id: string) => ({
    ...ended(id),
    responseJson: JSON.stringify('x'.repeat(20_000)),
    recordingJson: '{}',
  });
  store.end([{ ...large('theirs'), caller: 'somebody else' }], 1);
  for (let n = 0; n < 50; n++) store.end([{ ...large(`large-${n}`), createdAtMs: 2 + n }], 2 + n);
  const kept = store.list(1_000).map(({ id }) => id);
  expect(kept).toContain('theirs');
  expect(kept).toContain('large-49');
  // What came since it was summed up last is there too.
  expect(kept.length).toBeLessThanOrEqual(1 + 5 + 3);
  database.close();
});

test('modules that many recordings share are stored once and deleted with the last run', async () => {
  const home = mkdtempSync(join(folder, 'modules-'));
  const database = await Database.open(home);
  const quotas = new CallerQuotas({ ...DEFAULT_QUOTAS, history: 10 });
  const store = new SqliteRunStore(database, new Uint8Array(32).fill(1), { quotas });
  const rows = () => database.prepare<{ digest: string }>('SELECT digest FROM run_modules').all();
  const recorded = (id: string, digest: string, createdAtMs = 1): EndedRun => ({
    ...{ ...ended(id, createdAtMs), recordingJson: `"recording of ${id}"` },
    modules: { digest, json: `"modules ${digest}"` },
  });
  store.end([recorded('one', 'old'), recorded('two', 'old')], 1);
  expect(rows()).toEqual([{ digest: 'old' }]);
  for (const id of ['one', 'two'])
    expect(store.recordingOf(id)).toEqual({ json: `"recording of ${id}"`, modulesJson: '"modules old"' });
  for (let run = 0; run < 120; run++) store.end([recorded(`run-${run}`, 'new', 1_000 + run)], 1_000 + run);
  expect(rows()).toEqual([{ digest: 'new' }]);
  expect(store.recordingOf('one')).toBeUndefined();
  expect(store.recordingOf('run-119')).toMatchObject({ modulesJson: '"modules new"' });
  database.prepare("UPDATE run_modules SET modules = x'00'").run();
  expect(store.recordingOf('run-119')).toBeUndefined();
  database.close();
});

test('a recording of an older version has its modules inside', async () => {
  const database = await Database.open(mkdtempSync(join(folder, 'older-')));
  const store = new SqliteRunStore(database, new Uint8Array(32).fill(1));
  store.end([{ ...ended('older'), recordingJson: '"with modules"' }], 1);
  expect(store.recordingOf('older')).toEqual({ json: '"with modules"', modulesJson: undefined });
  database.close();
});
