import type { CallVerdict } from '../audit.js';

export interface UsageReport {
  /** Tokens that a model reads before its first program, estimated as in `codemode measure`. */
  readonly context: { readonly tools: number; readonly definitions: number; readonly told: number };
  /** A description of how `days[].answerTokens` and `readTokens` are estimated. */
  readonly method: string;
  /** UTC days, oldest first. Days without calls are left out. */
  readonly days: readonly UsageDay[];
  readonly servers: readonly UsageServer[];
  /** Calls of `doctor`, `measure` and `demo`, which are excluded from all other figures. */
  readonly ownCalls: number;
  /** Whether there were more calls than were read. */
  readonly isCut: boolean;
}

export interface UsageDay {
  readonly day: string;
  /** Runs that have ended. */
  readonly runs: number;
  /** Calls of those runs. */
  readonly runCalls: number;
  /** All calls that were answered, also of runs that have not ended. */
  readonly calls: number;
  readonly errors: number;
  /** Tokens of the tools' answers to those runs, which a model that calls tools directly would have read. */
  readonly answerTokens: number;
  /** Tokens of those runs' answers, which the model read instead. */
  readonly readTokens: number;
  /** Model turns that direct calls would have taken beyond one per run. */
  readonly savedTurns: number;
}

export interface UsageServer {
  readonly serverId: string;
  readonly calls: number;
  readonly errors: number;
  readonly byVerdict: Readonly<Partial<Record<CallVerdict, number>>>;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly resultBytes: number;
}
