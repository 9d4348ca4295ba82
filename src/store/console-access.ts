import type { ConsoleRole } from '../domain/console/sessions.js';
import type { Awaitable } from '../lib/async/awaitable.js';

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
 * Where several hosts share a database behind a balancer, only the `Host` header counts.
 */
export interface ConsolePlace {
  /** The process that serves: its id and the moment it started. */
  readonly holder: string;
  /** Where it listens, by the socket and not by what a request says. */
  readonly port: number;
  /** The `Host` header of the browser. */
  readonly host: string;
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

export interface LinkMaker {
  readonly role: ConsoleRole;
  readonly name: string;
}

/** Links and sessions of the console. A row that was written without the key counts as none. */
export interface ConsoleAccess {
  /** The secret of a link that opens one session, once. `holder`: the only process that takes it. */
  makeLink(maker: LinkMaker, holder: string, nowMs?: number): Awaitable<string>;
  /** Uses up a link. `used` cannot be told from `wrong`: of a used link nothing is kept. */
  openSession(
    link: string,
    place: Pick<StoredSession, 'at' | 'browser'>,
    nowMs?: number,
  ): Awaitable<NewSession | 'unknown' | 'expired'>;
  /** The session of these two secrets at this place. `expired`: it was one; `elsewhere`: it is one of another place. */
  find(
    cookie: string,
    key: string,
    at: ConsolePlace,
    nowMs?: number,
  ): Awaitable<StoredSession | 'unknown' | 'expired' | 'elsewhere'>;
  /** The newest first. Those of hosts that have ended are over. */
  sessions(nowMs?: number): Awaitable<StoredSession[]>;
  /** Whether there was one. */
  revoke(id: string): Awaitable<boolean>;
  /** A process that serves the console now; those that are gone are forgotten. */
  hosts(): Awaitable<ServingHost[]>;
  hostServes(host: ServingHost, nowMs?: number): Awaitable<void>;
  hostStops(holder: string): Awaitable<void>;
}
