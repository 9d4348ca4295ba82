import type { RecordedCall } from './recorded-call.js';

/** What people see of a run beyond what a replay needs: resource usage, executed stored scripts, retried calls. */
export interface RunNotes {
  readonly usage?: { readonly cpuMs?: number | undefined; readonly memoryBytes?: number | undefined } | undefined;
  readonly scripts?: readonly NestedScript[] | undefined;
  readonly retries?: readonly CallRetry[] | undefined;
}

/** A stored script that the run executed. */
export interface NestedScript {
  readonly name: string;
  readonly codeDigest: string;
  /** The call that started it. */
  readonly byCall: number;
  readonly startedAtMs: number;
  /** Absent while it runs. */
  durationMs?: number | undefined;
  isFailed?: boolean | undefined;
  /** Numbered as in approvals: after the calls of the run's own program. */
  readonly calls: NestedCall[];
}

/** A call of a stored script, with its answer if that is small enough to keep. */
export interface NestedCall extends RecordedCall {
  answer?: { readonly ok: true; readonly json: string } | { readonly ok: false } | undefined;
}

/** A failed attempt, after which the call was retried. */
export interface CallRetry {
  readonly call: number;
  readonly atMs: number;
  readonly failure: string;
}

export const MAX_NESTED_CALLS = 2_000;
/** Limit for all their answers together. */
export const MAX_NESTED_ANSWER_CHARACTERS = 1024 * 1024;
export const MAX_RETRIES = 1_000;
