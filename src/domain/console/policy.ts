import type { JsonObject, JsonValue } from '../json.js';
import type { Decision, Preset } from '../policy.js';

export interface PolicyView {
  readonly preset: Preset;
  /** The rules in the file now. */
  readonly rules: readonly PolicyRuleView[];
  /** Whether this host uses these rules. Hosts read their rules when they start. */
  readonly isInEffect: boolean;
  /** How often the preset decided, among `callCount` calls. */
  readonly presetHits: number;
  /** The number of calls in which hits are counted: the newest calls of ended runs with a recording, at most 500. */
  readonly callCount: number;
  /** The file that `save` would change; absent if there is no file that codemode may change. */
  readonly file?: string;
  /** Why the file cannot be changed from the console. */
  readonly fileNote?: string;
  /** Digest of the file's text. `save` must include it, so that no concurrent change is lost. */
  readonly fileDigest?: string;
}

export interface PolicyRuleView {
  /** From 1, in order. */
  readonly number: number;
  /** `codemode.config.yaml:7:5`. */
  readonly place?: string;
  /** The rule as the configuration has it. */
  readonly rule: JsonObject;
  readonly decision: Decision;
  readonly hits: number;
  readonly isInEffect: boolean;
}

/** A rule in the syntax of the configuration, and the number of the rule to insert it before. Absent: after the last rule. */
export interface DraftRequest {
  readonly rule: JsonObject;
  readonly before?: number;
}

export interface DraftReport {
  /** Calls that were evaluated. */
  readonly callCount: number;
  /** Calls that the draft would decide. */
  readonly hits: number;
  /** Calls that it would decide differently: newest first, at most 100. */
  readonly changes: readonly DraftChange[];
  readonly changeCount: number;
  /** Calls that could not be evaluated, because their tools no longer exist. */
  readonly skipped: number;
}

export interface DraftChange {
  readonly runId: string;
  readonly call: number;
  readonly serverId: string;
  readonly toolName: string;
  readonly arguments: JsonValue;
  readonly now: Decision;
  readonly then: Decision;
}

export interface PolicyDiff {
  readonly file: string;
  readonly fileDigest: string;
  /** Unified, without a header. */
  readonly diff: string;
}

export interface SaveRequest extends DraftRequest {
  readonly fileDigest: string;
}

export interface PolicySaved {
  readonly file: string;
  readonly diff: string;
  /** What has to happen before the rule takes effect. */
  readonly note: string;
}
