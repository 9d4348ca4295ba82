import { omitUndefined } from '../lib/omit-undefined.js';
import type { CapabilitySet } from './capability.js';
import type { CallerId } from './run.js';

/**
 * What a token may be used for. `approve` is for people: no agent's token has it. `servers` lets its holder start processes on
 * this machine, so it is not granted by default either.
 */
export const SCOPES = ['execute', 'tools', 'servers', 'approve'] as const;
export type Scope = (typeof SCOPES)[number];

/** The authenticated party over the network, on whose behalf the work is done. */
export interface Principal {
  readonly subject: string;
  readonly scopes: ReadonlySet<Scope>;
  /** The capabilities it may request. Absent: those that the configuration grants. */
  readonly capabilities?: CapabilitySet;
  /** The configuration says that a person uses the clients of this token. */
  readonly person?: true;
  /** When the token expires, in milliseconds since 1970. Absent: it does not expire by itself. */
  readonly expiresAtMs?: number;
}

/** The same caller on every surface, protocol era and session. Rules, limits and kept results use it as their key. */
export function callerOf({ subject }: Pick<Principal, 'subject'>): CallerId {
  return `subject ${subject}` as CallerId;
}

/** Cache key of a principal: its identity and its capabilities. A value cached for one principal is never used for another. */
export function reachKey({ subject, capabilities }: Pick<Principal, 'subject' | 'capabilities'>): string {
  return JSON.stringify([subject, capabilities ?? null]);
}

/** The deadline for a run's calls: no call starts after the token has expired. */
export function authorizedUntil({ expiresAtMs }: Pick<Principal, 'expiresAtMs'>): {
  readonly authorizedUntilMs?: number;
} {
  return omitUndefined({ authorizedUntilMs: expiresAtMs });
}

/**
 * Whether forms may be sent to the clients of this token, and their answers count as those of a person. The configuration or
 * the issuer decides this, never the client: an agent's client could claim to show forms, and answer them itself.
 */
export function hasPerson({ person, scopes }: Principal): boolean {
  return person === true || scopes.has('approve');
}

/** The default scopes of an agent's token. */
export const AGENT_SCOPES: ReadonlySet<Scope> = new Set(['execute', 'tools']);
