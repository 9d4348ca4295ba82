import type { ConsoleRole } from '../domain/console/sessions.js';
import type { Awaitable } from '../lib/async/awaitable.js';

/** A session as it is stored, with digests of its secrets only. */
export interface StoredSession {
  readonly id: string;
  readonly role: ConsoleRole;
  readonly name: string;
  /** Where the session was opened. It is accepted nowhere else. */
  readonly at: ConsolePlace;
  readonly browser: string;
  readonly createdAtMs: number;
  readonly usedAtMs: number;
  readonly expiresAtMs: number;
}

/**
 * What a link and a session are bound to. A process that takes over the port of a stopped host receives the cookie and key from
 * pages that are still open. The binding makes them useless at another port and in another process, including the next process at
 * this port. If several hosts share a database behind a load balancer, only the `Host` header counts.
 */
export interface ConsolePlace {
  /** The serving process: its id and the time it started. */
  readonly holder: string;
  /** The port it listens on, taken from the socket and not from the request. */
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

/** Links and sessions of the console. A row that was written without the key counts as absent. */
export interface ConsoleAccess {
  /** Returns the secret of a link that opens one session, once. Only the process `holder` accepts it. */
  makeLink(maker: LinkMaker, holder: string, nowMs?: number): Awaitable<string>;
  /** Uses up a link. A used link cannot be told from a wrong one: nothing of a used link is kept. */
  openSession(
    link: string,
    place: Pick<StoredSession, 'at' | 'browser'>,
    nowMs?: number,
  ): Awaitable<NewSession | 'unknown' | 'expired'>;
  /** The session of these two secrets at this place. `expired`: the session is over. `elsewhere`: it belongs to another place. */
  find(
    cookie: string,
    key: string,
    at: ConsolePlace,
    nowMs?: number,
  ): Awaitable<StoredSession | 'unknown' | 'expired' | 'elsewhere'>;
  /** The newest first. Sessions of hosts that have ended are left out. */
  sessions(nowMs?: number): Awaitable<StoredSession[]>;
  /** Whether the session existed. */
  revoke(id: string): Awaitable<boolean>;
  /** The processes that serve the console now. Those that are gone are deleted. */
  hosts(): Awaitable<ServingHost[]>;
  hostServes(host: ServingHost, nowMs?: number): Awaitable<void>;
  hostStops(holder: string): Awaitable<void>;
}
