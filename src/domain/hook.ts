import type { JsonObject, JsonValue } from './json.js';

export const HOOK_MOMENTS = ['before', 'after'] as const;
export type HookMoment = (typeof HOOK_MOMENTS)[number];

/** A command or URL of the user's own that is notified of calls, and may refuse them. */
export interface Hook {
  /** Patterns `server/tool`. */
  readonly tools: readonly string[];
  readonly when: HookMoment;
  readonly target: HookTarget;
  readonly timeoutMs: number;
  /** What happens to a call if its hook gives no usable answer in time. */
  readonly onFailure: 'deny' | 'allow';
}

export type HookTarget =
  | { readonly kind: 'command'; readonly command: string; readonly args: readonly string[]; readonly cwd?: string }
  | { readonly kind: 'http'; readonly url: string; readonly headers: Readonly<Record<string, string>> };

/** The event sent to a hook: one JSON document. Its field names are part of the published interface. */
export interface HookEvent {
  readonly event: HookMoment;
  readonly runId: string;
  /** Unique to this call; the same before and after it. */
  readonly callId: string;
  /** Id of the call that runs the stored script containing this call; absent if the program itself makes the call. */
  readonly parentId?: string;
  readonly caller: string;
  readonly profile: string;
  readonly server: string;
  readonly tool: string;
  readonly arguments: JsonObject;
  /** Only after the call. */
  readonly outcome?: HookOutcome;
}

export interface HookOutcome {
  readonly ok: boolean;
  readonly durationMs: number;
  /** Why it failed, redacted; absent if it succeeded. */
  readonly error?: string;
  /** The structured value or the content blocks of the answer, redacted. */
  readonly result?: JsonValue;
}

export type HookDecision = { readonly decision: 'allow' } | { readonly decision: 'deny'; readonly reason: string };
