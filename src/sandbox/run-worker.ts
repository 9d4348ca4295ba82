import type { CallerId, ExecutionId, VirtualModule } from '../domain/execution.js';
import { Allowance } from '../lib/allowance.js';
import type { HostToWorker, WorkerToHost } from '../wire/messages.js';
import type { WorkerProcess } from './worker-process.js';

/**
 * What a program had to do with the loss of its worker. `guilty`: we ended the worker because of it. `suspect`: the worker
 * died by itself, and this was the program it owed an answer to.
 */
export type PartInLoss = 'guilty' | 'suspect' | 'bystander';

/** What a worker tells the executions it holds. */
export interface Tenant {
  readonly id: ExecutionId;
  receive(message: WorkerToHost, body: Buffer, from: RunWorker): void;
  workerLost(from: RunWorker, part: PartInLoss, reason: string): void;
  /** The worker has been computing another program for so long that this one should go elsewhere. */
  workerStalled(from: RunWorker): void;
  /** Its caller's turn is over. It waits for something, and goes on in another worker when that has come. */
  workerTaken(from: RunWorker): void;
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
      | 'execution/suspend';
  }
>;

/**
 * Others wait this long behind one program before they are taken to another worker. Long enough that ordinary programs
 * never notice, short enough that a stuck one holds nobody up.
 */
const STALL_MS = 100;
/** What a program that is over may still take before its worker is killed with it. */
const DROPPED_GRACE_MS = 500;
const MAX_LIBRARIES_KNOWN = 8;
/** Frames that say nothing: for programs that have left, logs past their bound. One that sends more is no worker of ours. */
const WASTED_FRAMES = { burst: 100_000, perSecond: 1_000 };

/** An answer that a worker owes. Dropped: its program has left, and may even have come back and begun anew. */
interface Owed {
  readonly execution: ExecutionId;
  isDropped: boolean;
}

/** One QuickJS worker with the executions in it, and what it owes an answer to. */
export class RunWorker {
  readonly process: WorkerProcess;
  readonly caller: CallerId;
  /** Serves one blocking program and nobody else. */
  isExclusive = false;
  /** Takes no new executions; closed when the last one leaves. */
  isRetiring = false;
  /** Has kept others waiting for longer than it should; nobody is sent here until it answers. */
  isStalled = false;
  startedCount = 0;
  idleSinceMs = performance.now();
  /** When its caller got it, and when it was asked to leave it to another one. */
  readonly turnBegunMs = performance.now();
  turnEndedMs = 0;
  onChange: (() => void) | undefined;
  /** A program has its answer, and may call again at once. */
  onAnswer: (() => void) | undefined;
  readonly #tenants = new Map<ExecutionId, Tenant>();
  readonly #owed: Owed[] = [];
  readonly #libraries = new Set<string>();
  readonly #wastedFrames = new Allowance(WASTED_FRAMES, performance.now());
  #reserved = 0;
  #stallTimer: NodeJS.Timeout | undefined;
  #droppedTimer: NodeJS.Timeout | undefined;
  /** What it was computing when we ended it: what is sent to it from then on is nobody's fault. */
  #killed: { readonly computing: ExecutionId | undefined } | undefined;

