import type { OAuthSettings } from './authorization.js';
import type { CapabilitySet } from './capability.js';
import type { JsonObject, JsonValue } from './json.js';
import type { Label } from './policy.js';
import type { Respondent } from './question.js';
import type { McpTarget, UpstreamTarget } from './targets/targets.js';
import type { Tool } from './tool.js';
import type { TraceContext } from './trace.js';

/** One server the user configured or registered at run time. */
export interface UpstreamDefinition<Target extends UpstreamTarget = UpstreamTarget> {
  readonly id: string;
  readonly target: Target;
  readonly connectTimeoutMs: number;
  /** Absent where the user sets none: then the caller's default applies. */
  readonly callTimeoutMs?: number;
  readonly labels: readonly Label[];
  /** Whether the user vouches for what this server claims about its own tools. */
  readonly isTrusted: boolean;
  /** How often a call that is safe to repeat is made, in all. */
  readonly retry: { readonly maxAttempts: number; readonly delayMs: number };
  readonly description?: string;
  /** How it is logged in to; where it is absent, a login is possible and nothing is preset. */
  readonly oauth?: OAuthSettings;
}

/** The setting that says how long a server may take to start, as the configuration names it. */
export function connectTimeoutKey(id: string): string {
  return `${serverKey(id)}.connectTimeout`;
}

/** The setting that says how long one call of a server may take. */
export function callTimeoutKey(id: string): string {
  return `${serverKey(id)}.timeout`;
}

/** Where the configuration has a server. */
export function serverKey(id: string): string {
  return `mcpServers${/^[\w$-]+$/.test(id) ? `.${id}` : `[${JSON.stringify(id)}]`}`;
}

const DEFAULT_CALL_TIMEOUT_MS = 60_000;

/** How long one call may take: what its server sets, else what its caller has as a default, and no more than a limit. */
export function callTimeoutOf(
  { callTimeoutMs }: Pick<UpstreamDefinition, 'callTimeoutMs'>,
  { timeoutMs = Number.POSITIVE_INFINITY, defaultTimeoutMs }: Pick<UpstreamCall, 'timeoutMs' | 'defaultTimeoutMs'>,
): number {
  return Math.min(timeoutMs, callTimeoutMs ?? defaultTimeoutMs ?? DEFAULT_CALL_TIMEOUT_MS);
}

/** One of them that speaks MCP. */
export type McpDefinition = UpstreamDefinition<McpTarget>;

/** The kinds of upstream. `langchain`: functions of this process that came as tools of LangChain. */
export const UPSTREAM_KINDS = ['mcp', 'openapi', 'native', 'langchain'] as const;
export type UpstreamKind = (typeof UPSTREAM_KINDS)[number];

/** What a server said of itself when it was connected. Its own words: untrusted text. */
export interface UpstreamIdentity {
  readonly name?: string;
  readonly version?: string;
  readonly instructions?: string;
  readonly protocolVersion: string;
  readonly transport: 'stdio' | 'streamable-http' | 'sse' | 'websocket' | 'native' | 'openapi';
}

/**
 * - `idle`: never needed so far
 * - `connecting`: the first connection is being made
 * - `ready`: connected
 * - `degraded`: was connected, is being reconnected
 * - `failed`: given up for now; the next use tries again
 * - `quarantined`: it sent more than is read of any server; it is left alone for a while
 * - `closed`: unregistered or shut down, for good
 * - `disabled`: its entry in the configuration has a mistake; nothing is started for it
 */
export type UpstreamState = (typeof UPSTREAM_STATES)[number];
export const UPSTREAM_STATES = [
  ...(['idle', 'connecting', 'ready', 'degraded'] as const),
  ...(['failed', 'quarantined', 'closed', 'disabled'] as const),
] as const;

export interface Crash {
  readonly summary: string;
  readonly lines: readonly string[];
}

export interface UpstreamHealth {
  readonly id: string;
  readonly state: UpstreamState;
  /** Why it is not `ready`, in words for a person. */
  readonly reason?: string;
  /** Where its process wrote to stderr before it ended: how it ended, and the last lines, without its credentials. */
  readonly crash?: Crash;
  /** Where it is `quarantined`: until when. */
  readonly quarantinedUntilMs?: number;
  /** Whether somebody has to log in before it can be used. */
  readonly needsLogin?: boolean;
  readonly since: Date;
  /** Connections lost since it was registered. */
  readonly losses: number;
  readonly identity?: UpstreamIdentity;
  /** What is odd about this server but was got over: repaired tools, noise on its stdout. Bounded. */
  readonly warnings: readonly string[];
}

export interface ToolListing {
  readonly tools: readonly Tool[];
  /** One line for each tool that had to be repaired or dropped. */
  readonly warnings: readonly string[];
}

export interface UpstreamCall {
  readonly tool: string;
  readonly arguments: JsonObject;
  /** The tool's own schema, where the caller has it: it names arguments that a gateway wants to see as HTTP headers. */
  readonly inputSchema?: JsonObject;
  /** Less time than the server's own timeout gives; never more. */
  readonly timeoutMs?: number;
  /** The time it has where the server has no timeout of its own. */
  readonly defaultTimeoutMs?: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: CallProgress) => void;
  /** What its run was granted, for upstreams that are capabilities. Never sent to a server. */
  readonly grants?: CapabilitySet;
  /** Who answers what the server asks meanwhile. */
  readonly respondent?: Respondent;
  /** The span of this call, which the server continues. */
  readonly trace?: TraceContext;
}

export interface CallProgress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/** What a tool answered. `isError` is the tool's own verdict, not ours. */
export interface ToolReply {
  readonly content: readonly JsonObject[];
  /** The server sent no `content` at all. */
  readonly hasNoContent?: true;
  readonly structuredContent?: JsonValue;
  /** The same as text, where somebody had to make it. */
  readonly structuredJson?: string;
  readonly isError: boolean;
  readonly meta?: JsonObject;
  /** Every other top-level field of the result, as the server sent it. */
  readonly rest?: JsonObject;
  /** Of an HTTP API that did not answer with a success. */
  readonly refusal?: HttpRefusal;
  readonly taskId?: string;
}

export type UpstreamFailureKind =
  | 'not_sent' // it never reached the server
  | 'outcome_unknown' // it was sent, and the connection was lost before the answer
  | 'timeout'
  | 'cancelled'
  | 'refused' // the server answered with a protocol error
  | 'unauthorized'
  | 'invalid_reply';

/** An HTTP status that is no success, and how long the server asks us to wait. */
export interface HttpRefusal {
  readonly status: number;
  readonly retryAfterMs?: number;
}

export interface UpstreamFailure {
  readonly kind: UpstreamFailureKind;
  readonly message: string;
  /** Whether the tool may have acted. Only if false, a second try is safe for every tool. */
  readonly mayHaveRun: boolean;
  /** The server's own error code and data, for `refused`. */
  readonly code?: number;
  readonly data?: JsonValue;
  /** Where the server answered with an HTTP status instead of a message. */
  readonly refusal?: HttpRefusal;
}

/** The one shape of an answer, whatever kind of upstream gave it. */
export type UpstreamOutcome =
  | { readonly status: 'answered'; readonly reply: ToolReply }
  | { readonly status: 'failed'; readonly failure: UpstreamFailure };

/** How the message ends of an import that may succeed in the next run. */
export const IS_STARTING = 'is still starting: run the program again in a moment';
