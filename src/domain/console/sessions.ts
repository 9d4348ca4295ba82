import type { ProfileName } from '../profile-name.js';

export interface LoginRequest {
  readonly link: string;
}

export interface LoggedIn {
  /** For `x-codemode-console`. */
  readonly key: string;
  readonly session: ConsoleSession;
}

/** An owner may do everything; an approver may look and decide. */
export type ConsoleRole = 'owner' | 'approver';

export interface ConsoleSession {
  readonly id: string;
  readonly role: ConsoleRole;
  /** Who made the link: decisions are recorded under this name. */
  readonly name: string;
  readonly createdAtMs: number;
  readonly lastUsedAtMs: number;
  readonly expiresAtMs: number;
  /** The browser's own words about itself, cut. */
  readonly browser: string;
  /** The one that asks. */
  readonly isThisOne: boolean;
}

export interface SessionInfo {
  readonly session: ConsoleSession;
  readonly version: string;
  /** Digest of the running build: where it differs from an earlier answer, the page has to be reloaded. */
  readonly build: string;
  readonly hostStartedAtMs: number;
  readonly stateFolder: string;
  readonly profile: ProfileName;
  /** How programs are jailed; absent until the first one. */
  readonly isolation?: string;
  readonly pendingApprovals: number;
  /** Whether anything but this console serves clients from this process (`codemode serve`). */
  readonly servesClients: boolean;
  /** The host's clock, so that expiries can be counted down. */
  readonly nowMs: number;
}
