import type { JsonObject, JsonValue } from '../json.js';
import type { Decision, Preset } from '../policy.js';

export interface PolicyView {
  readonly preset: Preset;
  /** Of the file as it is now. */
  readonly rules: readonly PolicyRuleView[];
  /** Whether this host decides by these rules: hosts read their rules when they start. */
  readonly isInEffect: boolean;
  /** How often the preset decided, among `callCount` calls. */
  readonly presetHits: number;
  /** The calls that hits are counted among: the newest of ended runs whose recordings are kept, at most 500. */
  readonly callCount: number;
  /** The file that `save` would change; absent where there is none that codemode may change. */
  readonly file?: string;
  /** Why it cannot be changed from here. */
  readonly fileNote?: string;
  /** Digest of the file's text: goes back with `save`, so that nobody's change is lost. */
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

/** A rule in the words of the configuration, and where it goes: before this number; after the last where it is absent. */
export interface DraftRequest {
  readonly rule: JsonObject;
  readonly before?: number;
}

export interface DraftReport {
  /** Calls that were looked at. */
  readonly callCount: number;
  /** Calls that the draft would decide. */
  readonly hits: number;
  /** Those that it would decide otherwise than now: the newest first, at most 100. */
  readonly changes: readonly DraftChange[];
  readonly changeCount: number;
  /** Calls that could not be looked at, since their tools are gone. */
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
  /** What has to happen before the rule counts. */
  readonly note: string;
}
