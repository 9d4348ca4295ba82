import type { AuditEntry } from '../../domain/audit.js';
import type { GuestError } from '../../domain/execution.js';
import type { AuditStore } from '../../store/audit.js';

export interface AuditTrailOptions {
  /** Opens the store when it is first needed: its driver takes 50 ms to load. Whoever gives it closes the file. */
  readonly open: () => Promise<AuditStore>;
  /** Without a record there is no call. */
  readonly isRequired: boolean;
  readonly retentionMs: number;
  /** For whoever looks after the program. */
  readonly warn?: (line: string) => void;
}

/** Calls that only read wait at most so long for their record to be written; a killed host loses that much. */
const BATCH_MS = 20;
const MAX_BATCH = 500;
/** More than this is not kept in memory while the store cannot be written. */
const MAX_PENDING = 20_000;
/** How often a store that could not be written is tried again. */
const RETRY_MS = 1_000;
/** Between two seals; each makes the disk write. */
const SEAL_EVERY_MS = 250;
const PRUNE_EVERY_MS = 6 * 3_600_000;

/**
 * Gathers the records of calls and writes them in batches, each in one transaction: those of calls that may have changed
 * something before their program hears of it, the others within 20 ms, and all of a run before its answer is given.
 */
export class AuditTrail {
  readonly #options: AuditTrailOptions;
  #opening: Promise<void> | undefined;
  #store: AuditStore | undefined;
  #pending: AuditEntry[] = [];
  #timer: NodeJS.Timeout | undefined;
  #turn: Promise<void> | undefined;
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
    if (this.#store === undefined) await this.#open();
    if (this.#problem !== undefined && Date.now() - this.#lastTryAt >= RETRY_MS) this.#write();
    return this.#problem === undefined || !this.#options.isRequired ? undefined : refused(this.#problem);
  }

  /** Of the arguments of a call, as JSON. Nothing can be said before `refusal` was asked. */
  digest(json: string): string {
    return this.#store?.argumentsDigest(json) ?? '';
  }

  /** Keeps a record. With `isUrgent` it is written when the promise resolves, together with others of the same moment. */
  record(entry: AuditEntry, isUrgent: boolean): Promise<void> | undefined {
    this.#pending.push(entry);
    if (this.#pending.length > MAX_PENDING) this.#pending.shift();
    if (isUrgent) {
      this.#turn ??= new Promise((resolve) => {
        setImmediate(() => {
          this.#turn = undefined;
          this.#write();
          resolve();
        });
      });
      return this.#turn;
    }
    if (this.#pending.length >= MAX_BATCH) this.#write();
    else this.#timer ??= setTimeout(() => this.#write(), BATCH_MS);
    return undefined;
  }

  /** Writes what is waiting, now. */
  flush(): void {
    if (this.#pending.length > 0) this.#write();
  }

  /** Writes and seals everything. */
  async close(): Promise<void> {
    await this.#opening;
    this.flush();
    clearTimeout(this.#sealTimer);
    await this.#sealing;
    await this.#seal();
    this.#store = undefined;
  }

  async #open(): Promise<void> {
    if (this.#problem !== undefined && Date.now() - this.#lastTryAt < RETRY_MS) return;
    this.#opening ??= (async () => {
      try {
        const store = await this.#options.open();
        // Before the first call, not after it: a full disk is found out now.
        store.probe();
        this.#store = store;
        this.#problem = undefined;
      } catch (error) {
        this.#fail(error);
      }
    })().finally(() => {
      this.#opening = undefined;
    });
    await this.#opening;
  }

  #write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#store === undefined) return;
    const batch = this.#pending;
    try {
      this.#store.append(batch);
      this.#pending = [];
      this.#problem = undefined;
      this.#sealSoon();
    } catch (error) {
      this.#fail(error);
    }
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
}

function refused(problem: string): GuestError {
  return {
    errorClass: 'ToolCallError',
    message: `no call is made, because calls cannot be recorded: ${problem}`,
    hint: 'Tell the user: codemode audit verify says more. With audit.required: false calls are made without a record.',
  };
}
