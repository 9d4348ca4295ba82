import type { JsonObject, JsonValue } from '../json.js';
import type { Decision, Label } from '../policy.js';
import type { UpstreamState } from '../upstream.js';

export interface ServerView {
  readonly id: string;
  /** The name that programs import it by. */
  readonly path: string;
  readonly state: UpstreamState;
  readonly transport: string;
  readonly name?: string;
  readonly version?: string;
  readonly toolCount: number;
  readonly reason?: string;
  readonly needsLogin: boolean;
  /** Whether a login can be started from the console. */
  readonly canLogIn: boolean;
  readonly sinceMs?: number;
  readonly losses: number;
  readonly labels: readonly Label[];
  readonly isTrusted: boolean;
  readonly warnings: readonly string[];
}

export interface ServerLog {
  /** The last lines its process wrote to stderr, with credentials redacted. From the current process, or the one that crashed. */
  readonly lines: readonly string[];
  readonly summary?: string;
  /** Why there is no log: the server is not a process on this machine, or was not started. */
  readonly note?: string;
}

export interface LoginLink {
  /** The person opens this URL, and the host waits for the browser's redirect. Absent: already logged in. */
  readonly url?: string;
  readonly issuer?: string;
}

/** The outcome of a log-in: the person is in another window, and the page asks. `none`: none was started since the host started. */
export interface LoginState {
  readonly state: 'none' | 'waiting' | 'done' | 'failed';
  /** Why it failed. */
  readonly message?: string;
}

export interface ToolQuery {
  readonly server?: string;
  /** Searches as agents do: best match first, with scores. */
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
  /** For calls by the agent on this machine, regardless of arguments. */
  readonly decision: Decision;
  readonly score?: number;
}

export interface ToolDetail extends ToolItem {
  readonly declaration: string;
  readonly inputSchema: JsonValue;
  readonly outputSchema?: JsonValue;
  /** The types of results that callers have seen from the tool. Empty if it declares an output or was never called. */
  readonly observed: readonly { readonly caller: string; readonly profile: string; readonly type: string }[];
  readonly annotations: JsonObject;
  readonly policy: {
    readonly decision: Decision;
    readonly reason: string;
    readonly rule: string;
    /** Rules that match only some arguments. */
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
  /** The policy asks, and the approval is in the inbox. Decide it there, then try again with the same arguments. */
  | { readonly state: 'pending'; readonly approval: string };
