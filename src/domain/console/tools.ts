import type { JsonObject, JsonValue } from '../json.js';
import type { Decision, Label } from '../policy.js';
import type { UpstreamState } from '../upstream.js';

export interface ServerView {
  readonly id: string;
  /** The name programs import it by. */
  readonly path: string;
  readonly state: UpstreamState;
  readonly transport: string;
  readonly name?: string;
  readonly version?: string;
  readonly toolCount: number;
  readonly reason?: string;
  readonly needsLogin: boolean;
  /** Whether a log-in can be started from here. */
  readonly canLogIn: boolean;
  readonly sinceMs?: number;
  readonly losses: number;
  readonly labels: readonly Label[];
  readonly isTrusted: boolean;
  readonly warnings: readonly string[];
}

export interface ServerLog {
  /** The end of what its process wrote to stderr, without its credentials; the current process, or the one that crashed. */
  readonly lines: readonly string[];
  readonly summary?: string;
  /** Why there is none: it is not a process of this machine, or has not been started. */
  readonly note?: string;
}

export interface LoginLink {
  /** To be opened by the person. The host waits for the browser to come back. Absent: it is logged in already. */
  readonly url?: string;
  readonly issuer?: string;
}

export interface ToolQuery {
  readonly server?: string;
  /** As agents search; then the best first, with scores. */
  readonly query?: string;
  /** At most 200. */
  readonly limit?: number;
  readonly cursor?: string;
}

export interface ToolPage {
  readonly tools: readonly ToolItem[];
  readonly total: number;
  readonly cursor?: string;
}

export interface ToolItem {
  readonly serverId: string;
  readonly serverPath: string;
  readonly toolName: string;
  readonly exportName: string;
  readonly description: string;
  /** For calls without regard to arguments, of the agent on this machine. */
  readonly decision: Decision;
  readonly score?: number;
}

export interface ToolDetail extends ToolItem {
  readonly declaration: string;
  readonly inputSchema: JsonValue;
  readonly outputSchema?: JsonValue;
  /** What callers have seen the tool return, as types; none where it declares an output or was never called. */
  readonly observed: readonly { readonly caller: string; readonly profile: string; readonly type: string }[];
  readonly annotations: JsonObject;
  readonly policy: {
    readonly decision: Decision;
    readonly reason: string;
    readonly rule: string;
    /** Rules that decide for some arguments. */
    readonly dependsOn: readonly string[];
    readonly price?: string;
  };
}

export type TryAnswer =
  | {
      readonly state: 'answered';
      readonly ok: true;
      readonly result: JsonValue;
      readonly isCut: boolean;
      readonly durationMs: number;
    }
  | {
      readonly state: 'answered';
      readonly ok: false;
      readonly error: string;
      readonly hint?: string;
      readonly durationMs: number;
    }
  /** The policy asks: the approval is in the inbox. Decide there, then try again: the decision counts for the same arguments. */
  | { readonly state: 'pending'; readonly approval: string };
