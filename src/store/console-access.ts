import { hash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import type { ConsoleRole } from '../domain/console/sessions.js';
import { isProcessAlive } from '../lib/process-identity.js';
import { authenticate, isAuthentic, type SealBinding } from '../lib/sealed.js';
import type { Database, Statement } from './database.js';

/** A session as it is stored: of its secrets only digests. */
export interface StoredSession {
  readonly id: string;
  readonly role: ConsoleRole;
  readonly name: string;
  /** Where it was opened: it is accepted nowhere else. */
  readonly at: ConsolePlace;
  readonly browser: string;
  readonly createdAtMs: number;
  readonly usedAtMs: number;
  readonly expiresAtMs: number;
}

/**
 * What a link and a session are bound to. Who takes the port of a host that has stopped gets the cookie and the key of pages that
 * are still open: they are of no use at another port, and of none at another process, which includes the next one at this port.
 */
export interface ConsolePlace {
  /** The process that serves: its id and the moment it started. */
  readonly holder: string;
  /** Where it listens, by the socket and not by what a request says. */
  readonly port: number;
  /** The `Host` header of the browser. */
  readonly host: string;
}

interface LinkRow {
  digest: string;
  role: string;
  name: string;
  expires_at: number;
  mark: Buffer;
}

interface SessionRow {
  id: string;
  cookie_digest: string;
  key_digest: string;
  role: string;
  name: string;
  host: string;
  browser: string;
  created_at: number;
  used_at: number;
  expires_at: number;
  mark: Buffer;
}

interface HostRow {
  holder: string;
  url: string;
  started_at: number;
  mark: Buffer | null;
}

export interface NewSession {
  readonly cookie: string;
  readonly key: string;
  readonly session: StoredSession;
}

export interface ServingHost {
  readonly url: string;
  readonly holder: string;
}

const SECRET_BYTES = 32;
/** Long enough to switch to the browser, short enough not to be found later in a terminal's history. */
const LINK_MS = 10 * 60_000;
/** A session ends this long after it was last used, and at the latest after the second. */
const IDLE_MS = 12 * 3_600_000;
const LONGEST_MS = 7 * 24 * 3_600_000;
/** How often the time of use is written: a stream and a page of requests are one use. */
const USE_EVERY_MS = 60_000;
const MAX_LINKS = 100;
const MAX_SESSIONS = 100;

/** Links and sessions of the console. A row that was written without the key of the state folder counts as none. */
export class ConsoleAccess {
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

  /** The secret of a link that opens one session, once. */
  makeLink(
    { role, name }: { readonly role: ConsoleRole; readonly name: string },
    /** The only process that takes it. */
    holder: string,
    nowMs = Date.now(),
  ): string {
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

  /** Uses up a link. `used` cannot be told from `wrong`: of a used link nothing is kept. */
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
    const [cookie, key] = [newSecret(), newSecret()];
    const times = { createdAtMs: nowMs, usedAtMs: nowMs, expiresAtMs: nowMs + LONGEST_MS };
    const session: StoredSession = { id: randomUUID(), ...facts, ...times };
    const row = {
      ...{ id: session.id, cookie_digest: digestOf(cookie), key_digest: digestOf(key), host: placeText(session.at) },
      ...{ role: session.role, name: session.name, browser: session.browser },
      ...{ created_at: nowMs, used_at: nowMs, expires_at: session.expiresAtMs },
    };
    const { id, cookie_digest, key_digest, role, name, host, browser, created_at, used_at, expires_at } = row;
    const values = [id, cookie_digest, key_digest, role, name, host, browser] as const;
    this.#putSession.run(...values, created_at, used_at, expires_at, authenticate(this.#key, sessionBinding(row)));
    return { cookie, key, session };
  }

  /** The session of these two secrets at this place. `expired`: it was one; `elsewhere`: it is one of another place. */
  find(
    cookie: string,
    key: string,
    at: ConsolePlace,
    nowMs = Date.now(),
  ): StoredSession | 'unknown' | 'expired' | 'elsewhere' {
    const row = this.#byCookie.get(digestOf(cookie));
    if (row === undefined || !this.#isOurs(row)) return 'unknown';
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

  /** The newest first. Those of hosts that have ended are over. */
  sessions(nowMs = Date.now()): StoredSession[] {
    return this.#sessions
      .all()
      .filter((row) => this.#isOurs(row) && isOpen(row, nowMs))
      .map(sessionOf)
      .filter(({ at }) => isProcessAlive(at.holder));
  }

  /** Whether there was one. */
  revoke(id: string): boolean {
    return this.#dropSession.run(id) > 0;
  }

  /** A process that serves the console now; those that are gone are forgotten. */
  hosts(): ServingHost[] {
    return this.#hosts.all().flatMap((row) => {
      const { holder, url } = row;
      // A link is shown to a person and opened with a secret in it: it leads where a host with the key said it listens.
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

  #isOurs(row: SessionRow): boolean {
    return isAuthentic(this.#key, sessionBinding(row), row.mark);
  }
}

function isOpen(row: SessionRow, nowMs: number): boolean {
  return row.expires_at > nowMs && row.used_at > nowMs - IDLE_MS;
}

function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

/** Secrets are random: a slow hash would protect nothing. */
function digestOf(secret: string): string {
  return hash('sha256', secret, 'hex');
}

function linkBinding(link: {
  digest: string;
  role: string;
  name: string;
  expiresAtMs: number;
  holder: string;
}): SealBinding {
  const { digest, role, name, expiresAtMs, holder } = link;
  return { purpose: 'console link', owner: [digest, role, name, String(expiresAtMs), holder] };
}

function sessionBinding(row: Omit<SessionRow, 'mark'>): SealBinding {
  const { id, cookie_digest, key_digest, role, name, host, browser, created_at, used_at, expires_at } = row;
  const times = [created_at, used_at, expires_at].map(String);
  return { purpose: 'console session', owner: [id, cookie_digest, key_digest, role, name, host, browser, ...times] };
}

function hostBinding({ holder, url, started_at }: Omit<HostRow, 'mark'>): SealBinding {
  return { purpose: 'console host', owner: [holder, url, String(started_at)] };
}

function sessionOf(row: SessionRow): StoredSession {
  return {
    id: row.id,
    role: row.role === 'owner' ? 'owner' : 'approver',
    name: row.name,
    at: readPlace(row.host),
    browser: row.browser,
    createdAtMs: row.created_at,
    usedAtMs: row.used_at,
    expiresAtMs: Math.min(row.expires_at, row.used_at + IDLE_MS),
  };
}

/** A `Host` header has no blanks, and no process has one in its id. */
function placeText({ holder, port, host }: ConsolePlace): string {
  return `${holder} ${port} ${host}`;
}

function readPlace(text: string): ConsolePlace {
  const [holder = '', port = '', ...host] = text.split(' ');
  return { holder, port: Number(port), host: host.join(' ') };
}
