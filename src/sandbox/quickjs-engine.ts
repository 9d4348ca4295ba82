import type { CallerId } from '../domain/run.js';
import type { Cancellation } from '../lib/cancellation.js';
import type { CallerAccount } from './caller-account.js';
import type { Engine, EnginePlace, PlacedRun } from './engine.js';
import type { Pool } from './pool.js';
import { WorkerAssignment } from './worker-assignment.js';

/** QuickJS in the workers of a pool: many runs of one caller share a worker. */
export class QuickJsEngine implements Engine {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  accountOf(caller: CallerId): CallerAccount {
    return this.#pool.accountOf(caller);
  }

  async place(run: PlacedRun, cancellation: Cancellation, isUnderWay: boolean): Promise<EnginePlace> {
    const worker = await this.#pool.place(run.caller, run.journal.blocking, cancellation, isUnderWay);
    return new WorkerAssignment(worker, run, this.#pool);
  }
}