  constructor(process: WorkerProcess, caller: CallerId) {
    this.process = process;
    this.caller = caller;
    process.events = { message: (message, body) => this.#receive(message, body), exit: (reason) => this.#lost(reason) };
  }

  get tenantCount(): number {
    return this.#tenants.size;
  }

  /** Programs that are here, and those that have been promised a place and are on their way. */
  get occupancy(): number {
    return this.#tenants.size + this.#reserved;
  }

  /** Keeps a place until `admit` or `abandon`: between the promise and the arrival others ask for places too. */
  reserve(): void {
    this.#reserved++;
  }

  /** Somebody is on the way here. */
  get isReserved(): boolean {
    return this.#reserved > 0;
  }

  /** Gives a reserved place back. */
  abandon(): void {
    this.#reserved = Math.max(0, this.#reserved - 1);
  }

  /** How many messages it has not answered yet: zero means it can begin at once. */
  get backlog(): number {
    return this.#owed.length;
  }

  get isLost(): boolean {
    return this.process.hasExited;
  }

  /** It has been killed, though it may not be gone yet: nobody should come here any more. */
  get isDoomed(): boolean {
    return this.#killed !== undefined;
  }

  /** The program it is computing now, as far as can be told from outside. */
  get computing(): ExecutionId | undefined {
    return this.#owed[0]?.execution;
  }

  /** Takes a program into the place that was reserved for it. */
  admit(tenant: Tenant): void {
    this.abandon();
    this.#tenants.set(tenant.id, tenant);
    this.startedCount++;
  }

  release(id: ExecutionId): void {
    if (!this.#tenants.delete(id)) return;
    if (this.#tenants.size === 0) this.idleSinceMs = performance.now();
    this.onChange?.();
  }

  loadLibrary(digest: string, modules: readonly VirtualModule[]): void {
    if (this.#libraries.has(digest)) return;
    // The worker forgets its oldest ones; forgetting ours at once costs a resend, never a missing module.
    if (this.#libraries.size >= MAX_LIBRARIES_KNOWN - 1) this.#libraries.clear();
    this.#libraries.add(digest);
    this.process.send({ type: 'library/load', library: digest }, Buffer.from(JSON.stringify(modules)));
  }

  assign(message: Assignment, body?: Uint8Array): void {
    this.#owed.push({ execution: message.execution, isDropped: false });
    this.process.send(message, body);
    if (this.#owed.length > 1) this.#watch();
    if (message.type === 'call/result' || message.type === 'call/error') this.onAnswer?.();
  }

  /** Answers a blocking call: the program is in the middle of its turn, and owes nothing more for this. */
  reply(message: Extract<HostToWorker, { type: 'call/result' | 'call/error' }>, body: Uint8Array): void {
    this.process.send(message, body);
    this.onAnswer?.();
  }

  /** Drops a program. Answers it owes still come, to nobody. */
  cancel(id: ExecutionId): void {
    this.process.send({ type: 'execution/cancel', execution: id });
    for (const owed of this.#owed) if (owed.execution === id) owed.isDropped = true;
    this.release(id);
    this.#watchDropped();
  }

  /** Drops a program that was ended, and kills the worker if it stays in it. What else it holds is rebuilt elsewhere. */
  dismiss(id: ExecutionId, graceMs: number): void {
    if (this.isLost) return;
    const isComputing = this.computing === id;
    this.cancel(id);
    // It cannot read that while it computes.
    if (isComputing)
      setTimeout(() => this.computing === id && this.kill('a program that was ended did not stop'), graceMs);
  }

  kill(reason: string): void {
    this.#killed ??= { computing: this.#accused };
    this.process.kill(reason);
  }

  /** It sent a frame that changes nothing. */
  wasted(): void {
    const nowMs = performance.now();
    this.#wastedFrames.take(1, nowMs);
    if (this.#wastedFrames.waitMs(nowMs) > 0) this.kill('it sent too many messages that say nothing');
  }

  /** Sends everybody away, to go on elsewhere. Nothing computes here. */
  dismissAll(): void {
    const tenants = [...this.#tenants.values()];
    this.#tenants.clear();
    for (const tenant of tenants) tenant.workerTaken(this);
  }

  /** Ends the process. Programs that are still here are told: nobody else will answer for them. */
  async close(): Promise<void> {
    clearTimeout(this.#stallTimer);
    clearTimeout(this.#droppedTimer);
    const tenants = [...this.#tenants.values()];
    this.#tenants.clear();
    for (const tenant of tenants) tenant.workerLost(this, 'bystander', 'it was closed');
    await this.process.close();
  }

  #receive(message: WorkerToHost, body: Buffer): void {
    if (!('execution' in message)) return this.wasted();
    const head = this.#owed[0];
    const isOfOneThatLeft = head?.isDropped === true && head.execution === message.execution;
    if (
      message.type === 'execution/waiting' ||
      message.type === 'execution/end' ||
      message.type === 'execution/suspended'
    ) {
      if (!this.#answered(message.execution)) return;
    }
    // Ids that are not here are ignored: a worker has no say about executions it does not hold.
    const tenant = isOfOneThatLeft ? undefined : this.#tenants.get(message.execution);
    if (tenant === undefined) this.wasted();
    else tenant.receive(message, body, this);
    // Only now: a worker with nothing left to say may be taken, and what it said last must have arrived.
    if (this.#owed.length === 0) this.onChange?.();
  }

  /** Whether this answer was due. */
  #answered(id: ExecutionId): boolean {
    if (this.#owed[0]?.execution !== id) {
      // Answers come in order. A worker that mixes them up would have us blame the wrong program.
      this.kill('it answered for a program it was not computing');
      return false;
    }
    this.#owed.shift();
    clearTimeout(this.#stallTimer);
    this.#stallTimer = undefined;
    this.isStalled = false;
    if (this.#owed.length > 1) this.#watch();
    this.#watchDropped();
    return true;
  }

  /**
   * A program that was dropped while others stood in front of it is begun all the same: what it was sent came before the
   * word that it is over. Nobody is left to end it then, so a worker that stays in one is killed.
   */
  #watchDropped(): void {
    clearTimeout(this.#droppedTimer);
    const head = this.#owed[0];
    if (head?.isDropped !== true) return;
    this.#droppedTimer = setTimeout(() => {
      if (this.#owed[0] === head) this.kill('it stayed in a program that is over');
    }, DROPPED_GRACE_MS);
  }

  /** Whom a loss is blamed on: nobody who has left before. */
  get #accused(): ExecutionId | undefined {
    const head = this.#owed[0];
    return head?.isDropped === true ? undefined : head?.execution;
  }

  #watch(): void {
    this.#stallTimer ??= setTimeout(() => {
      this.#stallTimer = undefined;
      this.isStalled = true;
      const busyWith = this.computing;
      const waiting = new Set(this.#owed.flatMap(({ execution }) => (execution === busyWith ? [] : [execution])));
      for (const id of waiting) this.#tenants.get(id)?.workerStalled(this);
    }, STALL_MS);
  }

  #lost(reason: string): void {
    clearTimeout(this.#stallTimer);
    clearTimeout(this.#droppedTimer);
    const killed = this.#killed;
    const computing = killed === undefined ? this.#accused : killed.computing;
    const tenants = [...this.#tenants.values()];
    this.#tenants.clear();
    this.onChange?.();
    for (const tenant of tenants) {
      const part = tenant.id !== computing ? 'bystander' : killed === undefined ? 'suspect' : 'guilty';
      tenant.workerLost(this, part, reason);
    }
  }
}
