import { timingSafeEqual } from 'node:crypto';
import type { ConsoleRole } from '../../domain/console/sessions.js';
import { isProcessAlive } from '../../lib/files/process-identity.js';
import { authenticate, isAuthentic } from '../../lib/secrets/sealed.js';
import type {
  ConsoleAccess,
  ConsolePlace,
  LinkMaker,
  NewSession,
  ServingHost,
  StoredSession,
} from '../console-access.js';
import {
  digestOf,
  type HostRow,
  hostBinding,
  IDLE_MS,
  isOpen,
  isOurs,
  LINK_MS,
  type LinkRow,
  linkBinding,
  MAX_LINKS,
  MAX_SESSIONS,
  newSecret,
  newSession,
  placeText,
  type SessionRow,
  sessionBinding,
  sessionOf,
  USE_EVERY_MS,
} from '../console-rows.js';
import type { Database, Statement } from './database.js';

/** Links and sessions of the console in the SQLite file of a state folder. */
export class SqliteConsoleAccess implements ConsoleAccess {
  readonly #database: Database;
  readonly #key: Uint8Array;
  readonly #putLink: Statement<never>;
  readonly #takeLink: Statement<LinkRow>;
  readonly #dropLink: Statement<never>;
  readonly #dropOldLinks: Statement<never>;
  readonly #putSession: Statement<never>;
  readonly #byCookie: Statement<SessionRow>;
  readonly #sessions: Statement<SessionRow>;
  readonly #use: Statement<never>;
  readonly #dropSession: Statement<never>;
  readonly #dropOldSessions: Statement<never>;
  readonly #hosts: Statement<HostRow>;
  readonly #putHost: Statement<never>;
  readonly #dropHost: Statement<never>;

  constructor(database: Database, key: Uint8Array) {
    this.#database = database;
    this.#key = key;
    this.#putLink = database.prepare(
      'INSERT INTO console_links (digest, role, name, expires_at, mark) VALUES (?, ?, ?, ?, ?)',
    );
    this.#takeLink = database.prepare('SELECT * FROM console_links WHERE digest = ?');
    this.#dropLink = database.prepare('DELETE FROM console_links WHERE digest = ?');
    this.#dropOldLinks = database.prepare(
      `DELETE FROM console_links WHERE expires_at <= ?1 OR digest IN
        (SELECT digest FROM console_links ORDER BY expires_at DESC LIMIT -1 OFFSET ${MAX_LINKS})`,
    );
    this.#putSession = database.prepare(
      `INSERT INTO console_sessions (id, cookie_digest, key_digest, role, name, host, browser, created_at, used_at,
        expires_at, mark) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#byCookie = database.prepare('SELECT * FROM console_sessions WHERE cookie_digest = ?');
    this.#sessions = database.prepare('SELECT * FROM console_sessions ORDER BY created_at DESC, id');
    this.#use = database.prepare('UPDATE console_sessions SET used_at = ?, mark = ? WHERE id = ?');
    this.#dropSession = database.prepare('DELETE FROM console_sessions WHERE id = ?');
    this.#dropOldSessions = database.prepare(
      `DELETE FROM console_sessions WHERE expires_at <= ?1 OR used_at <= ?2 OR id IN
        (SELECT id FROM console_sessions ORDER BY used_at DESC LIMIT -1 OFFSET ${MAX_SESSIONS})`,
    );
    this.#hosts = database.prepare('SELECT * FROM console_hosts ORDER BY started_at DESC');
    this.#putHost = database.prepare(
      'INSERT OR REPLACE INTO console_hosts (holder, url, started_at, mark) VALUES (?, ?, ?, ?)',
    );
    this.#dropHost = database.prepare('DELETE FROM console_hosts WHERE holder = ?');
  }

  makeLink({ role, name }: LinkMaker, holder: string, nowMs = Date.now()): string {
    const secret = newSecret();
    const digest = digestOf(secret);
    const expiresAtMs = nowMs + LINK_MS;
    this.#database.transaction(() => {
      this.#dropOldLinks.run(nowMs);
      const mark = authenticate(this.#key, linkBinding({ digest, role, name, expiresAtMs, holder }));
      this.#putLink.run(digest, role, name, expiresAtMs, mark);
    });
    return secret;
  }

  openSession(
    link: string,
    { at, browser }: Pick<StoredSession, 'at' | 'browser'>,
    nowMs = Date.now(),
  ): NewSession | 'unknown' | 'expired' {
    return this.#database.transaction(() => {
      const digest = digestOf(link);
      const row = this.#takeLink.get(digest);
      if (row === undefined) return 'unknown';
      this.#dropLink.run(digest);
      const { role, name, expires_at: expiresAtMs, mark } = row;
      const { holder } = at;
      if (!isAuthentic(this.#key, linkBinding({ digest, role, name, expiresAtMs, holder }), mark)) return 'unknown';
      if (expiresAtMs <= nowMs) return 'expired';
      this.#dropOldSessions.run(nowMs, nowMs - IDLE_MS);
      return this.#begin({ role: role as ConsoleRole, name, at, browser }, nowMs);
    });
  }

  #begin(facts: Pick<StoredSession, 'role' | 'name' | 'at' | 'browser'>, nowMs: number): NewSession {
    const { row, ...made } = newSession(this.#key, facts, nowMs);
    const { id, cookie_digest, key_digest, role, name, host, browser, created_at, used_at, expires_at, mark } = row;
    const values = [id, cookie_digest, key_digest, role, name, host, browser] as const;
    this.#putSession.run(...values, created_at, used_at, expires_at, mark);
    return made;
  }

  find(
    cookie: string,
    key: string,
    at: ConsolePlace,
    nowMs = Date.now(),
  ): StoredSession | 'unknown' | 'expired' | 'elsewhere' {
    const row = this.#byCookie.get(digestOf(cookie));
    if (row === undefined || !isOurs(this.#key, row)) return 'unknown';
    if (!timingSafeEqual(Buffer.from(row.key_digest), Buffer.from(digestOf(key)))) return 'unknown';
    if (row.host !== placeText(at)) return 'elsewhere';
    if (!isOpen(row, nowMs)) return 'expired';
    if (nowMs - row.used_at >= USE_EVERY_MS) this.#useAt(row, nowMs);
    return sessionOf(row);
  }

  #useAt(row: SessionRow, nowMs: number): void {
    const mark = authenticate(this.#key, sessionBinding({ ...row, used_at: nowMs }));
    this.#use.run(nowMs, mark, row.id);
  }

  sessions(nowMs = Date.now()): StoredSession[] {
    return this.#sessions
      .all()
      .filter((row) => isOurs(this.#key, row) && isOpen(row, nowMs))
      .map(sessionOf)
      .filter(({ at }) => isProcessAlive(at.holder));
  }

  revoke(id: string): boolean {
    return this.#dropSession.run(id) > 0;
  }

  hosts(): ServingHost[] {
    return this.#hosts.all().flatMap((row) => {
      const { holder, url } = row;
      // A person opens the link with a secret in it, so it must lead to an address that a host with the key has published.
      if (!isAuthentic(this.#key, hostBinding(row), row.mark)) return [];
      if (isProcessAlive(holder)) return [{ holder, url }];
      this.#dropHost.run(holder);
      return [];
    });
  }

  hostServes({ holder, url }: ServingHost, nowMs = Date.now()): void {
    const mark = authenticate(this.#key, hostBinding({ holder, url, started_at: nowMs }));
    this.#putHost.run(holder, url, nowMs, mark);
  }

  hostStops(holder: string): void {
    this.#dropHost.run(holder);
  }
}
