import { timingSafeEqual } from 'node:crypto';
import type { ConsoleRole } from '../../domain/console/sessions.js';
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
import type { Postgres } from './database/connection.js';
import { type HostLease, isUp } from './host-lease.js';

/**
 * Links and sessions of the console of all hosts. A load balancer may send each request to another host, so a session is bound to
 * the `Host` header and not to a process and its port.
 */
export class PostgresConsoleAccess implements ConsoleAccess {
  readonly #postgres: Postgres;
  readonly #key: Uint8Array;
  readonly #host: HostLease;

  constructor(postgres: Postgres, key: Uint8Array, host: HostLease) {
    this.#postgres = postgres;
    this.#key = key;
    this.#host = host;
  }

  async makeLink({ role, name }: LinkMaker, _holder: string, nowMs = Date.now()): Promise<string> {
    const secret = newSecret();
    const digest = digestOf(secret);
    const expiresAtMs = nowMs + LINK_MS;
    const mark = authenticate(this.#key, linkBinding({ digest, role, name, expiresAtMs, holder: ANY }));
    await this.#postgres.change(
      `DELETE FROM codemode.console_links WHERE expires_at <= $1 OR digest IN
        (SELECT digest FROM codemode.console_links ORDER BY expires_at DESC OFFSET ${MAX_LINKS})`,
      [nowMs],
    );
    await this.#postgres.change(
      'INSERT INTO codemode.console_links (digest, role, name, expires_at, mark) VALUES ($1, $2, $3, $4, $5)',
      [digest, role, name, expiresAtMs, mark],
    );
    return secret;
  }

  async openSession(
    link: string,
    { at, browser }: Pick<StoredSession, 'at' | 'browser'>,
    nowMs = Date.now(),
  ): Promise<NewSession | 'unknown' | 'expired'> {
    const digest = digestOf(link);
    // If two hosts are given one link at once, only one of them deletes it.
    const [row] = await this.#postgres.query<LinkRow>(
      'DELETE FROM codemode.console_links WHERE digest = $1 RETURNING *',
      [digest],
    );
    if (row === undefined) return 'unknown';
    const { role, name, expires_at: expiresAtMs, mark } = row;
    if (!isAuthentic(this.#key, linkBinding({ digest, role, name, expiresAtMs, holder: ANY }), mark)) return 'unknown';
    if (expiresAtMs <= nowMs) return 'expired';
    const facts = { role: role as ConsoleRole, name, at: anywhere(at), browser };
    const { row: begun, ...made } = newSession(this.#key, facts, nowMs);
    await this.#postgres.change(
      `DELETE FROM codemode.console_sessions WHERE expires_at <= $1 OR used_at <= $2 OR id IN
        (SELECT id FROM codemode.console_sessions ORDER BY used_at DESC OFFSET ${MAX_SESSIONS})`,
      [nowMs, nowMs - IDLE_MS],
    );
    await this.#postgres.change(
      `INSERT INTO codemode.console_sessions (id, cookie_digest, key_digest, role, name, host, browser, created_at, used_at,
          expires_at, mark) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
      [
        ...[begun.id, begun.cookie_digest, begun.key_digest, begun.role, begun.name, begun.host, begun.browser],
        ...[begun.created_at, begun.used_at, begun.expires_at, begun.mark],
      ],
    );
    return made;
  }

  async find(
    cookie: string,
    key: string,
    at: ConsolePlace,
    nowMs = Date.now(),
  ): Promise<StoredSession | 'unknown' | 'expired' | 'elsewhere'> {
    const [row] = await this.#postgres.query<SessionRow>(
      'SELECT * FROM codemode.console_sessions WHERE cookie_digest = $1',
      [digestOf(cookie)],
    );
    if (row === undefined || !isOurs(this.#key, row)) return 'unknown';
    if (!timingSafeEqual(Buffer.from(row.key_digest), Buffer.from(digestOf(key)))) return 'unknown';
    if (row.host !== placeText(anywhere(at))) return 'elsewhere';
    if (!isOpen(row, nowMs)) return 'expired';
    if (nowMs - row.used_at >= USE_EVERY_MS) await this.#useAt(row, nowMs);
    return sessionOf(row);
  }

  async #useAt(row: SessionRow, nowMs: number): Promise<void> {
    const mark = authenticate(this.#key, sessionBinding({ ...row, used_at: nowMs }));
    await this.#postgres.change(
      'UPDATE codemode.console_sessions SET used_at = $2, mark = $3 WHERE id = $1 AND used_at = $4',
      [row.id, nowMs, mark, row.used_at],
    );
  }

  async sessions(nowMs = Date.now()): Promise<StoredSession[]> {
    const rows = await this.#postgres.query<SessionRow>(
      'SELECT * FROM codemode.console_sessions ORDER BY created_at DESC, id',
    );
    return rows.filter((row) => isOurs(this.#key, row) && isOpen(row, nowMs)).map(sessionOf);
  }

  async revoke(id: string): Promise<boolean> {
    return (await this.#postgres.change('DELETE FROM codemode.console_sessions WHERE id = $1', [id])) > 0;
  }

  async hosts(): Promise<ServingHost[]> {
    const rows = await this.#postgres.query<HostRow>(
      `SELECT host AS holder, url, started_at, mark FROM codemode.console_hosts
        WHERE ${isUp('console_hosts.host')} ORDER BY started_at DESC`,
    );
    // A person opens the link with a secret in it, so it must lead to an address that a host with the key has published.
    return rows
      .filter((row) => isAuthentic(this.#key, hostBinding(row), row.mark))
      .map(({ holder, url }) => ({ holder, url }));
  }

  async hostServes({ url }: ServingHost, nowMs = Date.now()): Promise<void> {
    const { id: holder } = this.#host;
    await this.#postgres.change(
      `INSERT INTO codemode.console_hosts (host, url, started_at, mark) VALUES ($1, $2, $3, $4)
        ON CONFLICT (host) DO UPDATE SET url = excluded.url, started_at = excluded.started_at, mark = excluded.mark`,
      [holder, url, nowMs, authenticate(this.#key, hostBinding({ holder, url, started_at: nowMs }))],
    );
  }

  async hostStops(): Promise<void> {
    await this.#postgres.change('DELETE FROM codemode.console_hosts WHERE host = $1', [this.#host.id]);
  }
}

/** Stands for any host of the database. */
const ANY = 'any';

function anywhere({ host }: ConsolePlace): ConsolePlace {
  return { holder: ANY, port: 0, host };
}
