import { hash } from 'node:crypto';

/** A call that waits for a person: the fields that the digest covers. */
export interface DigestedCall {
  readonly id: string;
  /** SHA-256 of its arguments as they will be sent. */
  readonly argumentsDigest: string;
}

/** Fewer digits do not identify a digest. */
export const MIN_DIGEST_DIGITS = 16;

/**
 * Names the calls of a card by what is sent: for one call the digest of its arguments, for several a digest of their ids and
 * digests. Every place that shows a card shows this digest, so that a decision can state which card was read.
 */
export function cardDigest(calls: readonly DigestedCall[]): string {
  const [first] = calls;
  if (first !== undefined && calls.length === 1) return first.argumentsDigest;
  const lines = calls.map(({ id, argumentsDigest }) => `${id} ${argumentsDigest}\n`).sort();
  return hash('sha256', lines.join(''), 'hex');
}

/** Whether the text a person typed is this digest, or enough of its first digits. */
export function isSameDigest(digest: string, given: string): boolean {
  const digits = given
    .trim()
    .toLowerCase()
    .replace(/^sha256[: ]/, '');
  return digits.length >= MIN_DIGEST_DIGITS && digest.startsWith(digits);
}
