import { availableParallelism, freemem } from 'node:os';
import { HostError } from '../../domain/errors.js';
import type { CallerId } from '../../domain/run.js';
import type { Cancellation } from '../../lib/async/cancellation.js';
import { LibraryDigests } from '../journal/library-digests.js';
import { RunWorker, type WorkerOwner } from '../workers/run-worker.js';
import type { AssignmentOwner } from '../workers/worker-assignment.js';
import type { WorkerProcess } from '../workers/worker-process.js';
import { SpareProcesses } from './spare-processes.js';

export interface V8ProcessOptions {
  /**
   * Processes at once. A run that only waits gives its process up to a run that computes. One more process is allowed for a caller
   * that has none, so long computations of another caller do not keep it waiting.
   */
  readonly max: number;
  start(maxMemoryBytes: number): Promise<WorkerProcess>;
}

/** A run that is queued for a process. */
interface Waiter {
  readonly caller: CallerId;
  wake(): void;
}

/** A spare takes about 45 MB. If less than this is free, none is kept. */
const SPARE_NEEDS_FREE_BYTES = 1024 ** 3;
/** The next spare starts while the run computes. On one core it would take that core from the run. */
const HAS_CORE_FOR_SPARES = availableParallelism() > 1;
/** Spares kept once a run came before the spare was ready; one until then. */
const MAX_SPARES = 4;
/** An idle spare is ended after this time. */
const SPARE_IDLE_MS = 5 * 60_000;

interface Spares {
  readonly bytes: number;
  readonly processes: SpareProcesses;
  wanted: number;
  isKeeping: boolean;
}

/**
 * V8 processes. Each is started for one memory size, holds one run of one caller, and is ended with it. A spare is kept after the
 * first use.
 */
export class V8Processes implements WorkerOwner, AssignmentOwner {
  readonly libraries = new LibraryDigests();
  readonly #options: V8ProcessOptions;
  readonly #workers = new Set<RunWorker>();
  readonly #waiting = new Set<Waiter>();
  #spares: Spares | undefined;
  #idleTimer: NodeJS.Timeout | undefined;
  /** The callers for which processes are being started. */
  readonly #starting: CallerId[] = [];
  #lastBytes = 0;
  #isClosed = false;

  constructor(options: V8ProcessOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#workers.size + this.#starting.length;
  }

