import type { AuditEntry, AuditFilter, AuditRecord, ChainHead, ChainReport } from '../domain/audit.js';
import type { Awaitable } from '../lib/async/awaitable.js';

/** One record for each call, in hash chains that are authenticated with a key that the database does not have. */
export interface AuditStore {
  /** Keyed, because the arguments of many calls could be guessed. */
  argumentsDigest(json: string): string;
  /** Checks that records can be written, without leaving one. Throws if the chain was changed from outside. */
  probe(): Awaitable<void>;
  /**
   * Appends what hosts that are gone left behind: the outcomes they wrote down, and an unknown outcome for each call that was in
   * flight. Idempotent, also if two hosts do it at once.
   */
  adoptOrphans(): Awaitable<void>;
  /** For the records of one host, whose call ids begin with `host`. */
  openWriter(host: string, options: AuditWriterOptions): Promise<AuditWriter>;
  /** Whether a host that starts now could append to it. */
  isUsable(): Awaitable<boolean>;
  /** The newest matching records, the oldest of them first. */
  records(filter: AuditFilter, limit: number): Awaitable<AuditRecord[]>;
  /** The newest matching records before this number, the newest first. */
  before(filter: AuditFilter, before: number | undefined, limit: number): Awaitable<AuditRecord[]>;
  /** How many records were ever written. */
  count(): Awaitable<number>;
  /** Ids of runs that start with these characters, in order. Scans every record. */
  runIdsWith(prefix: string, limit: number): Awaitable<string[]>;
  /** All matching records, oldest first, read page by page. */
  each(filter: AuditFilter): AsyncIterable<AuditRecord>;
  /** Checks every record. `expected` is a head that was noted down earlier: it must still be part of the chain. */
  verify(expected?: ChainHead): Awaitable<ChainReport>;
  /** Starts a new chain after tampering was found. The old records are deleted; their number and the reason stay on record. */
  restart(reason: string): Promise<ChainHead>;
}

export interface AuditWriterOptions {
  readonly retentionMs: number;
  /** Called with the reason when records cannot be written, and with undefined when they can again. */
  readonly onProblem: (error: unknown) => void;
}

/** Records the calls of one host. What it has accepted survives if the host is killed. */
export interface AuditWriter {
  /** A call is about to be sent: recorded when this returns or resolves. Throws if it cannot be recorded. */
  sending(entry: AuditEntry): Awaitable<void>;
  /** Records how a call ended, before its program gets the answer. Never throws: a failed write is retried. */
  ended(entry: AuditEntry): Awaitable<void>;
  /** Appends all pending records to the chain now, and retries failed writes. Never throws. */
  flush(): Awaitable<void>;
  /** Writes and seals everything. Calls still in flight are left for the next host to find. */
  close(): Promise<void>;
}
