import { createHmac, createSecretKey, hash, hkdfSync, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { AuditEntry, ChainHead } from '../domain/audit.js';

/** A record as it lies in its row: numbers and texts only, the same when it is read as when it was hashed. */
export interface AuditRow {
  readonly number: number;
  readonly at_ms: number;
  readonly run_id: string;
  readonly caller: string;
  readonly profile: string;
  readonly code_digest: string;
  readonly server_id: string;
  readonly tool_name: string;
  readonly arguments_digest: string;
  readonly result_bytes: number | null;
  readonly duration_ms: number;
  readonly verdict: string;
  readonly approval: string;
  readonly redactions: string;
  readonly call_id: string;
  readonly hash: string;
  readonly mac: string;
}

/** Where the chain begins when its oldest part is gone. */
export interface Anchor extends ChainHead {
  readonly at_ms: number;
  readonly reason: string;
  readonly mac: string;
}

export function anchorParts({ count, hash, at_ms, reason }: Anchor): (string | number)[] {
  return [count, hash, at_ms, reason];
}

/** Before the first record. */
export const GENESIS: ChainHead = { count: 0, hash: '0'.repeat(64) };
const FORMAT = 1;
/** Of records with the id of their call. Those of older programs have none. */
const RECORD_FORMAT = 2;

/** JSON of an array of numbers and texts: no two records give the same text. */
export function hashOf(row: Omit<AuditRow, 'hash' | 'mac'>, previousHash: string): string {
  const isOld = row.call_id === '';
  const format = isOld ? FORMAT : RECORD_FORMAT;
  const fields = [format, row.number, previousHash, row.at_ms, row.run_id, row.caller, row.profile, row.code_digest];
  const more = [row.server_id, row.tool_name, row.arguments_digest, row.result_bytes, row.duration_ms, row.verdict];
  const last = isOld ? [row.approval, row.redactions] : [row.approval, row.redactions, row.call_id];
  return hash('sha256', JSON.stringify([...fields, ...more, ...last]), 'hex');
}

export function rowOf(entry: AuditEntry, number: number): Omit<AuditRow, 'hash' | 'mac'> {
  return {
    number,
    at_ms: entry.atMs,
    run_id: entry.runId,
    caller: entry.caller,
    profile: entry.profile,
    code_digest: entry.codeDigest,
    server_id: entry.serverId,
    tool_name: entry.toolName,
    arguments_digest: entry.argumentsDigest,
    result_bytes: entry.resultBytes,
    duration_ms: entry.durationMs,
    verdict: entry.verdict,
    approval: JSON.stringify(entry.approval),
    redactions: JSON.stringify(entry.redactions),
    call_id: entry.callId,
  };
}

/**
 * What only this host can write. The chain of hashes alone could be made anew by whoever can write to the file; the
 * authentication of each record, of the head and of the anchor needs the key beside it.
 */
export class AuditKeys {
  readonly #chain: KeyObject;
  readonly #arguments: KeyObject;
  readonly #journal: KeyObject;

  constructor(masterKey: Uint8Array) {
    this.#chain = derive(masterKey, 'audit chain');
    this.#arguments = derive(masterKey, 'audit arguments');
    this.#journal = derive(masterKey, 'audit journal');
  }

  macOf(what: 'record' | 'head' | 'anchor', ...parts: readonly (string | number)[]): string {
    return createHmac('sha256', this.#chain)
      .update(JSON.stringify([FORMAT, what, ...parts]))
      .digest('base64url');
  }

  /** Of a line of a journal, which goes on from the line before it. */
  journalMac(macBefore: string, text: string): string {
    return createHmac('sha256', this.#journal)
      .update(macBefore + text)
      .digest('base64url');
  }

  isJournalMac(mac: string, macBefore: string, text: string): boolean {
    return isSame(mac, this.journalMac(macBefore, text));
  }

  isMac(mac: string, what: 'record' | 'head' | 'anchor', ...parts: readonly (string | number)[]): boolean {
    return isSame(mac, this.macOf(what, ...parts));
  }

  /** With a key: arguments are often few and guessable, and an export may be read by many. */
  argumentsDigest(json: string): string {
    return createHmac('sha256', this.#arguments).update(json).digest('hex');
  }
}

function isSame(given: string, right: string): boolean {
  const [left, other] = [Buffer.from(given), Buffer.from(right)];
  return left.length === other.length && timingSafeEqual(left, other);
}

function derive(masterKey: Uint8Array, purpose: string): KeyObject {
  return createSecretKey(new Uint8Array(hkdfSync('sha256', masterKey, '', `codemode ${purpose}`, 32)));
}
