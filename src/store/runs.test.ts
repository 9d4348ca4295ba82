import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { Database } from './database.js';
import { type EndedRun, RunStore } from './runs.js';

const folder = mkdtempSync(join(tmpdir(), 'codemode-runs-'));
afterAll(() => rmSync(folder, { recursive: true }));

const RUN = { caller: 'somebody', profile: 'codemode', setting: 'digest', codeDigest: 'digest' };
const ended = (id: string): EndedRun => ({
  ...RUN,
  id,
  state: 'finished',
  responseJson: `"answer of ${id}"`,
  recordingJson: undefined,
});

test('the newest two thousand that ended are kept, and all that wait, however old', async () => {
  const database = await Database.open(folder);
  const store = new RunStore(database, new Uint8Array(32).fill(1));
  for (const id of ['sleeper-1', 'sleeper-2'])
    store.putAway({ ...RUN, id, program: new Uint8Array([1]), contextJson: '{}' }, 1);
  for (let batch = 0; batch < 230; batch++)
    store.end(
      Array.from({ length: 10 }, (_, index) => ended(`run-${batch * 10 + index}`)),
      1_000 + batch,
    );
  const kept = new Set(store.list(10_000).map(({ id }) => id));
  expect(kept).toContain('sleeper-1');
  expect(kept).toContain('sleeper-2');
  // So many more may be there at times.
  expect(kept.size).toBeGreaterThanOrEqual(2_000);
  expect(kept.size).toBeLessThanOrEqual(2_000 + 50 + 10 + 2);
  for (let run = 2_299; run >= 300; run--) expect(kept).toContain(`run-${run}`);
  expect(kept).not.toContain('run-0');
  expect(store.responseOf('run-2299')).toBe('"answer of run-2299"');
  expect(store.responseOf('run-0')).toBeUndefined();
  database.close();
});
