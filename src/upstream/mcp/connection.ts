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
 * What the supervisor knows of a connection. The client library is behind these types and is loaded with the
 * first connection: it takes some 200 ms that a start with a cached catalog does not have.
 */

export interface ConnectionOptions {
  readonly clientInfo: { readonly name: string; readonly version: string };
  readonly baseEnvironment: Readonly<Record<string, string>>;
  /** Which kinds of questions the client can answer. */
  readonly audience: Audience;
  readonly groups: ChildGroups;
  readonly maxMessageBytes: number;
  readonly readLimits?: ReadLimits;
  /** Who lends the tokens for this server. */
  readonly authorizer?: UpstreamAuthorizer;
}

/** The same before the first connection: the authorizer is loaded when it connects. */
export interface UpstreamOptions extends Omit<ConnectionOptions, 'authorizer'> {
  readonly openAuthorizer?: () => Promise<UpstreamAuthorizer | undefined>;
}

/** What one connection reports while it lives. */
export interface ConnectionEvents {
  onToolsChanged(): void;
  /** It ended, from whichever side; the reason is masked and for people. */
  onClosed(reason: string): void;
  /** Something went wrong that may or may not mean that the server is gone. */
  onTrouble(reason: string): void;
  /** A line on its stdout that is not a message. */
  onNoise(line: string): void;
  /** It sent more than is read of any server, and is cut off. */
  onOverBudget(reason: string): void;
}

/** The time for connecting is over. `diagnosis`: what the server has said by then, not masked. */
export class ConnectTimeoutError extends Error {
  readonly diagnosis: string | undefined;

  constructor(diagnosis: string | undefined) {
    super('it did not answer in time');
    this.name = 'ConnectTimeoutError';
    this.diagnosis = diagnosis;
  }
}

/** The protocol era: `auto` asks the server, `legacy` does not. */
export type EraHint = 'auto' | 'legacy';

/**
 * What an error means for the connection: nothing, that it is of no more use, or that the server must be asked. The
 * connection to a server that was over its budget is ended, and none is made for a while. One
 * socket of many that broke does not condemn the calls on the others.
 */
export type ConnectionCheck = 'usable' | 'suspect' | 'lost' | 'over_budget';

export interface McpCall extends UpstreamCall {
  readonly timeoutMs: number;
  readonly asTask: boolean;
}

export interface McpListing extends ToolListing {
  /** Tools that their server answers only as a task. */
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
  /** How its process is and the last of its stderr, not masked; undefined where there is none. */
  diagnosis(): string | undefined;
  call(call: McpCall): Promise<{ readonly outcome: UpstreamOutcome; readonly connection: ConnectionCheck }>;
  list(timeoutMs: number, signal?: AbortSignal): Promise<McpListing | ConnectionProblem>;
  /** Asks the server whether it is there. */
  ping(timeoutMs: number): Promise<ConnectionProblem | undefined>;
  close(): Promise<void>;
}
