import type { RecordedCall } from './recorded-call.js';

/** What people are told of a run besides what a replay needs: what it used, the stored scripts that it ran, calls that were repeated. */
export interface RunNotes {
  readonly usage?: { readonly cpuMs?: number | undefined; readonly memoryBytes?: number | undefined } | undefined;
  readonly scripts?: readonly NestedScript[] | undefined;
  readonly retries?: readonly CallRetry[] | undefined;
}

/** A stored script that a program of the run ran. */
export interface NestedScript {
  readonly name: string;
  readonly codeDigest: string;
  /** The call that ran it. */
  readonly byCall: number;
  readonly startedAtMs: number;
  /** Absent while it runs. */
  durationMs?: number | undefined;
  isFailed?: boolean | undefined;
  /** Numbered as in approvals: after those of the run's own program. */
  readonly calls: RecordedCall[];
}

/** An attempt that failed, after which the call was sent again. */
export interface CallRetry {
  readonly call: number;
  readonly atMs: number;
  readonly failure: string;
}

export const MAX_NESTED_CALLS = 2_000;
export const MAX_RETRIES = 1_000;
