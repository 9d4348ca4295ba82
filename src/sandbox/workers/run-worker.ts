import type { CallerId, RunId, VirtualModule } from '../../domain/run.js';
import { Allowance } from '../../lib/allowance.js';
import type { HostToWorker, WorkerToHost } from '../../wire/messages.js';
import { computedMs } from '../computed-time.js';
import type { LossBlame } from '../engines/engine.js';
import { OUT_OF_MEMORY, type WorkerListener, type WorkerProcess } from './worker-process.js';

/** The events that a worker reports to the runs it holds. */
export interface HeldRun {
  readonly id: RunId;
  receive(message: WorkerToHost, body: Buffer): void;
  workerLost(part: LossBlame, reason: string): void;
  /** The worker has computed another program for so long that this one should move to another worker. */
  workerStalled(): void;
  /** Its caller's turn is over. It waits for a delivery, and then continues in another worker. */
  workerTaken(): void;
}

/** The events that a worker reports to its pool. */
export interface WorkerOwner {
  /** It has room again, owes no replies, or is lost. */
  workerChanged(worker: RunWorker): void;
  /** A program in it got its answer, and may call again at once. */
  workerAnswered(): void;
}

/** Messages that a worker answers, each exactly once and in order. */
type Assignment = Extract<
  HostToWorker,
  {
    type:
      | 'execution/start'
      | 'execution/resume'
      | 'call/result'
      | 'call/error'
      | 'call/locate'
      | 'timer/fire'
      | 'execution/suspend'
      | 'execution/finish';
  }
>;

/**
 * Programs wait this long behind another one before they move to another worker. Long enough that ordinary programs never move,
 * short enough that a stuck program blocks nobody.
 */
const STALL_MS = 100;
/**
 * In the second half of that time a stuck program uses this much CPU. With less, the worker got no core, and another worker would
 * get none either.
 */
const STALL_COMPUTED_MS = 20;
/** A worker that replies nothing for this long is stalled in any case. */
const MAX_WITHOUT_CORE_MS = 2_000;
/** Grace period of an ended program before its worker is killed. */
const DROPPED_GRACE_MS = 500;
const MAX_LIBRARIES_KNOWN = 8;
/** Frames without effect: for programs that have left, or logs past their limit. A worker that sends more is compromised. */
const WASTED_FRAMES = { burst: 100_000, perSecond: 1_000 };

/** A reply that a worker owes. Dropped if its program has left; the program may even have returned and started again. */
interface Owed {
  readonly runId: RunId;
  isDropped: boolean;
}

/** One QuickJS worker with the runs in it, and the replies that it owes. */
export class RunWorker implements WorkerListener {
  readonly process: WorkerProcess;
  readonly caller: CallerId;
  /** Serves one blocking program only. */
  isExclusive = false;
  /** Takes no new runs; closed when the last one leaves. */
  isRetiring = false;
  /** It is stalled: it gets no new programs until it replies. */
  isStalled = false;
  startedCount = 0;
  idleSinceMs = performance.now();
  /** When its caller got it, and when it was reclaimed for another caller. */
  readonly turnBegunMs = performance.now();
  turnEndedMs = 0;
  readonly #owner: WorkerOwner;
  readonly #runs = new Map<RunId, HeldRun>();
  readonly #owed: Owed[] = [];
  readonly #libraries = new Set<string>();
  readonly #wastedFrames = new Allowance(WASTED_FRAMES, performance.now());
  #reserved = 0;
  /** The program that the worker has paused, until the host decides about it. */
  #paused: RunId | undefined;
  #stallTimer: NodeJS.Timeout | undefined;
  #droppedTimer: NodeJS.Timeout | undefined;
  /** The program it was computing when we killed it. No program is blamed for messages sent to it afterwards. */
  #killed: { readonly computing: RunId | undefined } | undefined;

  constructor(process: WorkerProcess, caller: CallerId, owner: WorkerOwner) {
    this.process = process;
    this.caller = caller;
    this.#owner = owner;
    process.listen(this);
  }

  get runCount(): number {
    return this.#runs.size;
  }

  /** Programs in this worker, and those with a reserved place. */
  get occupancy(): number {
    return this.#runs.size + this.#reserved;
  }

  /** Keeps a place until `admit` or `abandon`: other programs ask for places in the meantime. */
  reserve(): void {
    this.#reserved++;
  }

