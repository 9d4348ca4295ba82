import { randomBytes } from 'node:crypto';
import type { Approval } from '../../domain/approval.js';
import type { AuditEntry, CallOutcome } from '../../domain/audit.js';
import type { GuestError } from '../../domain/run.js';
import type { AuditStore } from '../../store/audit.js';
import type { AuditJournal } from '../../store/audit-journal.js';
import type { RunContext } from '../run-context.js';
import { decisionEntry, outputEntry } from './other-entries.js';

export interface AuditTrailOptions {
  /** Opens the store at its first use: its driver takes 50 ms to load. The function's owner closes the file. */
  readonly open: () => Promise<AuditStore>;
  /** Refuse calls that cannot be recorded. */
  readonly isRequired: boolean;
  readonly retentionMs: number;
  /** Shown to the operator. */
  readonly warn?: (line: string) => void;
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
/** How often a store that could not be written is tried again. */
const RETRY_MS = 1_000;
/** Time between two seals; each one flushes to disk. */
const SEAL_EVERY_MS = 250;
const PRUNE_EVERY_MS = 6 * 3_600_000;

/**
 * Records calls as they happen. A call is in the journal before it is sent, and its outcome before its program gets the
 * answer: a host that is killed loses neither. Both move from the journal to the chain in batches. The `sent` record is
 * moved only if the call takes long or its host was killed.
 */
export class AuditTrail {
  readonly #options: AuditTrailOptions;
  /** Prefix of the ids of its calls. */
  readonly #host = randomBytes(9).toString('base64url');
  #calls = 0;
  #opening: Promise<void> | undefined;
  #store: AuditStore | undefined;
  #journal: AuditJournal | undefined;
  /** Calls in flight that are only in the journal, oldest first, with their start times. */
  readonly #open = new Map<string, { readonly entry: AuditEntry; readonly sinceMs: number }>();
  /** Calls in flight that are in the chain. */
  readonly #recorded = new Set<string>();
  #pending: AuditEntry[] = [];
  #timer: NodeJS.Timeout | undefined;
  #openTimer: NodeJS.Timeout | undefined;
  #problem: string | undefined;
  #lastTryAt = 0;
  #sealing: Promise<void> | undefined;
  #sealTimer: NodeJS.Timeout | undefined;
  #lastSealAt = 0;
  #lastPruneAt = 0;

  constructor(options: AuditTrailOptions) {
    this.#options = options;
  }

  /** Calls are recorded: nothing has to be opened or tried again before the next one. */
  get isOpen(): boolean {
    return this.#store !== undefined && this.#problem === undefined;
  }

