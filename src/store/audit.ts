import type { AuditEntry, AuditFilter, AuditRecord, ChainHead, ChainReport } from '../domain/audit.js';
import type { Awaitable } from '../lib/async/awaitable.js';

/** One record for each call, in hash chains that are authenticated with a key that the database does not have. */
export interface AuditStore {
  /** With a key, because the arguments of many calls could be guessed. */
  argumentsDigest(json: string): string;
  /** Finds out whether anything can be written, without leaving a record. Throws where the chain was changed from outside. */
  probe(): Awaitable<void>;
  /**
   * Puts into the chain what hosts that are gone have left: outcomes as they wrote them down, and for calls that were
   * in progress that their outcome is unknown. Done twice, or by two hosts at once, it is as if done once.
   */
  adoptOrphans(): Awaitable<void>;
  /** For the records of one host, whose call ids begin with `host`. */
  openWriter(host: string, options: AuditWriterOptions): Promise<AuditWriter>;
  /** Whether a host that begins now would append to it. */
  isUsable(): Awaitable<boolean>;
  /** The newest that fit, oldest of them first. */
  records(filter: AuditFilter, limit: number): Awaitable<AuditRecord[]>;
  /** The newest that fit and are before this number, newest first. */
  before(filter: AuditFilter, before: number | undefined, limit: number): Awaitable<AuditRecord[]>;
  /** How many records there have been. */
  count(): Awaitable<number>;
  /** Ids of runs that start with these characters, in order. Looks at every record. */
  runIdsWith(prefix: string, limit: number): Awaitable<string[]>;
  /** All that fit, oldest first, read page by page. */
  each(filter: AuditFilter): AsyncIterable<AuditRecord>;
  /** Looks at every record. `expected` is a head that was noted down earlier: it must still be part of the chain. */
  verify(expected?: ChainHead): Awaitable<ChainReport>;
  /** Starts a new chain after tampering was found. The old records are deleted; their number and the reason stay on record. */
  restart(reason: string): Promise<ChainHead>;
}

export interface AuditWriterOptions {
  readonly retentionMs: number;
  /** Called with the reason when records cannot be written, and with undefined when they can again. */
  readonly onProblem: (error: unknown) => void;
}

/** Records the calls of one host. What it has taken survives when the host is killed. */
export interface AuditWriter {
  /** A call is about to be sent: recorded when this returns or resolves. Throws if it cannot be recorded. */
  sending(entry: AuditEntry): Awaitable<void>;
  /** How a call ended, before its program hears of it. Never throws: what cannot be written is tried again. */
  ended(entry: AuditEntry): Awaitable<void>;
  /** Appends all pending records to the chain now; also tries again what could not be written. Never throws. */
  flush(): Awaitable<void>;
  /** Writes and seals everything. Calls still in flight are left for the next host to find. */
  close(): Promise<void>;
}
