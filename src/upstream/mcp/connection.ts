import type { UpstreamAuthorizer } from '../../domain/authorization.js';
import type { Audience } from '../../domain/question.js';
import type {
  ToolListing,
  UpstreamCall,
  UpstreamFailure,
  UpstreamIdentity,
  UpstreamOutcome,
} from '../../domain/upstream.js';
import type { ReadLimits } from './read-budget.js';
import type { ChildGroups } from './stdio/stdio-groups.js';

/*
 * The supervisor's view of a connection. The client library is behind these types and is loaded with the first connection: it takes
 * some 200 ms, too long for a start with a cached catalog.
 */

export interface ConnectionOptions {
  readonly clientInfo: { readonly name: string; readonly version: string };
  readonly baseEnvironment: Readonly<Record<string, string>>;
  /** Which kinds of questions the client can answer. */
  readonly audience: Audience;
  readonly groups: ChildGroups;
  readonly maxMessageBytes: number;
  readonly readLimits?: ReadLimits;
  /** Provides the tokens for this server. */
  readonly authorizer?: UpstreamAuthorizer;
}

/** The same options before the first connection: the authorizer is loaded when the upstream connects. */
export interface UpstreamOptions extends Omit<ConnectionOptions, 'authorizer'> {
  readonly openAuthorizer?: () => Promise<UpstreamAuthorizer | undefined>;
}

/** What one connection reports while it lives. */
export interface ConnectionEvents {
  onToolsChanged(): void;
  /** The connection ended, from either side. The reason is masked and for people. */
  onClosed(reason: string): void;
  /** A problem that may or may not mean that the server is gone. */
  onTrouble(reason: string): void;
  /** A line on the server's stdout that is not a message. */
  onNoise(line: string): void;
  /** The server exceeded the read limits and is cut off. */
  onOverBudget(reason: string): void;
}

/** Connecting timed out. `diagnosis`: what the server has written so far, not masked. */
export class ConnectTimeoutError extends Error {
  readonly diagnosis: string | undefined;

  constructor(diagnosis: string | undefined) {
    super('it did not answer in time');
    this.name = 'ConnectTimeoutError';
    this.diagnosis = diagnosis;
  }
}

/** The protocol era: `auto` probes the server, `legacy` does not. */
export type EraHint = 'auto' | 'legacy';

/**
 * What an error means for the connection: it is still usable, it is lost, or the server must be pinged. A server over its budget is
 * disconnected and not reconnected for a while. One broken socket of many does not fail the calls on the others.
 */
export type ConnectionCheck = 'usable' | 'suspect' | 'lost' | 'over_budget';

export interface McpCall extends UpstreamCall {
  readonly timeoutMs: number;
  readonly asTask: boolean;
}

export interface McpListing extends ToolListing {
  /** Tools that the server only answers as a task. */
  readonly taskTools: ReadonlySet<string>;
}

export interface ConnectionProblem {
  readonly failure: UpstreamFailure;
  readonly connection: ConnectionCheck;
}

/** One live connection to one server. */
export interface McpConnection {
  readonly identity: UpstreamIdentity;
  readonly era: EraHint;
  readonly isOpen: boolean;
  warnings(): string[];
  /** The state of its process and the end of its stderr, not masked. Undefined if there is no process. */
  diagnosis(): string | undefined;
  call(call: McpCall): Promise<{ readonly outcome: UpstreamOutcome; readonly connection: ConnectionCheck }>;
  list(timeoutMs: number, signal?: AbortSignal): Promise<McpListing | ConnectionProblem>;
  /** Pings the server. */
  ping(timeoutMs: number): Promise<ConnectionProblem | undefined>;
  close(): Promise<void>;
}
