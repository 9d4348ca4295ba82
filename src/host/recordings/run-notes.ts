import * as z from 'zod';
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

const amount = z.number().nonnegative();

/** Of a recording: from the store, or from a file that somebody wrote. */
export const notesSchema = z.object({
  usage: z.object({ cpuMs: amount.optional(), memoryBytes: amount.optional() }).optional(),
  scripts: z
    .array(
      z.object({
        ...{ name: z.string(), codeDigest: z.string(), byCall: amount, startedAtMs: amount },
        ...{ durationMs: amount.optional(), isFailed: z.boolean().optional() },
        calls: z.array(z.object({ number: amount, target: z.string(), argumentsJson: z.string() })),
      }),
    )
    .optional(),
  retries: z.array(z.object({ call: amount, atMs: amount, failure: z.string() })).optional(),
});
