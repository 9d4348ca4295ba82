import { HostError } from '../../domain/errors.js';
import type { Scope } from '../../domain/principal.js';

/** Who asks, and what they may: as whoever has authenticated them knows it. */
export interface AuthContext {
  readonly userId: string;
  readonly sessionId: string;
  readonly scopes: readonly string[];
  readonly capabilities: CapabilityRequest;
  readonly expiresAt: Date;
}

/** What code may reach. Nothing is granted that is not named; a list has the form `kind:target`, as `mcp:files`. */
export type CapabilityRequest = CapabilityGrants | readonly string[];

export interface CapabilityGrants {
  readonly network?: NetworkCapabilities;
  readonly filesystem?: FilesystemCapabilities;
  readonly mcp?: MCPCapabilities;
}

export interface NetworkCapabilities {
  readonly allowedHosts?: readonly string[];
  readonly allowedPorts?: readonly number[];
  readonly maxRequestsPerSecond?: number;
  /** Bytes. */
  readonly maxRequestSize?: number;
}

export interface FilesystemCapabilities {
  readonly allowedPaths?: readonly string[];
  readonly readOnly?: boolean;
  /** Bytes. */
  readonly maxFileSize?: number;
  readonly allowedExtensions?: readonly string[];
}

export interface MCPCapabilities {
  readonly allowedServers?: readonly string[];
  readonly allowedTools?: readonly string[];
  readonly maxCallsPerSecond?: number;
}

/** Throws where the context is over, or not good for this: before anything is done for it. */
export function checkContext({ userId, sessionId, scopes, expiresAt }: AuthContext, scope: Scope): void {
  if (userId === '' || sessionId === '')
    throw new HostError('bad_input', 'an AuthContext needs a userId and a sessionId');
  // A date that is none is not later than now.
  if (!(expiresAt.getTime() > Date.now()))
    throw new HostError('capability_violation', 'the AuthContext has expired; authenticate again');
  if (!scopes.includes(scope))
    throw new HostError('capability_violation', `the AuthContext lacks the scope ${scope}; ask for one that has it`);
}

/** Programs of two of them never share a process. */
export function callerOfContext({ userId, sessionId }: AuthContext): string {
  return `user ${JSON.stringify([userId, sessionId])}`;
}
