import { randomBytes } from 'node:crypto';
import type { Approval } from '../../domain/approval.js';
import type { AuditEntry } from '../../domain/audit.js';
import type { GuestError } from '../../domain/run.js';
import type { Awaitable } from '../../lib/async/awaitable.js';
import type { AuditStore, AuditWriter } from '../../store/audit.js';
import type { RunContext } from '../run-context.js';
import { decisionEntry, outputEntry, type Revocation, revocationEntry } from './other-entries.js';

export interface AuditTrailOptions {
  /** Opens the store at its first use: its driver takes 50 ms to load. The function's owner closes the store. */
  readonly open: () => Promise<AuditStore>;
  /** Refuse calls that cannot be recorded. */
  readonly isRequired: boolean;
  readonly retentionMs: number;
  /** Shown to the operator. */
  readonly warn?: (line: string) => void;
}

/** The most records kept in memory while the store cannot be opened. */
const MAX_UNOPENED = 20_000;
/** How long to wait before retrying a store that could not be written. */
const RETRY_MS = 1_000;

/**
 * Records calls as they happen: a call before it is sent, and its outcome before its program gets the answer. The store's
 * writer decides how the records survive a killed host.
 */
export class AuditTrail {
  readonly #options: AuditTrailOptions;
  /** Prefix of the ids of its calls. */
  readonly #host = randomBytes(9).toString('base64url');
  #calls = 0;
  #opening: Promise<void> | undefined;
  #store: AuditStore | undefined;
  #writer: AuditWriter | undefined;
  /** Entries that ended while the store could not be opened. */
  #unopened: AuditEntry[] = [];
  #problem: string | undefined;
  #lastTryAt = 0;

  constructor(options: AuditTrailOptions) {
    this.#options = options;
  }

  /** Whether the next call can be recorded without opening or retrying anything. */
  get isOpen(): boolean {
    return this.#writer !== undefined && this.#problem === undefined;
  }

  /** Opens the store. Returns the reason if no call may be made. */
  async refusal(): Promise<GuestError | undefined> {
    if (this.#writer === undefined) await this.#openStore();
    else if (this.#problem !== undefined && Date.now() - this.#lastTryAt >= RETRY_MS) await this.#writer.flush();
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
  sending(entry: AuditEntry): Awaitable<GuestError | undefined> {
    try {
      const written = this.#writer?.sending(entry);
      return written instanceof Promise
        ? written.then(
            () => undefined,
            () => this.#refusal(),
          )
        : undefined;
    } catch {
      return this.#refusal();
    }
  }

  /** Records the outcome of a call. For a call that was sent, the record survives a crash once this returns or resolves. */
  record(entry: AuditEntry): Awaitable<void> {
    if (this.#writer !== undefined) return this.#writer.ended(entry);
    this.#unopened.push(entry);
    if (this.#unopened.length > MAX_UNOPENED) this.#unopened.shift();
  }

  /** Appends a person's decision to the chain at once: the deciding process may exit right away. */
  async decided(approvals: readonly Approval[]): Promise<void> {
    await Promise.all(approvals.map((approval) => this.record(decisionEntry(this.nextCallId(), approval))));
    await this.flush();
  }

  /** Appends the end of a grant to the chain at once, for the same reason. */
  async revoked(approval: Approval, revocation: Revocation): Promise<void> {
    await this.record(revocationEntry(this.nextCallId(), approval, revocation));
    await this.flush();
  }

  /** Records what was redacted in a program's output, if anything. */
  async redacted(run: RunContext, redactions: AuditEntry['redactions']): Promise<void> {
    if (Object.keys(redactions).length === 0) return;
    await this.refusal();
    await this.record(outputEntry(this.nextCallId(), run, redactions));
    await this.flush();
  }

  /** Appends all pending records to the chain now. */
  flush(): Awaitable<void> {
    return this.#writer?.flush();
  }

  /** Writes and seals everything. Calls still in flight are left for the next host to find. */
  async close(): Promise<void> {
    await this.#opening;
    await this.#writer?.close();
    this.#writer = undefined;
    this.#store = undefined;
  }

  async #openStore(): Promise<void> {
    if (this.#problem !== undefined && Date.now() - this.#lastTryAt < RETRY_MS) return;
    this.#opening ??= this.#openNow().finally(() => {
      this.#opening = undefined;
    });
    await this.#opening;
  }

  async #openNow(): Promise<void> {
    try {
      const store = await this.#options.open();
      // Before the first call, so that a full disk is detected now.
      await store.probe();
      await store.adoptOrphans();
      const { retentionMs } = this.#options;
      const writer = await store.openWriter(this.#host, { retentionMs, onProblem: (error) => this.#note(error) });
      this.#store = store;
      this.#writer = writer;
      this.#problem = undefined;
      const late = this.#unopened;
      this.#unopened = [];
      for (const entry of late) await writer.ended(entry);
    } catch (error) {
      this.#note(error);
    }
  }

  #note(error: unknown): void {
    if (error === undefined) {
      this.#problem = undefined;
      return;
    }
    const problem = error instanceof Error ? error.message : String(error);
    if (this.#problem !== problem) this.#options.warn?.(`calls cannot be recorded: ${problem}`);
    this.#problem = problem;
    this.#lastTryAt = Date.now();
  }

  #refusal(): GuestError | undefined {
    return this.#problem === undefined || !this.#options.isRequired ? undefined : refused(this.#problem);
  }
}

function refused(problem: string): GuestError {
  return {
    errorClass: 'ToolCallError',
    message: `no call is made, because calls cannot be recorded: ${problem}`,
    hint: 'Tell the user: codemode audit verify says more. With audit.required: false calls are made without a record.',
  };
}
