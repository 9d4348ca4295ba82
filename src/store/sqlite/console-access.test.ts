import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { processIdentity } from '../../lib/files/process-identity.js';
import type { NewSession } from '../console-access.js';
import { SqliteConsoleAccess } from './console-access.js';
import { Database } from './database.js';

const HOUR_MS = 3_600_000;
const HOLDER = processIdentity() as string;
const PLACE = { holder: HOLDER, port: 1, host: '127.0.0.1:1' };
const AT = { at: PLACE, browser: 'test' };
const ANA = { role: 'owner', name: 'ana' } as const;
const folder = mkdtempSync(join(tmpdir(), 'codemode-console-'));
let database: Database;
let access: SqliteConsoleAccess;

beforeAll(async () => {
  database = await Database.open(folder);
  access = new SqliteConsoleAccess(database, new Uint8Array(32).fill(7));
});
afterAll(() => {
  database.close();
  rmSync(folder, { recursive: true, force: true });
});

function opened(nowMs: number): NewSession {
  const session = access.openSession(access.makeLink(ANA, HOLDER, nowMs), AT, nowMs);
  if (typeof session === 'string') throw new Error(session);
  return session;
}

test('a link opens one session, for ten minutes', () => {
  const link = access.makeLink(ANA, HOLDER, 0);
  expect(access.openSession('another', AT, 1)).toBe('unknown');
  expect(access.openSession(link, AT, 1)).toMatchObject({ session: { role: 'owner', name: 'ana', at: PLACE } });
  expect(access.openSession(link, AT, 1)).toBe('unknown');
  expect(access.openSession(access.makeLink(ANA, HOLDER, 0), AT, 10 * 60_000)).toBe('expired');
});

test('a session ends twelve hours after its last use, and after seven days in any case', () => {
  const { cookie, key } = opened(0);
  expect(access.find(cookie, 'x'.repeat(43), PLACE, 1)).toBe('unknown');
  expect(access.find(cookie, key, PLACE, 11 * HOUR_MS)).toMatchObject({ name: 'ana' });
  expect(access.find(cookie, key, PLACE, 22 * HOUR_MS)).toMatchObject({ name: 'ana' });
  expect(access.find(cookie, key, PLACE, 35 * HOUR_MS)).toBe('expired');
  const used = opened(0);
  for (let hour = 10; hour < 168; hour += 10)
    expect(access.find(used.cookie, used.key, PLACE, hour * HOUR_MS)).toMatchObject(ANA);
  expect(access.find(used.cookie, used.key, PLACE, 168 * HOUR_MS)).toBe('expired');
});

test("a row written without the state folder's key is neither a link nor a session", () => {
  const foreign = new SqliteConsoleAccess(database, new Uint8Array(32).fill(8));
  const link = foreign.makeLink(ANA, HOLDER, 0);
  expect(access.openSession(link, AT, 1)).toBe('unknown');
  const { cookie, key, session } = opened(0);
  database.prepare('UPDATE console_sessions SET expires_at = expires_at + 1 WHERE id = ?').run(session.id);
  expect(access.find(cookie, key, PLACE, 1)).toBe('unknown');
  const approver = access.openSession(
    access.makeLink({ role: 'approver', name: 'ben' }, HOLDER, 0),
    AT,
    0,
  ) as NewSession;
  database.prepare("UPDATE console_sessions SET role = 'owner' WHERE id = ?").run(approver.session.id);
  expect(access.find(approver.cookie, approver.key, PLACE, 1)).toBe('unknown');
  expect(access.sessions(1).map(({ id }) => id)).not.toContain(approver.session.id);
});

test('a row that was written or changed without the key is no host, and a session is what it was', () => {
  const holder = processIdentity() as string;
  access.hostServes({ holder, url: 'http://127.0.0.1:7/' });
  expect(access.hosts()).toEqual([{ holder, url: 'http://127.0.0.1:7/' }]);
  database.prepare("UPDATE console_hosts SET url = 'http://127.0.0.1:666/'").run();
  expect(access.hosts()).toEqual([]);
  database
    .prepare("INSERT OR REPLACE INTO console_hosts (holder, url, started_at) VALUES (?, 'http://e/', 1)")
    .run(holder);
  expect(access.hosts()).toEqual([]);
  access.hostStops(holder);
  for (const change of ['used_at = used_at + 1', "browser = 'Firefox'"]) {
    const { cookie, key, session } = opened(0);
    expect(access.find(cookie, key, PLACE, 2 * 60_000)).toMatchObject({ id: session.id, browser: 'test' });
    expect(access.find(cookie, key, PLACE, 3 * 60_000)).toMatchObject({ id: session.id });
    database.prepare(`UPDATE console_sessions SET ${change} WHERE id = ?`).run(session.id);
    expect(access.find(cookie, key, PLACE, 4 * 60_000)).toBe('unknown');
  }
});

test('a link and a session work for one process and one port, whatever a request claims', () => {
  const next = { ...PLACE, holder: `${process.pid}:1` };
  expect(access.openSession(access.makeLink(ANA, HOLDER, 0), { ...AT, at: next }, 1)).toBe('unknown');
  const { cookie, key, session } = opened(0);
  for (const at of [next, { ...PLACE, port: 2 }, { ...PLACE, host: 'localhost:1' }])
    expect(access.find(cookie, key, at, 1)).toBe('elsewhere');
  expect(access.find(cookie, key, PLACE, 1)).toMatchObject({ id: session.id });
  const gone = access.openSession(access.makeLink(ANA, next.holder, 0), { ...AT, at: next }, 0) as NewSession;
  expect(access.sessions(1).map(({ id }) => id)).not.toContain(gone.session.id);
});