  /** Every process that holds a run. */
  get workers(): readonly RunWorker[] {
    return [...this.#workers];
  }

  /** A spare is ready and may be used. */
  get isReady(): boolean {
    return this.#spares?.processes.isReady === true && this.size <= this.#options.max;
  }

  /** Each of them occupies a core until it says hello. */
  get sparesInStart(): number {
    return this.#spares?.processes.inStart ?? 0;
  }

  /** A process for a run that could continue without one; undefined if none is free. */
  offer(caller: CallerId, maxMemoryBytes: number): Promise<RunWorker> | undefined {
    const isFree = !this.#isClosed && this.#waiting.size === 0 && this.#hasRoom(caller);
    return isFree ? this.#take(caller, maxMemoryBytes) : undefined;
  }

  /** A process for a run that needs one. */
  async place(caller: CallerId, maxMemoryBytes: number, cancellation: Cancellation): Promise<RunWorker> {
    while (!this.#isClosed && !this.#hasRoom(caller) && !this.#makeRoom()) await this.#turn(caller, cancellation);
    if (this.#isClosed) throw new HostError('shutting_down', 'the sandbox is shutting down');
    return this.#take(caller, maxMemoryBytes);
  }

  /** Resolves when a spare is ready, or cannot be started. A run that still needs a process then may ask for it. */
  async prepare(caller: CallerId, maxMemoryBytes: number): Promise<void> {
    if (!this.#hasRoom(caller)) return;
    // Runs follow each other faster than processes start.
    const spares = this.#spares;
    if (spares !== undefined && spares.processes.count > 0) spares.wanted = MAX_SPARES;
    await this.#warm(maxMemoryBytes);
  }

  /** Starts a spare, so that the next run that computes for long finds one. */
  async #warm(bytes: number): Promise<void> {
    if (this.#isClosed || freemem() < SPARE_NEEDS_FREE_BYTES) return;
    if (this.#spares?.bytes !== bytes) {
      void this.#spares?.processes.close();
      this.#spares = {
        bytes,
        processes: new SpareProcesses(() => this.#options.start(bytes), false),
        wanted: 1,
        isKeeping: false,
      };
    }
    const spares = this.#spares;
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => this.#dropSpares(), SPARE_IDLE_MS);
    this.#idleTimer.unref();
    void this.#keep(spares);
    await spares.processes.untilReady();
  }

  /** One start at a time: two leave no idle core to the run that follows. See docs/decisions/0171-spares-for-runs-that-follow-each-other.md. */
  async #keep(spares: Spares): Promise<void> {
    if (spares.isKeeping) return;
    spares.isKeeping = true;
    try {
      const { processes } = spares;
      while (!this.#isClosed && this.#spares === spares && processes.count < spares.wanted)
        await processes.keep(processes.count + 1);
    } catch {
      // The run that needs a process starts its own and gets the reason.
    } finally {
      spares.isKeeping = false;
    }
  }

  notNeeded(worker: RunWorker): void {
    worker.abandon();
    this.workerChanged(worker);
  }

  hasBetterThan(): boolean {
    return false;
  }

  workerAnswered(): void {}

  /** A process is used once: it is ended when its run has left. */
  workerChanged(worker: RunWorker): void {
    if (!worker.isLost && worker.occupancy > 0) {
      // Its run waits, and may give its process up to a run that computes.
      if (worker.backlog === 0) this.#wakeNext();
      return;
    }
    if (!this.#workers.delete(worker)) return;
    void worker.close();
    this.#wakeNext();
    if (!HAS_CORE_FOR_SPARES) this.#warmSoon(this.#lastBytes);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#idleTimer);
    for (const { wake } of this.#waiting) wake();
    this.#waiting.clear();
    const workers = [...this.#workers];
    this.#workers.clear();
    await Promise.all([this.#spares?.processes.close(), ...workers.map((worker) => worker.close())]);
  }

  #hasRoom(caller: CallerId): boolean {
    const { max } = this.#options;
    return this.size < max || (this.size === max && this.#countOf(caller) === 0);
  }

  #countOf(caller: CallerId): number {
    const isOwn = (each: CallerId) => each === caller;
    return [...this.#workers].filter((worker) => isOwn(worker.caller)).length + this.#starting.filter(isOwn).length;
  }

  /** Resolves when a process may be free. Rejects when the run has ended, so that no process is offered to it. */
  #turn(caller: CallerId, { signal }: Cancellation): Promise<void> {
    return new Promise((resolve, reject) => {
      const cancel = () => {
        this.#waiting.delete(waiter);
        reject(cancelled());
      };
      const wake = () => {
        signal.removeEventListener('abort', cancel);
        resolve();
      };
      const waiter: Waiter = { caller, wake };
      this.#waiting.add(waiter);
      signal.addEventListener('abort', cancel, { once: true });
    });
  }

  /** Resolves the first waiter of the caller that has the fewest processes. */
  #wakeNext(): void {
    let next: { readonly waiter: Waiter; readonly count: number } | undefined;
    for (const waiter of this.#waiting) {
      const count = this.#countOf(waiter.caller);
      if (next === undefined || count < next.count) next = { waiter, count };
    }
    if (next === undefined) return;
    this.#waiting.delete(next.waiter);
    next.waiter.wake();
  }

  /** Evicts a run that waits: it can be rebuilt from its journal when its answer arrives. */
  #makeRoom(): boolean {
    for (const worker of this.#workers) {
      if (worker.backlog > 0 || worker.isReserved || worker.isLost) continue;
      this.#workers.delete(worker);
      worker.dismissAll();
      void worker.close();
      return true;
    }
    return false;
  }

  async #take(caller: CallerId, bytes: number): Promise<RunWorker> {
    this.#starting.push(caller);
    try {
      const spares = this.#spares?.bytes === bytes ? this.#spares : undefined;
      const process = await (spares?.processes.take() ?? this.#options.start(bytes));
      if (this.#isClosed || process.hasExited) {
        await process.close();
        throw new HostError('worker_lost', 'a V8 process ended as soon as it started');
      }
      const worker = new RunWorker(process, caller, this);
      worker.reserve();
      this.#workers.add(worker);
      if (HAS_CORE_FOR_SPARES) this.#warmSoon(bytes);
      return worker;
    } finally {
      this.#starting.splice(this.#starting.indexOf(caller), 1);
      this.#lastBytes = bytes;
    }
  }

  /** Starts the spare after the pending messages are sent: spawning a process takes milliseconds. */
  #warmSoon(bytes: number): void {
    setImmediate(() => void this.#warm(bytes));
  }

  #dropSpares(): void {
    void this.#spares?.processes.close();
    this.#spares = undefined;
  }
}

function cancelled(): HostError {
  return new HostError('cancelled', 'the program that asked for this has ended');
}
