import type { JsonObject, JsonPrimitive } from './json.js';
import type { ToolAnnotations } from './tool.js';
import type { UndoRule } from './undo.js';

/** The decision of a policy: the call is made, a person is asked first, or it is refused. */
export const DECISIONS = ['allow', 'ask', 'deny'] as const;
export type Decision = (typeof DECISIONS)[number];

/** The rules that apply if no rule of the user matches. */
export const PRESETS = ['default', 'strict', 'open'] as const;
export type Preset = (typeof PRESETS)[number];

/**
 * How the user labels a server for the flow guard.
 * - `private`: its data must not be sent to an external server
 * - `untrusted`: its text may contain injected instructions
 * - `external`: data sent to it leaves the user's control
 */
export const LABELS = ['private', 'untrusted', 'external'] as const;
export type Label = (typeof LABELS)[number];

/** The tool annotations that a rule can match. */
export const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const;
export type Hint = (typeof HINTS)[number];

/** A condition on one argument. All given parts must hold. */
export interface ArgumentCondition {
  readonly equals?: JsonPrimitive;
  readonly oneOf?: readonly JsonPrimitive[];
  /** A regular expression, searched for in the text; `^` and `$` match its start and end. */
  readonly matches?: string;
  readonly greaterThan?: number;
  readonly lessThan?: number;
  readonly present?: boolean;
}

/** One rule of the user. An absent field matches everything. */
export interface PolicyRule {
  /** `server/tool`, with `*` for any characters. */
  readonly tools?: readonly string[];
  readonly annotations?: Pick<ToolAnnotations, Hint>;
  readonly caller?: readonly string[];
  readonly profile?: readonly string[];
  /** By path: `branch`, `files.*.path`, or a JSON Pointer. */
  readonly arguments?: Readonly<Record<string, ArgumentCondition>>;
  readonly decision: Decision;
  /** Shown with the refusal or the approval. */
  readonly reason?: string;
  /** The flow guard does not ask about calls that this rule allows. */
  readonly flow?: 'allow';
  readonly examples: readonly PolicyExample[];
}

/** A decision that the rule's author expects from the whole policy. */
export interface PolicyExample {
  /** `server/tool`; need not exist. */
  readonly tool: string;
  readonly annotations?: Pick<ToolAnnotations, Hint>;
  readonly caller?: string;
  readonly profile?: string;
  readonly arguments?: JsonObject;
  readonly decision: Decision;
}

export interface Budget {
  readonly run?: number;
  readonly day?: number;
}

export interface PolicySettings {
  readonly preset: Preset;
  readonly rules: readonly PolicyRule[];
  /** How calls are undone on request. */
  readonly undo?: readonly UndoRule[];
  /** The price of a call, by `server/tool` pattern; the first match counts. */
  readonly prices: Readonly<Record<string, number>>;
  readonly budget: Budget;
}

/** The user's settings of one server. */
export interface ServerTraits {
  readonly isTrusted: boolean;
  readonly labels: readonly Label[];
  /** Its annotations are trusted, but its tool names are still judged: functions of the embedding program. */
  readonly isJudgedByName?: true;
}

/** What a limit counts separately. */
export const LIMIT_SCOPES = ['server', 'tool', 'caller'] as const;
export type LimitScope = (typeof LIMIT_SCOPES)[number];

/** Rate, concurrency and timeout. Every limit that matches a call applies. */
export interface LimitSetting {
  readonly tools: readonly string[];
  readonly caller?: readonly string[];
  /** What is counted separately. Empty: all matching calls are counted together. */
  readonly each: readonly LimitScope[];
  readonly rate?: { readonly calls: number; readonly perMs: number };
  readonly concurrency?: number;
  readonly timeoutMs?: number;
}