  /** A place is reserved for a program that has not arrived yet. */
  get isReserved(): boolean {
    return this.#reserved > 0;
  }

  /** Gives a reserved place back. */
  abandon(): void {
    this.#reserved = Math.max(0, this.#reserved - 1);
  }

  /** How many messages it has not answered yet: at zero it can start at once. */
  get backlog(): number {
    return this.#owed.length;
  }

  get isLost(): boolean {
    return this.process.hasExited;
  }

  /** It has been killed, though it may still exist: it gets no new programs. */
  get isDoomed(): boolean {
    return this.#killed !== undefined;
  }

  /** The program it computes now, as far as the host can tell. */
  get computing(): RunId | undefined {
    return this.#owed[0]?.runId;
  }

  /** Takes a program into the place that was reserved for it. */
  admit(run: HeldRun): void {
    this.abandon();
    this.#runs.set(run.id, run);
    this.startedCount++;
  }

  release(id: RunId): void {
    if (!this.#runs.delete(id)) return;
    if (this.#runs.size === 0) this.idleSinceMs = performance.now();
    this.#owner.workerChanged(this);
  }

  loadLibrary(digest: string, modules: readonly VirtualModule[]): void {
    if (this.#libraries.has(digest)) return;
    // The worker drops its oldest libraries. Dropping ours early costs a resend, never a missing module.
    if (this.#libraries.size >= MAX_LIBRARIES_KNOWN - 1) this.#libraries.clear();
    this.#libraries.add(digest);
    this.process.send({ type: 'library/load', library: digest }, Buffer.from(JSON.stringify(modules)));
  }

  assign(message: Assignment, body?: Uint8Array): void {
    this.#owed.push({ runId: message.execution, isDropped: false });
    this.process.send(message, body);
    if (this.#owed.length > 1) this.#watch();
    if (message.type === 'call/result' || message.type === 'call/error') this.#owner.workerAnswered();
  }

  /** Answers a blocking call. The program is in the middle of its turn, so no further reply is owed for this. */
  reply(message: Extract<HostToWorker, { type: 'call/result' | 'call/error' }>, body: Uint8Array): void {
    this.process.send(message, body);
    this.#owner.workerAnswered();
  }

  /** Continues a paused program. */
  continue(id: RunId): void {
    if (this.#paused !== id) return;
    this.#paused = undefined;
    this.process.send({ type: 'execution/continue', execution: id });
  }

  /** Drops a program. Replies that the worker still owes for it are ignored. */
  cancel(id: RunId): void {
    this.process.send({ type: 'execution/cancel', execution: id });
    for (const owed of this.#owed) if (owed.runId === id) owed.isDropped = true;
    this.release(id);
    this.#watchDropped();
  }

  /** Drops an ended program, and kills the worker if it keeps computing it. Its other programs are rebuilt in other workers. */
  dismiss(id: RunId, graceMs: number): void {
    if (this.isLost) return;
    const isComputing = this.computing === id;
    this.cancel(id);
    // It cannot read the message while it computes.
    if (isComputing)
      setTimeout(() => this.computing === id && this.kill('a program that was ended did not stop'), graceMs);
  }

  /** Drops a program that continues elsewhere. If the worker computes it and holds no other, the worker is useless now. */
  leave(id: RunId): void {
    if (this.isLost) return;
    const isComputing = this.computing === id && this.#paused !== id;
    this.cancel(id);
    if (isComputing && this.occupancy === 0) this.kill('its program continues in another engine');
  }

  kill(reason: string): void {
    this.#killed ??= { computing: this.#accused };
    this.process.kill(reason);
  }

  /** The worker sent a frame that had no effect. */
  wasted(): void {
    const nowMs = performance.now();
    this.#wastedFrames.take(1, nowMs);
    if (this.#wastedFrames.waitMs(nowMs) > 0) this.kill('it sent too many messages that say nothing');
  }

  /** Parks all programs, so that they continue in other workers. None of them is computing. */
  dismissAll(): void {
    const runs = [...this.#runs.values()];
    this.#runs.clear();
    for (const run of runs) run.workerTaken();
  }

  /** Ends the process. Its remaining programs are notified. */
  async close(): Promise<void> {
    clearTimeout(this.#stallTimer);
    clearTimeout(this.#droppedTimer);
    const runs = [...this.#runs.values()];
    this.#runs.clear();
    for (const run of runs) run.workerLost('bystander', 'it was closed');
    await this.process.close();
  }

  receive(message: WorkerToHost, body: Buffer): void {
    if (!('execution' in message)) return this.wasted();
    const head = this.#owed[0];
    if (message.type === 'execution/computing' && head?.runId === message.execution) this.#paused = head.runId;
    const isOfOneThatLeft = head?.isDropped === true && head.runId === message.execution;
    if (
      message.type === 'execution/waiting' ||
      message.type === 'execution/end' ||
      message.type === 'execution/unfit' ||
      message.type === 'execution/suspended'
    ) {
      if (!this.#answered(message.execution)) return;
    }
    // Ids that are not here are ignored: a worker has no say about runs it does not hold.
    const run = isOfOneThatLeft ? undefined : this.#runs.get(message.execution);
    if (run === undefined) this.wasted();
    else run.receive(message, body);
    // Only now: an idle worker may be taken, and its last message must have been handled before.
    if (this.#owed.length === 0) this.#owner.workerChanged(this);
  }

  /** Whether this reply was due. */
  #answered(id: RunId): boolean {
    if (this.#owed[0]?.runId !== id) {
      // Replies come in order. A worker that reorders them would make us blame the wrong program.
      this.kill('it answered for a program it was not computing');
      return false;
    }
    this.#owed.shift();
    this.#paused = undefined;
    clearTimeout(this.#stallTimer);
    this.#stallTimer = undefined;
    this.isStalled = false;
    if (this.#owed.length > 1) this.#watch();
    this.#watchDropped();
    return true;
  }

  /**
   * A program that was dropped while it was queued behind others is started all the same: its messages came before its
   * cancellation. No run is left to end it, so a worker that stays in it is killed.
   */
  #watchDropped(): void {
    clearTimeout(this.#droppedTimer);
    const head = this.#owed[0];
    if (head?.isDropped !== true) return;
    this.#droppedTimer = setTimeout(() => {
      if (this.#owed[0] === head) this.kill('it kept computing a program that had ended');
    }, DROPPED_GRACE_MS);
  }

  /** The run to blame for a loss; never one that left before. */
  get #accused(): RunId | undefined {
    const head = this.#owed[0];
    return head?.isDropped === true ? undefined : head?.runId;
  }

  #blame(reason: string): LossBlame {
    if (this.#killed !== undefined) return 'guilty';
    return reason === OUT_OF_MEMORY ? 'exhausted' : 'suspect';
  }

  #watch(): void {
    this.#stallTimer ??= setTimeout(() => {
      const head = this.#owed[0];
      if (head !== undefined) this.#lookAgain(head, this.#computedMs(), performance.now());
    }, STALL_MS / 2);
  }

  /**
   * Moving programs costs more than starting them, so it must help. It does not if the worker has replied and the host was too
   * busy to read the reply, or if other processes leave the worker no core.
   */
  #lookAgain(head: Owed, computedBefore: number, sinceMs: number): void {
    this.#stallTimer = setTimeout(() => {
      // After pending messages are read: timers fire before them.
      setImmediate(() => {
        if (this.#owed[0] !== head || this.isLost) return;
        const hasNoCore = this.#paused === undefined && this.#computedMs() - computedBefore < STALL_COMPUTED_MS;
        if (hasNoCore && performance.now() - sinceMs < MAX_WITHOUT_CORE_MS)
          return this.#lookAgain(head, computedBefore, sinceMs);
        this.#stalled();
      });
    }, STALL_MS / 2);
  }

  #computedMs(): number {
    return this.process.pid === undefined ? Number.NaN : computedMs(this.process.pid);
  }

  #stalled(): void {
    this.#stallTimer = undefined;
    this.isStalled = true;
    const busyWith = this.computing;
    const waiting = new Set(this.#owed.flatMap(({ runId }) => (runId === busyWith ? [] : [runId])));
    for (const id of waiting) this.#runs.get(id)?.workerStalled();
  }

  exited(reason: string): void {
    clearTimeout(this.#stallTimer);
    clearTimeout(this.#droppedTimer);
    const killed = this.#killed;
    const computing = killed === undefined ? this.#accused : killed.computing;
    const runs = [...this.#runs.values()];
    this.#runs.clear();
    this.#owner.workerChanged(this);
    for (const run of runs) {
      run.workerLost(run.id === computing ? this.#blame(reason) : 'bystander', reason);
    }
  }
}
