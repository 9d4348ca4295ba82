import type { AuditEntry, CallOutcome } from '../../../domain/audit.js';
import type { AuditWriter, AuditWriterOptions } from '../../audit.js';
import type { AuditJournal } from './audit-journal.js';

/** What the writer needs of the chain. */
export interface AuditChain {
  append(entries: readonly AuditEntry[]): void;
  seal(): Promise<void>;
  prune(beforeMs: number): number;
}

/** Outcomes stay at most this long in the journal; then a batch of them is appended to the chain in one transaction. */
const BATCH_MS = 20;
const MAX_BATCH = 500;
/** A call that takes longer than this gets a `sent` record in the chain, where it is sealed. */
const SENT_RECORD_AFTER_MS = 250;
/** A journal that never becomes empty, because a call is always in flight, is emptied at this size. */
const MAX_JOURNAL_BYTES = 1024 * 1024;
/** The most records kept in memory while the store cannot be written. */
const MAX_PENDING = 20_000;
/** Time between two seals; each one flushes to disk. */
const SEAL_EVERY_MS = 250;
const PRUNE_EVERY_MS = 6 * 3_600_000;

/**
 * Writes a call to the journal before it is sent, and its outcome before its program gets the answer: a host that is killed loses
 * neither. Both move from the journal to the chain in batches. The `sent` record is moved only if the call takes long or its
 * host was killed.
 */
export class JournaledWriter implements AuditWriter {
  readonly #chain: AuditChain;
  readonly #journal: AuditJournal;
  readonly #options: AuditWriterOptions;
  /** Calls in flight that are only in the journal, oldest first, with their start times. */
  readonly #open = new Map<string, { readonly entry: AuditEntry; readonly sinceMs: number }>();
  /** Calls in flight that are in the chain. */
  readonly #recorded = new Set<string>();
  #pending: AuditEntry[] = [];
  #hasProblem = false;
  #timer: NodeJS.Timeout | undefined;
  #openTimer: NodeJS.Timeout | undefined;
  #sealing: Promise<void> | undefined;
  #sealTimer: NodeJS.Timeout | undefined;
  #lastSealAt = 0;
  #lastPruneAt = 0;

  constructor(chain: AuditChain, journal: AuditJournal, options: AuditWriterOptions) {
    this.#chain = chain;
    this.#journal = journal;
    this.#options = options;
    // The journal of a killed host may have just been appended.
    this.#sealSoon();
  }

  sending(entry: AuditEntry): void {
    try {
      this.#journal.write(entry);
    } catch (error) {
      this.#fail(error);
      throw error;
    }
    this.#open.set(entry.callId, { entry, sinceMs: performance.now() });
    this.#openTimer ??= setTimeout(() => this.#recordOpen(), SENT_RECORD_AFTER_MS).unref();
  }

  ended(entry: AuditEntry): void {
    this.#pending.push(entry);
    if (this.#pending.length > MAX_PENDING) this.#pending.shift();
    if (this.#open.delete(entry.callId) || this.#recorded.delete(entry.callId)) {
      try {
        this.#journal.write(outcomeOf(entry));
      } catch (error) {
        this.#fail(error);
      }
    }
    if (this.#pending.length >= MAX_BATCH) this.#write();
    else this.#timer ??= setTimeout(() => this.#write(), BATCH_MS);
  }

  flush(): void {
    if (this.#pending.length > 0 || this.#hasProblem) this.#write();
  }

  async close(): Promise<void> {
    this.flush();
    clearTimeout(this.#openTimer);
    clearTimeout(this.#sealTimer);
    await this.#sealing;
    await this.#seal();
    this.#journal.close(this.#pending.length + this.#open.size + this.#recorded.size === 0);
  }

  #write(sent: readonly AuditEntry[] = []): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const isLong = this.#journal.bytes > MAX_JOURNAL_BYTES;
    const open = isLong ? [...this.#open.values()].map(({ entry }) => entry) : sent;
    try {
      this.#chain.append([...open, ...this.#pending]);
      this.#pending = [];
      for (const { callId } of open) if (this.#open.delete(callId)) this.#recorded.add(callId);
      if (this.#open.size === 0) this.#journal.empty();
      if (this.#hasProblem) this.#options.onProblem(undefined);
      this.#hasProblem = false;
      this.#sealSoon();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Moves slow calls to the chain, where removing them is detected. */
  #recordOpen(): void {
    const long: AuditEntry[] = [];
    const latestMs = performance.now() - SENT_RECORD_AFTER_MS;
    this.#openTimer = undefined;
    for (const { entry, sinceMs } of this.#open.values()) {
      if (sinceMs > latestMs) break;
      long.push(entry);
    }
    if (long.length > 0) this.#write(long);
    if (this.#open.size > 0) this.#openTimer = setTimeout(() => this.#recordOpen(), SENT_RECORD_AFTER_MS).unref();
  }

  #sealSoon(): void {
    if (this.#sealTimer !== undefined || this.#sealing !== undefined) return;
    const waitMs = Math.max(0, this.#lastSealAt + SEAL_EVERY_MS - Date.now());
    this.#sealTimer = setTimeout(() => {
      this.#sealTimer = undefined;
      this.#sealing = this.#seal().finally(() => {
        this.#sealing = undefined;
      });
    }, waitMs).unref();
  }

  /** Records written during a seal are covered by the next one. */
  async #seal(): Promise<void> {
    this.#lastSealAt = Date.now();
    try {
      await this.#chain.seal();
      if (this.#lastSealAt - this.#lastPruneAt < PRUNE_EVERY_MS) return;
      this.#lastPruneAt = this.#lastSealAt;
      this.#chain.prune(Date.now() - this.#options.retentionMs);
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    this.#hasProblem = true;
    this.#options.onProblem(error);
  }
}

function outcomeOf({ callId, resultBytes, durationMs, verdict, approval, redactions }: AuditEntry): CallOutcome {
  return { callId, resultBytes, durationMs, verdict, approval, redactions };
}
