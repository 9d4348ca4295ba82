import type { CapabilitySet } from './capability.js';
import type { CallerId } from './run.js';

/**
 * What a token may be used for. `approve` is for people: no token that an agent holds has it, and `servers` lets its
 * holder start processes on this machine, so it is never given by default either.
 */
export const SCOPES = ['execute', 'tools', 'servers', 'approve'] as const;
export type Scope = (typeof SCOPES)[number];

/** Who speaks over the network: the one the work is done for. */
export interface Principal {
  readonly subject: string;
  readonly scopes: ReadonlySet<Scope>;
  /** What it may ask for; absent: what the configuration grants. */
  readonly capabilities?: CapabilitySet;
  /** The configuration says that a person sits at the clients of this token. */
  readonly person?: true;
  /** When the token stops being accepted, in milliseconds since 1970; absent: never by itself. */
  readonly expiresAtMs?: number;
}

/** The same caller over every surface, protocol era and session: rules, limits and kept results go by it. */
export function callerOf({ subject }: Pick<Principal, 'subject'>): CallerId {
  return `subject ${subject}` as CallerId;
}

/** Who it is and what it may reach: what is made for one such principal may be kept for it, and for no other. */
export function reachKey({ subject, capabilities }: Pick<Principal, 'subject' | 'capabilities'>): string {
  return JSON.stringify([subject, capabilities ?? null]);
}

/** What a run may be given of it: no call begins after the token has expired. */
export function authorizedUntil({ expiresAtMs }: Pick<Principal, 'expiresAtMs'>): {
  readonly authorizedUntilMs?: number;
} {
  return expiresAtMs === undefined ? {} : { authorizedUntilMs: expiresAtMs };
}

/**
 * Whether forms may be sent to the clients of this token, and their answers count as those of a person. The configuration or the
 * issuer says so, never the client: an agent's client can claim that it shows forms, and answer them itself.
 */
export function hasPerson({ person, scopes }: Principal): boolean {
  return person === true || scopes.has('approve');
}

/** What an agent's token is good for where nothing else is said. */
export const AGENT_SCOPES: ReadonlySet<Scope> = new Set(['execute', 'tools']);
