import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'libsql';
import { expect, test } from 'vitest';
import { Database } from './database.js';
import { RUN_STATES } from './migrations/run-states.js';
import { MIGRATIONS } from './migrations.js';

test('a state folder with waiting and finished runs opens with them suspended and succeeded', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'codemode-migrations-'));
  try {
    writeOldFile(join(folder, 'codemode.db'));
    const database = await Database.open(folder);
    const rows = database.prepare<{ id: string; state: string }>('SELECT id, state FROM runs ORDER BY id').all();
    expect(rows).toEqual([
      { id: 'a', state: 'suspended' },
      { id: 'b', state: 'succeeded' },
      { id: 'c', state: 'cancelled' },
    ]);
    expect(database.prepare('SELECT run, number FROM run_calls').all()).toEqual([{ run: 'a', number: 1 }]);
    database.close();
  } finally {
    rmSync(folder, { recursive: true });
  }
});

function writeOldFile(path: string): void {
  const old = new Sqlite(path);
  const before = MIGRATIONS.slice(0, MIGRATIONS.indexOf(RUN_STATES));
  for (const migration of before) old.exec(migration);
  old.exec(`PRAGMA user_version = ${before.length}`);
  const row = (id: string, state: string) =>
    `INSERT INTO runs (id, caller, profile, setting, code_digest, state, created_at, updated_at)
      VALUES ('${id}', 'stdio', 'codemode', '', '', '${state}', 1, 1);`;
  old.exec(row('a', 'waiting') + row('b', 'finished') + row('c', 'cancelled'));
  old.exec("INSERT INTO run_calls (run, number, state, call) VALUES ('a', 1, 'sent', x'00')");
  old.close();
}
