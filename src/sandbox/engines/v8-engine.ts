import { availableParallelism } from 'node:os';
import type { EngineChoice } from '../../domain/engine.js';
import type { CallerId } from '../../domain/run.js';
import type { Cancellation } from '../../lib/async/cancellation.js';
import { engineOf, type Journal } from '../journal/journal.js';
import type { CallerAccount } from '../workers/caller-account.js';
import type { Pool } from '../workers/pool.js';
import { WorkerAssignment } from '../workers/worker-assignment.js';
import type { Engine, EnginePlace, HandOver, HandOverEvent, PlacedRun } from './engine.js';
import type { V8Processes } from './v8-processes.js';

/** The core of the run in V8. With one more for the next spare, no run was handed over early while a spare started on two cores. */
const CORES_OF_HAND_OVER = 1;

/**
 * Both engines. A run is placed where its journal says, and a run that computes for long in QuickJS may be handed over to V8. See
 * docs/decisions/0062-v8-by-replay.md.
 */
export class BothEngines implements Engine, HandOver {
  readonly #quickJs: Engine;
  readonly #pool: Pool;
  readonly #processes: V8Processes;
  readonly #choice: EngineChoice;
  readonly #runnable: () => number;
  readonly #counts: Record<HandOverEvent, number> = {
    ...{ offered: 0, won: 0, late: 0, diverged: 0, unfit: 0, lost: 0, failed: 0 },
  };

  /** `runnable`: tasks of the machine that have a core or wait for one, including this process. */
  constructor(quickJs: Engine, pool: Pool, processes: V8Processes, choice: EngineChoice, runnable: () => number) {
    this.#quickJs = quickJs;
    this.#pool = pool;
    this.#processes = processes;
    this.#choice = choice;
    this.#runnable = runnable;
  }

  /** Hand-over outcomes since the start. */
  get figures(): Readonly<Record<HandOverEvent, number>> {
    return { ...this.#counts };
  }

  get handOver(): HandOver {
    return this;
  }

  accountOf(caller: CallerId): CallerAccount {
    return this.#quickJs.accountOf(caller);
  }

  async place(run: PlacedRun, cancellation: Cancellation, hadPlace: boolean): Promise<EnginePlace> {
    if (engineOf(run.journal) === 'quickjs') return this.#quickJs.place(run, cancellation, hadPlace);
    const worker = await this.#processes.place(run.caller, run.journal.limits.maxMemoryBytes, cancellation);
    return new WorkerAssignment(worker, run, this.#processes);
  }

  /** Only QuickJS supports blocking calls and a CPU quota below one core. */
  choiceFor({ blocking, script, limits, engine = this.#choice }: Journal): EngineChoice {
    return blocking || script !== undefined || (limits.cpuQuota ?? 1) < 1 ? 'quickjs' : engine;
  }

  get isReady(): boolean {
    return this.#processes.isReady;
  }

  get isBusy(): boolean {
    const own = [...this.#pool.workers, ...this.#processes.workers].reduce((sum, { backlog }) => sum + backlog, 0);
    // Not counted: the run that asks, whose worker is paused, this process, and the spares being started.
    const others = Math.max(own - 1, this.#runnable() - 1 - this.#processes.sparesInStart);
    return others > availableParallelism() - CORES_OF_HAND_OVER;
  }

  prepare(run: PlacedRun): Promise<void> {
    return this.#processes.prepare(run.caller, run.journal.limits.maxMemoryBytes);
  }

  offer(run: PlacedRun): Promise<EnginePlace> | undefined {
    const worker = this.#processes.offer(run.caller, run.journal.limits.maxMemoryBytes);
    if (worker === undefined) return undefined;
    this.count('offered');
    return worker.then((ready) => new WorkerAssignment(ready, run, this.#processes));
  }

  count(what: HandOverEvent): void {
    this.#counts[what]++;
  }

  async close(): Promise<void> {
    await this.#processes.close();
  }
}
