import { hash, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { AuditEntry, ChainHead } from '../domain/audit.js';
import { KeyedHash } from '../lib/secrets/keyed-hash.js';
import { storableText } from '../lib/text/storable-text.js';

/** A record as stored in its row. Only numbers and texts, so it reads back exactly as it was hashed. */
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

/** Where the chain begins after its oldest part was removed. */
export interface Anchor extends ChainHead {
  readonly at_ms: number;
  readonly reason: string;
  readonly mac: string;
}

/** The end of a chain, as recorded outside its table. */
export type ReadHead = ChainHead | 'missing' | 'forged';

export function anchorParts({ count, hash, at_ms, reason }: Anchor): (string | number)[] {
  return [count, hash, at_ms, reason];
}

/** The head before the first record. */
export const GENESIS: ChainHead = { count: 0, hash: '0'.repeat(64) };
const FORMAT = 1;
/** The format of records with a call id. Records of older versions have no call id. */
const RECORD_FORMAT = 2;

/** The columns of a row except its hash and mac, in column order. */
export type RowValues = readonly (string | number | null)[];

export function valuesOf(entry: AuditEntry, number: number): RowValues {
  return [
    number,
    entry.atMs,
    entry.runId,
    storableText(entry.caller),
    entry.profile,
    entry.codeDigest,
    storableText(entry.serverId),
    storableText(entry.toolName),
    entry.argumentsDigest,
    entry.resultBytes,
    entry.durationMs,
    entry.verdict,
    JSON.stringify(entry.approval),
    JSON.stringify(entry.redactions),
    entry.callId,
  ];
}

/** Hashes the JSON of an array of numbers and texts, so no two records give the same text. */
export function hashOf([number, ...others]: RowValues, previousHash: string): string {
  const isOld = others.at(-1) === '';
  const [format, fields] = isOld ? [FORMAT, others.slice(0, -1)] : [RECORD_FORMAT, others];
  return hash('sha256', JSON.stringify([format, number, previousHash, ...fields]), 'hex');
}

/**
 * The keys that authenticate the audit log. A process that can write to the file could recompute the hash chain; without
 * the key it cannot authenticate a record, the head or the anchor.
 */
export class AuditKeys {
  readonly #chain: KeyedHash;
  readonly #arguments: KeyedHash;
  readonly #journal: KeyedHash;

  constructor(masterKey: Uint8Array) {
    this.#chain = derive(masterKey, 'audit chain');
    this.#arguments = derive(masterKey, 'audit arguments');
    this.#journal = derive(masterKey, 'audit journal');
  }

  macOf(what: 'record' | 'head' | 'anchor', ...parts: readonly (string | number)[]): string {
    return this.#chain.of(JSON.stringify([FORMAT, what, ...parts]), 'base64url');
  }

  /** The authentication of a journal line, chained to the previous line. */
  journalMac(macBefore: string, text: string): string {
    return this.#journal.of(macBefore + text, 'base64url');
  }

  isJournalMac(mac: string, macBefore: string, text: string): boolean {
    return isSame(mac, this.journalMac(macBefore, text));
  }

  isMac(mac: string, what: 'record' | 'head' | 'anchor', ...parts: readonly (string | number)[]): boolean {
    return isSame(mac, this.macOf(what, ...parts));
  }

  /** Keyed: arguments are often few and guessable, and many people may read an export. */
  argumentsDigest(json: string): string {
    return this.#arguments.of(json, 'hex');
  }
}

function isSame(given: string, right: string): boolean {
  const [left, other] = [Buffer.from(given), Buffer.from(right)];
  return left.length === other.length && timingSafeEqual(left, other);
}

function derive(masterKey: Uint8Array, purpose: string): KeyedHash {
  return new KeyedHash(new Uint8Array(hkdfSync('sha256', masterKey, '', `codemode ${purpose}`, 32)));
}
