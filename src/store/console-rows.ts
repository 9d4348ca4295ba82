import { hash, randomBytes, randomUUID } from 'node:crypto';
import { authenticate, isAuthentic, type SealBinding } from '../lib/secrets/sealed.js';
import type { ConsolePlace, NewSession, StoredSession } from './console-access.js';

export interface LinkRow {
  digest: string;
  role: string;
  name: string;
  expires_at: number;
  mark: Buffer;
}

export interface SessionRow {
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

export interface HostRow {
  holder: string;
  url: string;
  started_at: number;
  mark: Buffer | null;
}

const SECRET_BYTES = 32;
/** Long enough to switch to the browser, short enough not to be found later in a terminal's history. */
export const LINK_MS = 10 * 60_000;
/** A session ends this long after its last use, and at the latest after `LONGEST_MS`. */
export const IDLE_MS = 12 * 3_600_000;
const LONGEST_MS = 7 * 24 * 3_600_000;
/** How often the time of use is written. All requests of a page and its stream count as one use. */
export const USE_EVERY_MS = 60_000;
export const MAX_LINKS = 100;
export const MAX_SESSIONS = 100;

/** A new session: its row, and the secrets whose digests the row holds. */
export function newSession(
  key: Uint8Array,
  facts: Pick<StoredSession, 'role' | 'name' | 'at' | 'browser'>,
  nowMs: number,
): NewSession & { readonly row: SessionRow } {
  const [cookie, secret] = [newSecret(), newSecret()];
  const times = { createdAtMs: nowMs, usedAtMs: nowMs, expiresAtMs: nowMs + LONGEST_MS };
  const session: StoredSession = { id: randomUUID(), ...facts, ...times };
  const row = {
    ...{ id: session.id, cookie_digest: digestOf(cookie), key_digest: digestOf(secret), host: placeText(session.at) },
    ...{ role: session.role, name: session.name, browser: session.browser },
    ...{ created_at: nowMs, used_at: nowMs, expires_at: session.expiresAtMs },
  };
  return { cookie, key: secret, session, row: { ...row, mark: authenticate(key, sessionBinding(row)) } };
}

export function isOurs(key: Uint8Array, row: SessionRow): boolean {
  return isAuthentic(key, sessionBinding(row), row.mark);
}

export function isOpen(row: SessionRow, nowMs: number): boolean {
  return row.expires_at > nowMs && row.used_at > nowMs - IDLE_MS;
}

export function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

/** Secrets are random: a slow hash would protect nothing. */
export function digestOf(secret: string): string {
  return hash('sha256', secret, 'hex');
}

export function linkBinding(link: {
  digest: string;
  role: string;
  name: string;
  expiresAtMs: number;
  holder: string;
}): SealBinding {
  const { digest, role, name, expiresAtMs, holder } = link;
  return { purpose: 'console link', owner: [digest, role, name, String(expiresAtMs), holder] };
}

export function sessionBinding(row: Omit<SessionRow, 'mark'>): SealBinding {
  const { id, cookie_digest, key_digest, role, name, host, browser, created_at, used_at, expires_at } = row;
  const times = [created_at, used_at, expires_at].map(String);
  return { purpose: 'console session', owner: [id, cookie_digest, key_digest, role, name, host, browser, ...times] };
}

export function hostBinding({ holder, url, started_at }: Omit<HostRow, 'mark'>): SealBinding {
  return { purpose: 'console host', owner: [holder, url, String(started_at)] };
}

export function sessionOf(row: SessionRow): StoredSession {
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

/** The separator is safe: neither a `Host` header nor a process id contains a blank. */
export function placeText({ holder, port, host }: ConsolePlace): string {
  return `${holder} ${port} ${host}`;
}

function readPlace(text: string): ConsolePlace {
  const [holder = '', port = '', ...host] = text.split(' ');
  return { holder, port: Number(port), host: host.join(' ') };
}
