import type { CallReply, GuestCall } from '../../domain/run.js';
import { omitUndefined } from '../../lib/omit-undefined.js';

/** A call that a run made, and the digest of its tool at the time. */
export interface RecordedCall {
  readonly number: number;
  readonly target: string;
  readonly argumentsJson: string;
  /** Digest of the tool's whole definition; absent for calls that are not tool calls. */
  readonly toolDigest?: string;
}

/** The same, with its reply. */
export interface AnsweredCall extends RecordedCall {
  /** Absent if the program ended first. */
  reply?: CallReply;
  /** The call reached its server, in this run or in the run that it continues. */
  isSent?: true;
}

/** Larger recordings are not kept: a replay is worth some megabytes, not a full disk. */
export const MAX_RECORDING_CHARACTERS = 8 * 1024 * 1024;

export function recordedCall({ number, target, argumentsJson }: GuestCall, toolDigest?: string): RecordedCall {
  return { number, target, argumentsJson, ...omitUndefined({ toolDigest }) };
}
