import { availableParallelism } from 'node:os';
import { HostError } from '../../domain/errors.js';
import { CallerQuotas } from '../../domain/quotas.js';
import type { CallerId } from '../../domain/run.js';
import type { Cancellation } from '../../lib/async/cancellation.js';
import { SpareProcesses } from '../engines/spare-processes.js';
import { LibraryDigests } from '../journal/library-digests.js';
import { BusyPoll } from './busy-poll.js';
import { CallerAccount } from './caller-account.js';
import { CHECK_EVERY_MS, isFree, isOverdue, workersToReclaim } from './reclaim-workers.js';
import { type QueuedRun, RunQueue } from './run-queue.js';
import { RunWorker, type WorkerOwner } from './run-worker.js';
import type { WorkerProcess } from './worker-process.js';

export interface PoolOptions {
  /** Idle processes that are kept as spares and belong to no caller; 0: none is started ahead of need. */
  readonly min: number;
  readonly max: number;
  /** Of these, the most that may belong to blocking programs at once; absent: all. */
  readonly maxBlocking?: number;
  /** Of these, the most that one caller may have: a blocking program cannot be moved for another caller. Absent: all. */
  readonly maxBlockingPerCaller?: number;
  readonly idleMs: number;
  /** Programs queued for a worker; one more is refused. */
  readonly maxQueued: number;
  /** Programs in one worker at once. Each is an instance of about 3 MB. */
  readonly maxRunsPerWorker: number;
  /** Programs after which a worker is replaced, idle or not in use. */
  readonly maxRunsInLife: number;
  /** The quotas of each caller; absent: the defaults. */
  readonly quotas?: CallerQuotas;
}

/** What a new worker is reserved for; `nobody` if it is started ahead of need. */
type ReservedFor = 'shared' | 'blocking' | 'nobody';

/** If this many workers compute, one more would only take their cores. */
const CORES = availableParallelism();

/**
 * Assigns programs to processes. A process serves one caller from its first program to its end: whatever a program does to it, the
 * next program in it belongs to the same caller. Fresh spares make a new caller cheap.
 */
export class Pool implements WorkerOwner {
  readonly libraries = new LibraryDigests();
  readonly #options: PoolOptions;
  readonly #quotas: CallerQuotas;
  readonly #processes: SpareProcesses;
  readonly #workers = new Set<RunWorker>();
  readonly #queue: RunQueue;
  readonly #busyPoll: BusyPoll;
  readonly #sweeper: NodeJS.Timeout;
  #turnTimer: NodeJS.Timeout | undefined;
  #turnsEnded = 0;
  #starting = 0;
  /** Workers that are starting for blocking programs, by caller. */
  readonly #startingBlocking = new Map<CallerId, number>();
  /** Shared workers that are starting, by caller: further runs of that caller wait for them instead of starting more. */
  readonly #startingFor = new Map<CallerId, number>();
  #isClosed = false;

  /** `runnable`: tasks of the machine that have a core or wait for one, including this process. */
  constructor(options: PoolOptions, start: () => Promise<WorkerProcess>, runnable: () => number) {
    this.#options = options;
    this.#busyPoll = new BusyPoll(runnable);
    this.#quotas = options.quotas ?? new CallerQuotas();
    this.#queue = new RunQueue(options.maxQueued);
    this.#processes = new SpareProcesses(start, options.min > 0);
    this.#sweeper = setInterval(() => this.#sweep(), Math.max(50, Math.min(1_000, options.idleMs / 2)));
    this.#sweeper.unref();
  }

