import type { CallerQuotas } from '../../../domain/quotas.js';
import type { Database, Statement } from '../database.js';

/** Ended runs kept for all callers together. The caller with the most loses its oldest. Suspended runs stay. */
const MAX_ENDED_RUNS = 20_000;
/** Bytes of responses and recordings kept on disk for one caller's ended runs. The oldest are deleted first. */
const MAX_ENDED_BYTES = 1024 * 1024 * 1024;
/** Bytes added before they are summed up. Quick runs have few, and deleting this much blocks the host for about 20 ms. */
const SUM_EVERY_BYTES = 16 * 1024 * 1024;
/** Pruning runs after this many ends, so up to this many extra runs may be stored. Deleting them blocks the host for about 1 ms. */
const PRUNE_EVERY = 50;
/** Callers with their own counter of ended runs. */
const MAX_CALLERS_COUNTED = 1_000;

/** Bounds the history of ended runs. */
export class RunPruning {
  readonly #quotas: CallerQuotas;
  readonly #maxEndedBytes: number;
  readonly #pruneModules: Statement<never>;
  readonly #prune: Statement<never>;
  readonly #pruneBytes: Statement<never>;
  readonly #ended: Statement<{ count: number }>;
  readonly #greediest: Statement<{ caller: string; count: number }>;
  readonly #ends = new Map<string, { readonly count: number; readonly bytes: number }>();

  constructor(database: Database, quotas: CallerQuotas, maxEndedBytes = MAX_ENDED_BYTES) {
    this.#quotas = quotas;
    this.#maxEndedBytes = maxEndedBytes;
    this.#pruneModules = database.prepare(
      'DELETE FROM run_modules WHERE NOT EXISTS (SELECT 1 FROM runs WHERE runs.modules = run_modules.digest)',
    );
    // Compares only times, which are in the index. Runs of the same millisecond all stay.
    this.#prune = database.prepare(
      `DELETE FROM runs WHERE caller = ?1 AND state <> 'suspended' AND created_at <
        (SELECT created_at FROM runs WHERE caller = ?1 ORDER BY created_at DESC LIMIT 1 OFFSET ?2)`,
    );
    this.#pruneBytes = database.prepare(
      `DELETE FROM runs WHERE rowid IN (SELECT row FROM (SELECT rowid AS row,
          sum(coalesce(length(response), 0) + coalesce(length(recording), 0)) OVER (ORDER BY created_at DESC, rowid DESC) AS bytes
          FROM runs WHERE caller = ? AND state <> 'suspended') WHERE bytes > ?)`,
    );
    this.#ended = database.prepare('SELECT count(*) AS count FROM runs');
    this.#greediest = database.prepare(
      'SELECT caller, count(*) AS count FROM runs GROUP BY caller ORDER BY count DESC LIMIT 1',
    );
  }

  /** Deletes the oldest runs of this caller and, if all callers together have too many, the oldest of the caller with the most. */
  after(caller: string, added: number): void {
    if (this.#ends.size > MAX_CALLERS_COUNTED) this.#ends.clear();
    const { count: ends, bytes: before } = this.#ends.get(caller) ?? { count: 0, bytes: 0 };
    const isMuch = before + added > Math.min(SUM_EVERY_BYTES, this.#maxEndedBytes / 2);
    this.#ends.set(caller, { count: ends + 1, bytes: isMuch ? 0 : before + added });
    if (isMuch) this.#pruneBytes.run(caller, this.#maxEndedBytes);
    if (ends % PRUNE_EVERY !== 0) return;
    this.#prune.run(caller, this.#quotas.limits.history - 1);
    const tooMany = (this.#ended.get()?.count ?? 0) - MAX_ENDED_RUNS;
    const greediest = tooMany > 0 ? this.#greediest.get() : undefined;
    if (greediest !== undefined) this.#prune.run(greediest.caller, Math.max(1, greediest.count - tooMany) - 1);
    this.#pruneModules.run();
  }
}
