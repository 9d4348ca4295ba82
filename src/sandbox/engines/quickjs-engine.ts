import type { CallerId } from '../../domain/run.js';
import type { Cancellation } from '../../lib/async/cancellation.js';
import type { CallerAccount } from '../workers/caller-account.js';
import type { Pool } from '../workers/pool.js';
import { WorkerAssignment } from '../workers/worker-assignment.js';
import type { Engine, EnginePlace, PlacedRun } from './engine.js';

/** QuickJS in the workers of a pool: many runs of one caller share a worker. */
export class QuickJsEngine implements Engine {
  readonly #pool: Pool;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  accountOf(caller: CallerId): CallerAccount {
    return this.#pool.accountOf(caller);
  }

  async place(run: PlacedRun, cancellation: Cancellation, hadPlace: boolean): Promise<EnginePlace> {
    const worker = await this.#pool.place(run.caller, run.journal.blocking, cancellation, hadPlace);
    return new WorkerAssignment(worker, run, this.#pool);
  }
}
