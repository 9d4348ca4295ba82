import type { ProfileName } from '../profile-name.js';

export interface LoginRequest {
  readonly link: string;
}

export interface LoggedIn {
  /** Value of the header `x-codemode-console`. */
  readonly key: string;
  readonly session: ConsoleSession;
}

/** An owner may do everything. An approver may read and decide approvals. */
export type ConsoleRole = 'owner' | 'approver';

export interface ConsoleSession {
  readonly id: string;
  readonly role: ConsoleRole;
  /** The person who created the link. Decisions are recorded under this name. */
  readonly name: string;
  readonly createdAtMs: number;
  readonly lastUsedAtMs: number;
  readonly expiresAtMs: number;
  /** The browser's user agent, cut. */
  readonly browser: string;
  /** Whether this session sent the request. */
  readonly isThisOne: boolean;
}

export interface SessionInfo {
  readonly session: ConsoleSession;
  readonly version: string;
  /** Digest of the running build. If it differs from an earlier answer, the page has to be reloaded. */
  readonly build: string;
  readonly hostStartedAtMs: number;
  readonly stateFolder: string;
  readonly profile: ProfileName;
  /** How programs are jailed; absent until the first program runs. */
  readonly isolation?: string;
  readonly pendingApprovals: number;
  /** Whether this process serves clients other than this console (`codemode serve`). */
  readonly servesClients: boolean;
  /** The host's clock, so that expiries can be counted down. */
  readonly nowMs: number;
}
