import { HostError } from '../domain/errors.js';
import type { CallerId } from '../domain/execution.js';
import type { Cancellation } from '../lib/cancellation.js';
import type { Deferred } from '../lib/deferred.js';
import { deferred } from '../lib/deferred.js';
import { LibraryDigests } from './library-digests.js';
import { RunWorker } from './run-worker.js';
import type { WorkerProcess } from './worker-process.js';

export interface PoolOptions {
  /** Processes kept even when nobody needs them. */
  readonly min: number;
  readonly max: number;
  /** Of these, the most that may belong to blocking programs at once; absent: all. */
  readonly maxBlocking?: number;
  readonly idleMs: number;
  /** Programs that wait for a worker; one more is refused. */
  readonly maxQueued: number;
  /** Programs in one worker at once. Each is an instance of some 3 MB. */
  readonly maxRunsPerWorker: number;
  /** Programs after which a worker is replaced, idle or not in use. */
  readonly maxRunsInLife: number;
}

interface Waiting {
  readonly caller: CallerId;
  readonly isBlocking: boolean;
  readonly answer: Deferred<RunWorker>;
  isCancelled: boolean;
}

/** What a new worker is reserved for as soon as it is there; `nobody` where it is started ahead of need. */
type ReservedFor = 'shared' | 'blocking' | 'nobody';

type StartProcess = () => Promise<WorkerProcess>;

/**
 * Which program runs in which process. A process serves one caller from its first program to its end: whatever a program
 * may do to it, the next one to meet it is of the same caller. Fresh spares make a new caller cheap.
 */
export class Pool {
  readonly libraries = new LibraryDigests();
  readonly #options: PoolOptions;
  readonly #start: StartProcess;
  readonly #workers = new Set<RunWorker>();
  readonly #queue: Waiting[] = [];
  /** Processes that have not said hello yet: whoever closes the pool waits for them too. */
  readonly #starts = new Set<Promise<WorkerProcess>>();
  readonly #sweeper: NodeJS.Timeout;
  #spare: Promise<WorkerProcess> | undefined;
  #starting = 0;
  #startingBlocking = 0;
  /** Shared workers that are being started, by caller: whoever comes meanwhile waits for them instead of starting more. */
  readonly #startingFor = new Map<CallerId, number>();
  #isClosed = false;

  constructor(options: PoolOptions, start: StartProcess) {
    this.#options = options;
    this.#start = () => this.#track(start());
    this.#sweeper = setInterval(() => this.#sweep(), Math.max(50, Math.min(1_000, options.idleMs / 2)));
    this.#sweeper.unref();
  }

  get size(): number {
    return this.#workers.size + this.#starting;
  }

  /** Programs that wait for a worker. */
  get queueLength(): number {
    return this.#queue.length;
  }

