import type { CallVerdict } from '../audit.js';

export interface UsageReport {
  /** What a model reads before its first program: estimated, as `codemode measure` does. */
  readonly context: { readonly tools: number; readonly definitions: number; readonly told: number };
  /** How `days[].answerTokens` and `readTokens` are estimated, in words. */
  readonly method: string;
  /** UTC, the oldest first; days without calls are left out. */
  readonly days: readonly UsageDay[];
  readonly servers: readonly UsageServer[];
  /** Calls of `doctor`, `measure` and `demo`, which are left out of everything else. */
  readonly ownCalls: number;
  /** Whether more calls were there than were read. */
  readonly isCut: boolean;
}

export interface UsageDay {
  readonly day: string;
  readonly runs: number;
  readonly calls: number;
  readonly errors: number;
  /** What the tools answered: with direct calls the model would have read it. */
  readonly answerTokens: number;
  /** What the model read of the runs' answers instead. */
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