  /** The account for the memory of one program of a caller. */
  accountOf(caller: CallerId): CallerAccount {
    return new CallerAccount(this.#quotas, caller);
  }

  get size(): number {
    return this.#workers.size + this.#starting;
  }

  /** Programs queued for a worker. */
  get queueLength(): number {
    return this.#queue.length;
  }

  /** Current numbers, and totals since the start. */
  get figures() {
    const running = this.workers.reduce((sum, { occupancy }) => sum + occupancy, 0);
    const { count: spares, started } = this.#processes;
    return {
      now: { processes: this.size, spares, running, queued: this.queueLength },
      sinceStart: { started, turnsEnded: this.#turnsEnded, refused: this.#queue.refused },
    };
  }

  /** All workers except spares. */
  get workers(): readonly RunWorker[] {
    return [...this.#workers];
  }

  /** Starts the minimum of processes, so that first programs do not wait for them. */
  async warm(): Promise<void> {
    await this.#processes.keep(Math.max(1, this.#options.min - this.size));
  }

  /**
   * A worker of this caller with a place reserved for one more program. The program is admitted there, or `notNeeded` is called.
   * `hadPlace`: the program had a worker before. Throws `sandbox_busy` if the queue is full.
   */
  async place(caller: CallerId, isBlocking: boolean, cancellation: Cancellation, hadPlace = false): Promise<RunWorker> {
    if (this.#isClosed) throw new HostError('shutting_down', 'the sandbox is shutting down');
    if (isBlocking && !this.#mayBlock(caller)) return this.#wait({ caller, isBlocking, hadPlace }, cancellation);
    const best = this.#best(caller, isBlocking);
    if (best !== undefined && !(best.isStalled && this.#mayGetAnother(caller))) {
      // Good enough for this program. The next one will find a worker that is not busy.
      if (best.backlog > 0 && !this.#startingFor.has(caller) && this.#mayGrow() && this.#hasFreeCore())
        void this.#grow(caller, 'nobody').catch(() => {});
      return this.#claim(best, isBlocking);
    }
    if (!isBlocking && this.#startingFor.has(caller)) return this.#wait({ caller, isBlocking, hadPlace }, cancellation);
    // Queued programs come first.
    if (this.#mayGrow() || (this.#queue.length === 0 && this.#makeRoom(caller)))
      return this.#grow(caller, isBlocking ? 'blocking' : 'shared');
    return this.#wait({ caller, isBlocking, hadPlace }, cancellation);
  }

  /** Whether another worker would serve a program sooner than this one. */
  hasBetterThan(worker: RunWorker): boolean {
    if (this.#mayGetAnother(worker.caller)) return true;
    for (const other of this.#workers)
      if (other !== worker && this.#isOpenFor(other, worker.caller) && other.backlog === 0) return true;
    return false;
  }

  /** Gives back a place that `place` reserved. */
  notNeeded(worker: RunWorker): void {
    worker.abandon();
    if (worker.occupancy === 0) worker.isExclusive = false;
    this.#serveQueue();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#sweeper);
    clearTimeout(this.#turnTimer);
    this.#queue.close(new HostError('shutting_down', 'the sandbox is shutting down'));
    await Promise.all([this.#processes.close(), ...[...this.#workers].map((worker) => worker.close())]);
    this.#workers.clear();
  }

  #isOpenFor(worker: RunWorker, caller: CallerId): boolean {
    return (
      worker.caller === caller &&
      !worker.isLost &&
      !worker.isDoomed &&
      !worker.isRetiring &&
      !worker.isExclusive &&
      worker.occupancy < this.#options.maxRunsPerWorker
    );
  }

  #best(caller: CallerId, isBlocking: boolean): RunWorker | undefined {
    let best: RunWorker | undefined;
    for (const worker of this.#workers) {
      if (!this.#isOpenFor(worker, caller)) continue;
      // A cancelled program may still be computing in it: the worker is killed if that program does not stop.
      if (isBlocking && (worker.occupancy > 0 || worker.backlog > 0)) continue;
      if (best === undefined || load(worker) < load(best)) best = worker;
    }
    return best;
  }

  #claim(worker: RunWorker, isBlocking: boolean): RunWorker {
    worker.reserve();
    if (isBlocking) worker.isExclusive = true;
    return worker;
  }

  /** Whether a blocking program of this caller would get a worker now. */
  hasRoomToBlock(caller: CallerId): boolean {
    return this.#mayBlock(caller) && this.#queue.length === 0;
  }

  /** Whether one more worker may be given to a blocking program of this caller, which keeps it until it ends. */
  #mayBlock(caller: CallerId): boolean {
    const { max, maxBlocking = max, maxBlockingPerCaller = max } = this.#options;
    const blocked = this.#blocked();
    const all = [...blocked.values()].reduce((sum, count) => sum + count, 0);
    return all < maxBlocking && (blocked.get(caller) ?? 0) < maxBlockingPerCaller;
  }

  /** How many workers blocking programs have, by caller. */
  #blocked(): Map<CallerId, number> {
    const blocked = new Map(this.#startingBlocking);
    for (const { caller, isExclusive } of this.#workers)
      if (isExclusive) blocked.set(caller, (blocked.get(caller) ?? 0) + 1);
    return blocked;
  }

  #mayGrow(): boolean {
    return this.size < this.#options.max;
  }

  /**
   * Whether this caller may have a worker beyond the maximum: it has none, and the workers that were reclaimed go on computing for
   * others. A program that computes is not interrupted, and could keep everybody waiting for as long as programs may run.
   */
  #mayExceed(caller: CallerId): boolean {
    const now = performance.now();
    return (
      this.#hasNone(caller) &&
      this.size < 2 * this.#options.max &&
      this.workers.some((worker) => isOverdue(worker, now))
    );
  }

  #hasNone(caller: CallerId): boolean {
    return !this.#startingFor.has(caller) && this.workers.every((worker) => worker.caller !== caller);
  }

  /** Whether this caller would get another worker now: there is room, or another caller's worker is idle. */
  #mayGetAnother(caller: CallerId): boolean {
    // Queued programs come first.
    return this.#mayGrow() || (this.#queue.length === 0 && this.#idleOfOthers(caller) !== undefined);
  }

  /** If programs compute on all cores, polling would take a core from them. */
  workerAnswered(): void {
    if (this.#hasFreeCore()) this.#busyPoll.stay();
  }

  #hasFreeCore(): boolean {
    let computing = this.#starting;
    for (const { backlog } of this.#workers) if (backlog > 0) computing++;
    return computing < CORES;
  }

  /** Closes an idle worker of another caller. */
  #makeRoom(caller: CallerId): boolean {
    const idle = this.#idleOfOthers(caller);
    if (idle !== undefined) this.#retire(idle);
    return idle !== undefined;
  }

  #idleOfOthers(caller: CallerId): RunWorker | undefined {
    // A worker beyond the maximum goes to nobody who has one: that caller would soon have all of them.
    if (this.size > this.#options.max && !this.#hasNone(caller)) return undefined;
    const now = performance.now();
    for (const worker of this.#workers) if (worker.caller !== caller && isFree(worker, now)) return worker;
    return undefined;
  }

  async #grow(caller: CallerId, reservedFor: ReservedFor): Promise<RunWorker> {
    this.#starting++;
    const starting = reservedFor === 'blocking' ? this.#startingBlocking : this.#startingFor;
    starting.set(caller, (starting.get(caller) ?? 0) + 1);
    try {
      const process = await this.#processes.take();
      if (this.#isClosed) {
        await process.close();
        throw new HostError('shutting_down', 'the sandbox is shutting down');
      }
      const worker = new RunWorker(process, caller, this);
      if (process.hasExited) throw new HostError('worker_lost', 'a worker ended as soon as it started');
      this.#workers.add(worker);
      return reservedFor === 'nobody' ? worker : this.#claim(worker, reservedFor === 'blocking');
    } finally {
      this.#starting--;
      starting.set(caller, (starting.get(caller) ?? 1) - 1);
      if (starting.get(caller) === 0) starting.delete(caller);
      // The worker has room for others; or, if it could not be started, there is room for another worker.
      setImmediate(() => this.#serveQueue());
    }
  }

  #wait(program: QueuedRun, cancellation: Cancellation): Promise<RunWorker> {
    const waiting = this.#queue.join(program, cancellation);
    this.#mindTurns();
    return waiting;
  }

  workerChanged(worker: RunWorker): void {
    if (worker.isLost) this.#workers.delete(worker);
    else if (worker.isRetiring) this.#workers.has(worker) && this.#emptyOut(worker);
    else if (worker.occupancy === 0) {
      worker.isExclusive = false;
      if (worker.startedCount >= this.#options.maxRunsInLife) this.#retire(worker);
    }
    this.#serveQueue();
  }

  #retire(worker: RunWorker): void {
    worker.isRetiring = true;
    this.#workers.delete(worker);
    void worker.close();
  }

  #serveQueue(): void {
    // A worker that has replied calls this for every call of a program, and the queue is nearly always empty.
    if (this.#queue.length === 0) return;
    // In each round, only blocking programs of the callers with the fewest places are served: the caller that waits longest may
    // have the most.
    let before: number;
    do {
      before = this.#queue.length;
      this.#serveEach(this.#fewestBlocked());
    } while (this.#queue.length < before && this.#queue.all.some(({ isBlocking }) => isBlocking));
  }

  /** The fewest places held by any caller that is queued for another one and may have it. */
  #fewestBlocked(): number {
    const blocked = this.#blocked();
    const waiting = this.#queue.all.filter(({ isBlocking, caller }) => isBlocking && this.#mayBlock(caller));
    return Math.min(...waiting.map(({ caller }) => blocked.get(caller) ?? 0));
  }

  #serveEach(fewestBlocked: number): void {
    // If one run of a caller found no worker, later runs of the same caller find none either.
    const without = new Set<CallerId>();
    this.#queue.offer((waiting) => {
      const { caller, isBlocking, answer } = waiting;
      const isNext = () => this.#mayBlock(caller) && (this.#blocked().get(caller) ?? 0) <= fewestBlocked;
      if (isBlocking ? !isNext() : without.has(caller)) return false;
      const best = this.#best(caller, isBlocking);
      if (best !== undefined) answer.resolve(this.#claim(best, isBlocking));
      else if (
        (isBlocking || !this.#startingFor.has(caller)) &&
        (this.#mayGrow() || this.#makeRoom(caller) || this.#mayExceed(caller))
      )
        this.#grow(caller, isBlocking ? 'blocking' : 'shared').then(
          (worker) => (waiting.isCancelled ? this.notNeeded(worker) : answer.resolve(worker)),
          answer.reject,
        );
      else {
        without.add(caller);
        return false;
      }
      return true;
    });
  }

  // Turns: if there are more callers than workers, no caller keeps a worker while others have none.

  #mindTurns(): void {
    if (this.#turnTimer !== undefined || this.#isClosed || this.#leftOut().size === 0) return;
    this.#turnTimer = setTimeout(() => {
      this.#turnTimer = undefined;
      this.#serveQueue();
      this.#changeTurns();
      this.#mindTurns();
    }, CHECK_EVERY_MS);
  }

  /** Queued callers without any worker. */
  #leftOut(): Set<CallerId> {
    const served = new Set(this.#startingFor.keys());
    for (const worker of this.#workers) if (!worker.isRetiring) served.add(worker.caller);
    const waiting = this.#queue.all.filter(({ isBlocking, caller }) => !isBlocking || this.#mayBlock(caller));
    return new Set(waiting.flatMap(({ caller }) => (served.has(caller) ? [] : [caller])));
  }

  #changeTurns(): void {
    const now = performance.now();
    for (const worker of workersToReclaim(this.workers, this.#leftOut().size, now)) {
      this.#turnsEnded++;
      worker.isRetiring = true;
      worker.turnEndedMs = now;
      this.#queue.sendToEnd(worker.caller);
      this.workerChanged(worker);
    }
  }

  /** A worker whose turn is over is closed as soon as nothing computes in it. Its waiting programs wait without a worker. */
  #emptyOut(worker: RunWorker): void {
    if (worker.backlog > 0 || worker.isReserved) return;
    worker.dismissAll();
    this.#retire(worker);
  }

  /**
   * Closes workers that have been idle for a while. The minimum is kept as spares: they serve any next caller, a used worker only
   * its own caller.
   */
  #sweep(): void {
    const now = performance.now();
    const before = this.#workers.size;
    for (const worker of this.#workers)
      if (worker.occupancy === 0 && now - worker.idleSinceMs > this.#options.idleMs) this.#retire(worker);
    // If a spare cannot be started, the next run that needs a process starts its own and gets the reason.
    if (this.#workers.size < before) this.#processes.keep(this.#options.min - this.size).catch(() => {});
  }
}

/** Unanswered messages first, then programs; a stalled worker comes last. */
function load(worker: RunWorker): number {
  return (worker.isStalled ? 1e12 : 0) + worker.backlog * 1e6 + worker.occupancy;
}
