import type { OAuthSettings } from './authorization.js';
import type { CapabilitySet } from './capability.js';
import type { JsonObject, JsonValue } from './json.js';
import type { Label } from './policy.js';
import type { Respondent } from './question.js';
import type { McpTarget, UpstreamTarget } from './targets/targets.js';
import type { Tool } from './tool.js';
import type { TraceContext } from './trace.js';

/** One server that the user configured or registered at run time. */
export interface UpstreamDefinition<Target extends UpstreamTarget = UpstreamTarget> {
  readonly id: string;
  readonly target: Target;
  readonly connectTimeoutMs: number;
  /** Absent if the user sets none: then the caller's default applies. */
  readonly callTimeoutMs?: number;
  readonly labels: readonly Label[];
  /** Whether the user trusts this server's claims about its own tools. */
  readonly isTrusted: boolean;
  /** The total number of attempts for a call that is safe to repeat. */
  readonly retry: { readonly maxAttempts: number; readonly delayMs: number };
  readonly description?: string;
  /** Login settings. Absent: a login is possible, without presets. */
  readonly oauth?: OAuthSettings;
}

/** The configuration key of a server's start timeout. */
export function connectTimeoutKey(id: string): string {
  return `${serverKey(id)}.connectTimeout`;
}

/** The configuration key of a server's call timeout. */
export function callTimeoutKey(id: string): string {
  return `${serverKey(id)}.timeout`;
}

/** The configuration key of a server. */
export function serverKey(id: string): string {
  return `mcpServers${/^[\w$-]+$/.test(id) ? `.${id}` : `[${JSON.stringify(id)}]`}`;
}

const DEFAULT_CALL_TIMEOUT_MS = 60_000;

/** Timeout of one call: the server's own, or else the caller's default, and never more than the limit. */
export function callTimeoutOf(
  { callTimeoutMs }: Pick<UpstreamDefinition, 'callTimeoutMs'>,
  { timeoutMs = Number.POSITIVE_INFINITY, defaultTimeoutMs }: Pick<UpstreamCall, 'timeoutMs' | 'defaultTimeoutMs'>,
): number {
  return Math.min(timeoutMs, callTimeoutMs ?? defaultTimeoutMs ?? DEFAULT_CALL_TIMEOUT_MS);
}

/** An upstream that speaks MCP. */
export type McpDefinition = UpstreamDefinition<McpTarget>;

/** The kinds of upstream. `langchain`: functions of this process that were passed as LangChain tools. */
export const UPSTREAM_KINDS = ['mcp', 'openapi', 'native', 'langchain'] as const;
export type UpstreamKind = (typeof UPSTREAM_KINDS)[number];

/** What a server said about itself when it connected. Untrusted text. */
export interface UpstreamIdentity {
  readonly name?: string;
  readonly version?: string;
  readonly instructions?: string;
  readonly protocolVersion: string;
  readonly transport: 'stdio' | 'streamable-http' | 'sse' | 'websocket' | 'native' | 'openapi';
}

/**
 * - `idle`: not needed so far
 * - `connecting`: the first connection is being made
 * - `ready`: connected
 * - `degraded`: was connected, is being reconnected
 * - `failed`: given up for now; the next use tries again
 * - `quarantined`: it sent more data than the host reads from any server; it is not used for a while
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
  /** Why it is not `ready`, for a person to read. */
  readonly reason?: string;
  /** If its process wrote to stderr before it ended: how it ended, and the last lines with credentials redacted. */
  readonly crash?: Crash;
  /** If it is `quarantined`: until when. */
  readonly quarantinedUntilMs?: number;
  /** Whether a person has to log in before it can be used. */
  readonly needsLogin?: boolean;
  readonly since: Date;
  /** Connections lost since it was registered. */
  readonly losses: number;
  readonly identity?: UpstreamIdentity;
  /** Problems of this server that codemode worked around: repaired tools, noise on its stdout. Bounded. */
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
  /** The tool's own schema, if the caller has it. It names arguments that a gateway expects as HTTP headers. */
  readonly inputSchema?: JsonObject;
  /** A shorter timeout than the server's own; never longer. */
  readonly timeoutMs?: number;
  /** The timeout if the server has none of its own. */
  readonly defaultTimeoutMs?: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: CallProgress) => void;
  /** The grants of the run, for upstreams that are capabilities. Never sent to a server. */
  readonly grants?: CapabilitySet;
  /** Answers the server's questions during the call. */
  readonly respondent?: Respondent;
  /** The span of this call, which the server continues. */
  readonly trace?: TraceContext;
}

export interface CallProgress {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/** A tool's answer. `isError` is the tool's own verdict, not ours. */
export interface ToolReply {
  readonly content: readonly JsonObject[];
  /** The server sent no `content` at all. */
  readonly hasNoContent?: true;
  readonly structuredContent?: JsonValue;
  /** The same as text, if it was serialized already. */
  readonly structuredJson?: string;
  readonly isError: boolean;
  readonly meta?: JsonObject;
  /** Every other top-level field of the result, as the server sent it. */
  readonly rest?: JsonObject;
  /** For an HTTP API that did not answer with a success status. */
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

/** An HTTP status that is not a success, and how long the server asks us to wait. */
export interface HttpRefusal {
  readonly status: number;
  readonly retryAfterMs?: number;
}

export interface UpstreamFailure {
  readonly kind: UpstreamFailureKind;
  readonly message: string;
  /** Whether the tool may have acted. A retry is safe for every tool only if this is false. */
  readonly mayHaveRun: boolean;
  /** The server's own error code and data, for `refused`. */
  readonly code?: number;
  readonly data?: JsonValue;
  /** Set if the server answered with an HTTP status instead of a message. */
  readonly refusal?: HttpRefusal;
}

/** The one shape of an answer, for every kind of upstream. */
export type UpstreamOutcome =
  | { readonly status: 'answered'; readonly reply: ToolReply }
  | { readonly status: 'failed'; readonly failure: UpstreamFailure };

/** The end of the message for an import that may succeed in the next run. */
export const IS_STARTING = 'is still starting: run the program again in a moment';