  /** Opens the store. Returns the reason if no call may be made. */
  async refusal(): Promise<GuestError | undefined> {
    if (this.#store === undefined) await this.#openStore();
    if (this.#problem !== undefined && Date.now() - this.#lastTryAt >= RETRY_MS) this.#write();
    return this.#refusal();
  }

  /** The digest of a call's arguments, as JSON. Only available after `refusal`. */
  digest(json: string): string {
    return this.#store?.argumentsDigest(json) ?? '';
  }

  nextCallId(): string {
    return `${this.#host}.${++this.#calls}`;
  }

  /** A call is about to be sent; its `verdict` is `sent`. Returns why it must not be sent if it cannot be recorded. */
  sending(entry: AuditEntry): GuestError | undefined {
    try {
      this.#journal?.write(entry);
    } catch (error) {
      this.#fail(error);
      return this.#refusal();
    }
    this.#open.set(entry.callId, { entry, sinceMs: performance.now() });
    this.#openTimer ??= setTimeout(() => this.#recordOpen(), SENT_RECORD_AFTER_MS).unref();
    return undefined;
  }

  /** Records the outcome of a call. For a call that was sent, the record survives a crash once this returns. */
  record(entry: AuditEntry): void {
    this.#pending.push(entry);
    if (this.#pending.length > MAX_PENDING) this.#pending.shift();
    if (this.#open.delete(entry.callId) || this.#recorded.delete(entry.callId)) {
      try {
        this.#journal?.write(outcomeOf(entry));
      } catch (error) {
        this.#fail(error);
      }
    }
    if (this.#pending.length >= MAX_BATCH) this.#write();
    else this.#timer ??= setTimeout(() => this.#write(), BATCH_MS);
  }

  /** Appends a person's decision to the chain at once: the deciding process may exit right away. */
  decided(approvals: readonly Approval[]): void {
    for (const approval of approvals) this.record(decisionEntry(this.nextCallId(), approval));
    this.flush();
  }

  /** Records what was redacted in a program's output, if anything. */
  async redacted(run: RunContext, redactions: AuditEntry['redactions']): Promise<void> {
    if (Object.keys(redactions).length === 0) return;
    await this.refusal();
    this.record(outputEntry(this.nextCallId(), run, redactions));
    this.flush();
  }

  /** Appends all pending records to the chain now. */
  flush(): void {
    if (this.#pending.length > 0) this.#write();
  }

  /** Writes and seals everything. Calls still in flight stay in the journal. */
  async close(): Promise<void> {
    await this.#opening;
    this.flush();
    clearTimeout(this.#openTimer);
    clearTimeout(this.#sealTimer);
    await this.#sealing;
    await this.#seal();
    this.#journal?.close(this.#pending.length + this.#open.size + this.#recorded.size === 0);
    this.#journal = undefined;
    this.#store = undefined;
  }

  async #openStore(): Promise<void> {
    if (this.#problem !== undefined && Date.now() - this.#lastTryAt < RETRY_MS) return;
    this.#opening ??= (async () => {
      try {
        const store = await this.#options.open();
        // Before the first call, so that a full disk is detected now.
        store.probe();
        store.adoptOrphans();
        this.#journal = await store.openJournal(this.#host);
        this.#store = store;
        this.#problem = undefined;
        // The journal of a host that was killed.
        this.#sealSoon();
      } catch (error) {
        this.#fail(error);
      }
    })().finally(() => {
      this.#opening = undefined;
    });
    await this.#opening;
  }

  #write(sent: readonly AuditEntry[] = []): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#store === undefined) return;
    const isLong = (this.#journal?.bytes ?? 0) > MAX_JOURNAL_BYTES;
    const open = isLong ? [...this.#open.values()].map(({ entry }) => entry) : sent;
    try {
      this.#store.append([...open, ...this.#pending]);
      this.#pending = [];
      for (const { callId } of open) if (this.#open.delete(callId)) this.#recorded.add(callId);
      if (this.#open.size === 0) this.#journal?.empty();
      this.#problem = undefined;
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
      await this.#store?.seal();
      if (this.#lastSealAt - this.#lastPruneAt < PRUNE_EVERY_MS) return;
      this.#lastPruneAt = this.#lastSealAt;
      this.#store?.prune(Date.now() - this.#options.retentionMs);
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    const problem = error instanceof Error ? error.message : String(error);
    if (this.#problem !== problem) this.#options.warn?.(`calls cannot be recorded: ${problem}`);
    this.#problem = problem;
    this.#lastTryAt = Date.now();
  }

  #refusal(): GuestError | undefined {
    return this.#problem === undefined || !this.#options.isRequired ? undefined : refused(this.#problem);
  }
}

function outcomeOf({ callId, resultBytes, durationMs, verdict, approval, redactions }: AuditEntry): CallOutcome {
  return { callId, resultBytes, durationMs, verdict, approval, redactions };
}

function refused(problem: string): GuestError {
  return {
    errorClass: 'ToolCallError',
    message: `no call is made, because calls cannot be recorded: ${problem}`,
    hint: 'Tell the user: codemode audit verify says more. With audit.required: false calls are made without a record.',
  };
}
