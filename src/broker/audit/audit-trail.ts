import { randomBytes } from 'node:crypto';
import type { Approval } from '../../domain/approval.js';
import type { AuditEntry, CallOutcome } from '../../domain/audit.js';
import type { GuestError } from '../../domain/execution.js';
import type { AuditStore } from '../../store/audit.js';
import type { AuditJournal } from '../../store/audit-journal.js';
import type { RunContext } from '../run-context.js';
import { decisionEntry, outputEntry } from './other-entries.js';

export interface AuditTrailOptions {
  /** Opens the store when it is first needed: its driver takes 50 ms to load. Whoever gives it closes the file. */
  readonly open: () => Promise<AuditStore>;
  /** Without a record there is no call. */
  readonly isRequired: boolean;
  readonly retentionMs: number;
  /** For whoever looks after the program. */
  readonly warn?: (line: string) => void;
}

/** Outcomes wait at most so long in the journal before they are put into the chain, many in one transaction. */
const BATCH_MS = 20;
const MAX_BATCH = 500;
/** A call that is under way for longer than this gets a record of its own in the chain, where it is sealed. */
const SENT_RECORD_AFTER_MS = 250;
/** A journal that is never empty, because there is always a call under way, is emptied when it is so long. */
const MAX_JOURNAL_BYTES = 1024 * 1024;
/** More than this is not kept in memory while the store cannot be written. */
const MAX_PENDING = 20_000;
/** How often a store that could not be written is tried again. */
const RETRY_MS = 1_000;
/** Between two seals; each makes the disk write. */
const SEAL_EVERY_MS = 250;
const PRUNE_EVERY_MS = 6 * 3_600_000;

/**
 * The record of calls, as they happen. A call is in the journal before it is sent, and its outcome before its program
 * hears of it: a host that is killed loses neither. From the journal both go into the chain in batches, the outcome
 * always, the fact that it was sent only where the call takes long or its host was killed.
 */
export class AuditTrail {
  readonly #options: AuditTrailOptions;
  /** With which the ids of its calls begin. */
  readonly #host = randomBytes(9).toString('base64url');
  #calls = 0;
  #opening: Promise<void> | undefined;
  #store: AuditStore | undefined;
  #journal: AuditJournal | undefined;
  /** Calls under way that are in the journal only, oldest first, and since when. */
  readonly #open = new Map<string, { readonly entry: AuditEntry; readonly sinceMs: number }>();
  /** Calls under way that are in the chain. */
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

  /** Makes ready. Returns why no call may be made, where that is so. */
  async refusal(): Promise<GuestError | undefined> {
    if (this.#store === undefined) await this.#openStore();
    if (this.#problem !== undefined && Date.now() - this.#lastTryAt >= RETRY_MS) this.#write();
    return this.#refusal();
  }

  /** Of the arguments of a call, as JSON. Nothing can be said before `refusal` was asked. */
  digest(json: string): string {
    return this.#store?.argumentsDigest(json) ?? '';
  }

  nextCallId(): string {
    return `${this.#host}.${++this.#calls}`;
  }

  /** A call leaves now; its `verdict` is `sent`. Returns why it must not, where that cannot be written down. */
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

  /** How a call has ended. Of one that was sent it outlives this process when it returns. */
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

  /** What a person has decided, now in the chain: the process that decides may end at once. */
  decided(approvals: readonly Approval[]): void {
    for (const approval of approvals) this.record(decisionEntry(this.nextCallId(), approval));
    this.flush();
  }

  /** What was redacted from the output of a program, where something was. */
  async redacted(run: RunContext, redactions: AuditEntry['redactions']): Promise<void> {
    if (Object.keys(redactions).length === 0) return;
    await this.refusal();
    this.record(outputEntry(this.nextCallId(), run, redactions));
    this.flush();
  }

  /** Puts what is waiting into the chain, now. */
  flush(): void {
    if (this.#pending.length > 0) this.#write();
  }

  /** Writes and seals everything. What is still under way is found in the journal. */
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
        // Before the first call, not after it: a full disk is found out now.
        store.probe();
        store.adoptOrphans();
        this.#journal = await store.openJournal(this.#host);
        this.#store = store;
        this.#problem = undefined;
        // Of a host that was killed before it could.
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

  /** Calls that take long are put into the chain, where it is noticed if somebody takes them away. */
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

  /** What is written while a seal is under way is sealed with the next. */
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
