import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { Database } from './database.js';

const base = mkdtempSync(join(tmpdir(), 'codemode-database-'));
afterAll(() => rmSync(base, { recursive: true, force: true }));

test('the file and its folder are its owner’s alone', async () => {
  const folder = join(base, 'deep', 'state');
  (await Database.open(folder)).close();
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(statSync(join(folder, 'codemode.db')).mode & 0o777).toBe(0o600);
});

test('two hosts have it open at once, and each sees what the other wrote', async () => {
  const [first, second] = await Promise.all([Database.open(base), Database.open(base)]);
  first.prepare('CREATE TABLE notes (text TEXT)').run();
  first.prepare('INSERT INTO notes VALUES (?)').run('from the first');
  expect(second.prepare<{ text: string }>('SELECT text FROM notes').all()).toMatchObject([{ text: 'from the first' }]);
  second.transaction(() => second.prepare('DELETE FROM notes').run());
  expect(first.prepare('SELECT text FROM notes').all()).toEqual([]);
  first.close();
  second.close();
});

test('rows come back as they were written, bytes as bytes, one by one and all together', async () => {
  const database = await Database.open(join(base, 'bytes'));
  database.prepare('CREATE TABLE notes (id INTEGER, body BLOB, text TEXT) STRICT').run();
  database.prepare('INSERT INTO notes VALUES (?, ?, ?)').run(1, Buffer.from([0, 255]), null);
  const row = { id: 1, body: Buffer.from([0, 255]), text: null };
  expect(database.prepare('SELECT * FROM notes').get()).toEqual(row);
  expect(database.prepare('SELECT * FROM notes').all()).toEqual([row]);
  expect(database.prepare('SELECT * FROM notes WHERE id = ?').get(2)).toBeUndefined();
  database.close();
});

test('a transaction that fails leaves nothing behind', async () => {
  const database = await Database.open(join(base, 'whole'));
  database.prepare('CREATE TABLE notes (text TEXT)').run();
  const broken = () =>
    database.transaction(() => {
      database.prepare('INSERT INTO notes VALUES (?)').run('half');
      throw new Error('stopped in between');
    });
  expect(broken).toThrow('stopped in between');
  expect(database.prepare('SELECT text FROM notes').all()).toEqual([]);
  database.close();
});

test('a file of a newer program is not touched', async () => {
  const folder = join(base, 'newer');
  const database = await Database.open(folder);
  database.prepare('PRAGMA user_version = 999').run();
  database.close();
  await expect(Database.open(folder)).rejects.toMatchObject({
    code: 'bad_config',
    message: expect.stringContaining('written by a newer codemode'),
  });
});

test('a file that is not a database and a folder that cannot be created are reported', async () => {
  const folder = join(base, 'broken');
  mkdirSync(folder);
  writeFileSync(join(folder, 'codemode.db'), 'x'.repeat(5_000));
  for (const place of [folder, '/proc/nowhere'])
    await expect(Database.open(place)).rejects.toMatchObject({
      code: 'bad_config',
      message: expect.stringMatching(/cannot be (?:opened|written) .*CODEMODE_HOME/),
    });
});
