import type { CallReply, GuestCall } from '../../domain/run.js';
import { omitUndefined } from '../../lib/omit-undefined.js';

/** What a run asked for, and of which tool as it was then. */
export interface RecordedCall {
  readonly number: number;
  readonly target: string;
  readonly argumentsJson: string;
  /** Digest of everything the tool said of itself; absent for calls that are no tool's. */
  readonly toolDigest?: string;
}

/** The same, with what it was answered. */
export interface AnsweredCall extends RecordedCall {
  /** Absent where the program was over before. */
  reply?: CallReply;
  /** It reached its server, in this run or in the one that this run continues. */
  isSent?: true;
}

/** Larger recordings are not kept: a replay is worth some megabytes, not the disk. */
export const MAX_RECORDING_CHARACTERS = 8 * 1024 * 1024;

export function recordedCall({ number, target, argumentsJson }: GuestCall, toolDigest?: string): RecordedCall {
  return { number, target, argumentsJson, ...omitUndefined({ toolDigest }) };
}
