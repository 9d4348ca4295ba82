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
  readonly calls: NestedCall[];
}

/** A call of a stored script, with what it was answered where that is small enough to be kept. */
export interface NestedCall extends RecordedCall {
  answer?: { readonly ok: true; readonly json: string } | { readonly ok: false } | undefined;
}

/** An attempt that failed, after which the call was sent again. */
export interface CallRetry {
  readonly call: number;
  readonly atMs: number;
  readonly failure: string;
}

export const MAX_NESTED_CALLS = 2_000;
/** Of the answers to all of them. */
export const MAX_NESTED_ANSWER_CHARACTERS = 1024 * 1024;
export const MAX_RETRIES = 1_000;