  /** Every worker there is, spares not counted. */
  get workers(): readonly RunWorker[] {
    return [...this.#workers];
  }

  /** Starts a spare, so that the first program does not wait for it. */
  async warm(): Promise<void> {
    this.#keepSpare();
    await this.#spare;
  }

  /** A worker of this caller with a place reserved for one more program: it is admitted there, or `notNeeded` is called. */
  async place(caller: CallerId, isBlocking: boolean, cancellation: Cancellation): Promise<RunWorker> {
    if (this.#isClosed) throw new HostError('shutting_down', 'the sandbox is shutting down');
    if (isBlocking && !this.#mayBlock()) return this.#wait(caller, isBlocking, cancellation.signal);
    const best = this.#best(caller, isBlocking);
    if (best !== undefined && !(best.isStalled && this.#mayGrow())) {
      // Good enough for this one; the next will find one that is not busy.
      if (best.backlog > 0 && !this.#startingFor.has(caller) && this.#mayGrow())
        void this.#grow(caller, 'nobody').catch(() => {});
      return this.#claim(best, isBlocking);
    }
    if (!isBlocking && this.#startingFor.has(caller)) return this.#wait(caller, isBlocking, cancellation.signal);
    if (this.#mayGrow() || this.#makeRoom(caller)) return this.#grow(caller, isBlocking ? 'blocking' : 'shared');
    return this.#wait(caller, isBlocking, cancellation.signal);
  }

  /** Whether a program would be better off in another worker than this one. */
  hasBetterThan(worker: RunWorker): boolean {
    if (this.#mayGrow()) return true;
    for (const other of this.#workers)
      if (other !== worker && this.#isOpenFor(other, worker.caller) && other.backlog === 0) return true;
    return false;
  }

  /** Gives back a place that `place` has reserved. */
  notNeeded(worker: RunWorker): void {
    worker.abandon();
    if (worker.occupancy === 0) worker.isExclusive = false;
    this.#serveQueue();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#sweeper);
    for (const { answer } of this.#queue.splice(0))
      answer.reject(new HostError('shutting_down', 'the sandbox is shutting down'));
    const spare = this.#spare?.then((process) => process.close()).catch(() => {});
    this.#spare = undefined;
    await Promise.all([
      spare,
      ...[...this.#starts].map((starting) => starting.then((process) => process.close()).catch(() => {})),
      ...[...this.#workers].map((worker) => worker.close()),
    ]);
    this.#workers.clear();
  }

  #track(starting: Promise<WorkerProcess>): Promise<WorkerProcess> {
    this.#starts.add(starting);
    const forget = () => void this.#starts.delete(starting);
    starting.then(forget, forget);
    return starting;
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
      // Not where a cancelled program may still be computing either: the worker is killed if that one does not stop.
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

  /** Whether a blocking program would get a worker now. */
  get hasRoomToBlock(): boolean {
    return this.#mayBlock() && this.#queue.length === 0;
  }

  /** Whether one more worker may be given to a blocking program, which keeps it to its end. */
  #mayBlock(): boolean {
    let blocked = this.#startingBlocking;
    for (const worker of this.#workers) if (worker.isExclusive) blocked++;
    return blocked < (this.#options.maxBlocking ?? this.#options.max);
  }

  #mayGrow(): boolean {
    return this.size < this.#options.max;
  }

  /** Closes a worker of somebody else that nobody is using. */
  #makeRoom(caller: CallerId): boolean {
    for (const worker of this.#workers) {
      if (worker.caller === caller || worker.occupancy > 0) continue;
      this.#retire(worker);
      return true;
    }
    return false;
  }

  async #grow(caller: CallerId, reservedFor: ReservedFor): Promise<RunWorker> {
    this.#starting++;
    const isShared = reservedFor !== 'blocking';
    if (!isShared) this.#startingBlocking++;
    if (isShared) this.#startingFor.set(caller, (this.#startingFor.get(caller) ?? 0) + 1);
    try {
      const process = await this.#takeSpare();
      if (this.#isClosed) {
        await process.close();
        throw new HostError('shutting_down', 'the sandbox is shutting down');
      }
      const worker = new RunWorker(process, caller);
      worker.onChange = () => this.#changed(worker);
      if (process.hasExited) throw new HostError('worker_lost', 'a worker ended as soon as it started');
      this.#workers.add(worker);
      return reservedFor === 'nobody' ? worker : this.#claim(worker, reservedFor === 'blocking');
    } finally {
      this.#starting--;
      if (!isShared) this.#startingBlocking--;
      if (isShared) this.#startingFor.set(caller, (this.#startingFor.get(caller) ?? 1) - 1);
      if (this.#startingFor.get(caller) === 0) this.#startingFor.delete(caller);
      // There is room for others in it; or, if it could not be started, for another one.
      setImmediate(() => this.#serveQueue());
    }
  }

  #wait(caller: CallerId, isBlocking: boolean, signal: AbortSignal): Promise<RunWorker> {
    if (this.#queue.length >= this.#options.maxQueued) {
      throw new HostError(
        'sandbox_busy',
        `${this.#queue.length} programs are waiting for a worker already; try again in a few seconds, or raise ${isBlocking ? 'codeExecution.poolSize' : 'sandbox.workers.max'}`,
      );
    }
    const waiting: Waiting = { caller, isBlocking, answer: deferred(), isCancelled: false };
    this.#queue.push(waiting);
    signal.addEventListener('abort', () => {
      waiting.isCancelled = true;
      const index = this.#queue.indexOf(waiting);
      if (index >= 0) this.#queue.splice(index, 1);
      waiting.answer.reject(new HostError('cancelled', 'the run was cancelled while it waited for a worker'));
    });
    return waiting.answer.promise;
  }

  #changed(worker: RunWorker): void {
    if (worker.isLost) this.#workers.delete(worker);
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
    for (let index = 0; index < this.#queue.length; ) {
      const waiting = this.#queue[index] as Waiting;
      const { caller, isBlocking, answer } = waiting;
      if (isBlocking && !this.#mayBlock()) {
        index++;
        continue;
      }
      const best = this.#best(caller, isBlocking);
      if (best !== undefined) answer.resolve(this.#claim(best, isBlocking));
      else if ((isBlocking || !this.#startingFor.has(caller)) && (this.#mayGrow() || this.#makeRoom(caller)))
        this.#grow(caller, isBlocking ? 'blocking' : 'shared').then(
          (worker) => (waiting.isCancelled ? this.notNeeded(worker) : answer.resolve(worker)),
          answer.reject,
        );
      else {
        index++;
        continue;
      }
      this.#queue.splice(index, 1);
    }
  }

  #takeSpare(): Promise<WorkerProcess> {
    const taken = this.#spare;
    this.#spare = undefined;
    const process =
      taken === undefined ? this.#start() : taken.then((ready) => (ready.hasExited ? this.#start() : ready));
    // Not before this one is there: two starts at once make both late.
    void process.then(
      () => this.#keepSpare(),
      () => {},
    );
    return process;
  }

  #keepSpare(): void {
    if (this.#isClosed || this.#spare !== undefined) return;
    const spare = this.#start();
    this.#spare = spare;
    // A spare that could not be started is nobody's failure yet: whoever needs one starts its own and hears why.
    spare.catch(() => {
      if (this.#spare === spare) this.#spare = undefined;
    });
  }

  /** Closes what nobody has used for a while. */
  #sweep(): void {
    const now = performance.now();
    for (const worker of this.#workers) {
      if (this.#workers.size <= this.#options.min) break;
      if (worker.occupancy === 0 && now - worker.idleSinceMs > this.#options.idleMs) this.#retire(worker);
    }
  }
}

/** Unanswered messages first, then programs; a stalled worker comes last. */
function load(worker: RunWorker): number {
  return (worker.isStalled ? 1e12 : 0) + worker.backlog * 1e6 + worker.occupancy;
}
