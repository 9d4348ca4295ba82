import type { AuditEntry } from '../../../domain/audit.js';
import { type Deferred, deferred } from '../../../lib/async/deferred.js';
import type { AuditWriter, AuditWriterOptions } from '../../audit.js';
import type { AuditKeys } from '../../audit-keys.js';
import type { Postgres } from '../database/connection.js';
import { beginChain, genesisOf, insertRecords, type LinkedRecord, linkAll } from './audit-chain.js';

export interface ChainWriterParts {
  readonly postgres: Postgres;
  readonly keys: AuditKeys;
  /** The id of this host among those of the database. */
  readonly hostId: string;
  /** Schedules an anchor, which hashes the ends of all chains together. */
  readonly anchorSoon: () => void;
}

interface Waiting {
  readonly entry: AuditEntry;
  readonly written: Deferred<void>;
}

const MAX_BATCH = 500;
/** The most records kept in memory while the database cannot be reached. */
const MAX_WAITING = 20_000;

/**
 * Appends to the chain of this host. Nobody else appends to it while the host is up. A call is in the chain before it is sent, and
 * its outcome before its program gets the answer. Calls that arrive while a batch is written form the next batch.
 */
export class ChainWriter implements AuditWriter {
  readonly #parts: ChainWriterParts;
  readonly #options: AuditWriterOptions;
  readonly #host: string;
  /** Calls whose outcome is not in the chain yet. */
  readonly #open = new Set<string>();
  #chains = 0;
  #chain: string;
  #head;
  #waiting: Waiting[] = [];
  /** Records that may or may not have been written. Nothing else can take their place in the chain. */
  #unconfirmed: readonly LinkedRecord[] = [];
  #writing: Promise<void> | undefined;
  #hasProblem = false;

  private constructor(parts: ChainWriterParts, host: string, options: AuditWriterOptions) {
    this.#parts = parts;
    this.#options = options;
    this.#host = host;
    this.#chain = host;
    this.#head = genesisOf(host);
  }

  static async open(parts: ChainWriterParts, host: string, options: AuditWriterOptions): Promise<ChainWriter> {
    const writer = new ChainWriter(parts, host, options);
    await beginChain(parts.postgres, host, parts.hostId, parts.keys);
    return writer;
  }

  async sending(entry: AuditEntry): Promise<void> {
    this.#open.add(entry.callId);
    // A copy: the entry changes when the call ends.
    await this.#add({ ...entry });
  }

  async ended(entry: AuditEntry): Promise<void> {
    this.#open.delete(entry.callId);
    await this.#add({ ...entry }).catch(() => {});
  }

  async flush(): Promise<void> {
    if (this.#waiting.length + this.#unconfirmed.length === 0 && !this.#hasProblem) return this.#writing;
    await this.#write();
  }

  async close(): Promise<void> {
    await this.flush();
    if (this.#open.size + this.#waiting.length + this.#unconfirmed.length > 0) return;
    await this.#parts.postgres
      .change('UPDATE codemode.audit_chains SET is_over = true WHERE chain = $1', [this.#chain])
      // Another host closes the chain once this host counts as gone.
      .catch(() => {});
  }

  /** Resolves when the entry is in the chain. Rejects if it could not be written; it is then written with the next records. */
  #add(entry: AuditEntry): Promise<void> {
    const written = deferred<void>();
    this.#waiting.push({ entry, written });
    if (this.#waiting.length > MAX_WAITING) this.#waiting.shift();
    void this.#write();
    return written.promise;
  }

  /** One batch at a time. Never rejects. */
  #write(): Promise<void> {
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
    });
    return this.#writing;
  }

  async #writeAll(): Promise<void> {
    do {
      const batch = this.#waiting.splice(0, MAX_BATCH);
      const linked = linkAll(
        batch.map(({ entry }) => entry),
        this.#unconfirmed.at(-1)?.head ?? this.#head,
        this.#parts.keys,
      );
      this.#unconfirmed = [...this.#unconfirmed, ...linked];
      try {
        await this.#insert();
        for (const { written } of batch) written.resolve();
        if (this.#hasProblem) this.#options.onProblem(undefined);
        this.#hasProblem = false;
        this.#parts.anchorSoon();
      } catch (error) {
        this.#hasProblem = true;
        this.#options.onProblem(error);
        for (const { written } of [...batch, ...this.#waiting]) written.reject(error);
        // The entries are retried with the next record. The calls that waited for them have failed.
        this.#waiting = this.#waiting.map(({ entry }) => ({ entry, written: deferred<void>() }));
        for (const { written } of this.#waiting) written.promise.catch(() => {});
        return;
      }
    } while (this.#waiting.length > 0);
  }

  async #insert(): Promise<void> {
    const records = this.#unconfirmed;
    const last = records.at(-1);
    if (last === undefined) return;
    const { postgres } = this.#parts;
    const count = await insertRecords(postgres, this.#chain, records);
    if (count < records.length) await this.#moveRest(records);
    else this.#head = last.head;
    this.#unconfirmed = [];
  }

  /** Some records were written before, or another host closed the chain because this host was silent. In that case begins a new chain. */
  async #moveRest(records: readonly LinkedRecord[]): Promise<void> {
    const { postgres, keys, hostId } = this.#parts;
    const found = await postgres.query<{ hash: string }>(
      'SELECT hash FROM codemode.audit WHERE chain = $1 AND number >= $2',
      [this.#chain, records[0]?.head.count ?? 0],
    );
    const known = new Set(found.map(({ hash }) => hash));
    const rest = records.filter(({ head }) => !known.has(head.hash)).map(({ entry }) => entry);
    if (rest.length === 0) {
      this.#head = records.at(-1)?.head ?? this.#head;
      return;
    }
    const chain = `${this.#host}-${++this.#chains}`;
    const genesis = await beginChain(postgres, chain, hostId, keys);
    const linked = linkAll(rest, genesis, keys);
    this.#chain = chain;
    this.#unconfirmed = linked;
    await insertRecords(postgres, chain, linked);
    this.#head = linked.at(-1)?.head ?? genesis;
  }
}
