import { HostError, isHostError } from '../domain/errors.js';
import {
  type CallerId,
  type CallNumber,
  type CallReply,
  type ExecutionId,
  type Failure,
  type GuestCall,
  type LogEntry,
  type Outcome,
  outOfTime,
  type ResourceUsage,
  type SourcePosition,
} from '../domain/execution.js';
import { Cancellation } from '../lib/cancellation.js';
import { deferred } from '../lib/deferred.js';
import { type ClockRecord, MAX_VALUE_BYTES, type WorkerToHost } from '../wire/messages.js';
import { CallBook } from './call-book.js';
import { ClockBook } from './clock-book.js';
import { Departure } from './departure.js';
import { type CarriedOver, type ExecutionHandlers, type ExecutionReport, mostOf } from './execution-report.js';
import { CANCELLED, endedItsWorker, FAILED_INSIDE, lostItsWorkers } from './failures.js';
import { clockRecordOf, type Delivery, type Journal } from './journal.js';
import { LogBook } from './log-book.js';
import type { Pool } from './pool.js';
import { ProgramClock } from './program-clock.js';
import type { PartInLoss, RunWorker, Tenant } from './run-worker.js';
import { Seat } from './seat.js';
import { Setbacks } from './setbacks.js';
import { TimeBudget } from './time-budget.js';
import { callIn, logIn, outcomeIn } from './worker-words.js';

/** Given to a worker to end a program by itself before it is killed with everything it holds. */
const KILL_GRACE_MS = 250;
const NO_JSON: Outcome = { status: 'failed', failure: endedItsWorker('its result was no JSON') };

/** One program's life on this side of the wall: where it is, what it waits for, and what reached it. */
export class SandboxExecution implements Tenant {
  readonly id: ExecutionId;
  readonly caller: CallerId;
  readonly journal: Journal;
  readonly #pool: Pool;
  readonly #handlers: ExecutionHandlers;
  readonly #libraryDigest: string;
  readonly #ended = deferred<ExecutionReport>();
  readonly #cancellation = new Cancellation(
    () => new HostError('cancelled', 'the program that asked for this is over'),
  );
  readonly #calls: CallBook;
  readonly #logs: LogBook;
  readonly #ticks: ClockBook;
  #seat: Seat | undefined;
  /** Parked: its worker was needed by others while it waited; it asks for another when there is something for it. */
  #state: 'placing' | 'running' | 'parked' | 'suspending' | 'suspended' | 'ended' = 'placing';
  readonly #budget: TimeBudget;
  /** All it waits for is a person. */
  #isHeld = false;
  readonly #begunAt = performance.now();
  #killTimer: NodeJS.Timeout | undefined;
  readonly #clock: ProgramClock;
  readonly #setbacks: Setbacks;
  #departure: Departure | undefined;
  #usage: ResourceUsage = { cpuMs: 0, memoryBytes: 0 };

  constructor(pool: Pool, caller: CallerId, journal: Journal, handlers: ExecutionHandlers, remainingMs?: number) {
    this.id = journal.execution;
    this.caller = caller;
    this.journal = journal;
    this.#pool = pool;
    this.#handlers = handlers;
    this.#libraryDigest = pool.libraries.of(journal.modules);
    this.#setbacks = new Setbacks(journal.source);
    this.#calls = new CallBook(journal, pool.accountOf(caller));
    this.#logs = new LogBook(journal.limits.maxLogBytes);
    this.#ticks = new ClockBook(clockRecordOf(journal));
    this.#budget = new TimeBudget(remainingMs ?? journal.limits.timeoutMs, () => this.#outOfTime());
    this.#clock = new ProgramClock(journal.deliveries.at(-1)?.atMs ?? journal.startedAtMs);
  }

  /** Settles when the program has come to an end of any kind. Suspended programs have not. */
  get report(): Promise<ExecutionReport> {
    return this.#ended.promise;
  }

  get openCalls(): readonly GuestCall[] {
    return this.#calls.open;
  }

  get isWaiting(): boolean {
    return this.#state === 'running' && this.#seat?.isQuiet === true;
  }

  get remainingMs(): number {
    return this.#budget.remainingMs;
  }

  get #worker(): RunWorker | undefined {
    return this.#seat?.worker;
  }

  // Beginnings: a new program, one from its journal, one from its image.

  async begin(): Promise<void> {
    await this.#place((seat) => seat.start(this.remainingMs));
  }

  /** `inImage`: how many of the journal's deliveries it had when the image was taken. The others reach it again. */
  async beginFromImage(image: Buffer, carried: CarriedOver, inImage: number): Promise<void> {
    this.#carryOver(carried);
    await this.#place((seat) => seat.resume(image, this.remainingMs, inImage));
  }

  /** A program whose image is of another build: it walks through its journal again. */
  async beginFromJournal(carried: CarriedOver): Promise<void> {
    this.#carryOver(carried);
    await this.begin();
  }

  #carryOver({ openCalls, logs, wakeAtMs }: CarriedOver): void {
    this.#calls.carryOver(openCalls);
    this.#logs.carryOver(logs);
    this.#clock.wakeAtMs = wakeAtMs;
  }

  // What may be done with it from outside.

  cancel(): void {
    this.#fail(CANCELLED);
  }

  /** Held, its time stands still, but for what it computes: its timers may be due while all its calls wait for a person. */
  holdTime(isHeld: boolean): void {
    this.#isHeld = isHeld;
    this.#countTime();
  }

  /** Answers an open call that was made before this program was suspended. */
  answer(call: CallNumber, reply: CallReply): void {
    const open = this.#calls.find(call);
    if (open !== undefined) this.#replied(open, reply);
  }

  /** Where in the source an open call was made, innermost first; nothing where that cannot be told soon. */
  async locate(call: CallNumber): Promise<readonly SourcePosition[]> {
    const seat = this.#seat;
    // One with blocking calls cannot look at itself while it waits.
    if (this.#state !== 'running' || seat === undefined || this.journal.blocking) return [];
    return this.#calls.find(call) === undefined ? [] : seat.locate(call);
  }

  /** Takes the program out of its worker. It must be waiting; its open calls stay open. */
  suspend(): Promise<Buffer> {
    if (this.#state === 'parked') return this.#unpark().then(() => this.suspend());
    const seat = this.#seat;
    if (this.#state !== 'running' || seat === undefined)
      throw new HostError('bad_input', 'only a running program can be suspended');
    if (this.journal.blocking) throw new HostError('bad_input', 'a program with blocking calls cannot be suspended');
    this.#pause();
    this.#state = 'suspending';
    this.#departure = new Departure(() => seat.worker.kill('it did not hand over a suspended program'));
    seat.suspend();
    return this.#departure.image;
  }

  /** What the next process must know of it besides journal and image. */
  get carriedOver(): CarriedOver {
    return { openCalls: this.openCalls, logs: this.#logs.entries, wakeAtMs: this.#clock.wakeAtMs };
  }

  // What the worker says. All of it is parsed, none of it is believed beyond this program.

  receive(message: WorkerToHost, body: Buffer, from: RunWorker): void {
    if (from !== this.#worker || this.#state === 'ended' || this.#state === 'suspended') return;
    this.#setbacks.hasSpoken = true;
    switch (message.type) {
      case 'execution/waiting':
        this.#usage = mostOf(this.#usage, message.usage);
        this.#seat?.answered();
        this.#countTime();
        // Answers come in order: the last one is the answer to `suspend`, and it is no image.
        if (this.#state === 'suspending' && this.#seat?.isQuiet === true) this.#stay();
        return this.#waiting(message.wakeAtMs);
      case 'call/request':
        if (body.length > MAX_VALUE_BYTES) return from.kill('it sent larger arguments than it may');
        return this.#requested(callIn(message, body));
      case 'call/site':
        if (this.#seat?.located(message.call, message.places) !== true) from.kill('it told a place unasked');
        return;
      case 'execution/log':
        return this.#logged(message.entry, logIn(message, body));
      case 'clock/read':
        return this.#clockRead(message);
      case 'execution/suspended':
        return this.#suspended(body);
      case 'execution/end': {
        this.#usage = mostOf(this.#usage, message.usage);
        const outcome = outcomeIn(message, body, this.#timeout);
        if (outcome === undefined) from.kill('it sent a result that is not JSON, or larger than it may be');
        return this.#finish(outcome ?? NO_JSON, message.logsCut);
      }
      case 'worker/ready':
        return;
    }
  }

  workerLost(from: RunWorker, part: PartInLoss, reason: string): void {
    if (from !== this.#worker || this.#state === 'ended' || this.#state === 'suspended') return;
    this.#seat = undefined;
    if (part === 'guilty' && this.remainingMs <= 0) return this.#fail(this.#timeout);
    const end = this.#setbacks.lost(part, reason);
    if (end !== undefined) return this.#fail(end);
    this.#pause();
    this.#departure?.fail('worker lost');
    this.#rebuild();
  }

  workerStalled(from: RunWorker): void {
    if (from !== this.#worker || this.#state !== 'running' || this.journal.blocking) return;
    if (!this.#setbacks.mayMove || !this.#pool.hasBetterThan(from)) return;
    this.#setbacks.moved();
    this.#pause();
    from.cancel(this.id);
    this.#seat = undefined;
    void this.#goElsewhere();
  }

  workerTaken(from: RunWorker): void {
    if (from !== this.#worker || this.#state !== 'running') return;
    this.#seat = undefined;
    this.#state = 'parked';
  }

  // Getting into a worker, and into another one.

  async #place(take: (seat: Seat) => void, isUnderWay = false): Promise<void> {
    let worker: RunWorker;
    try {
      worker = await this.#pool.place(this.caller, this.journal.blocking, this.#cancellation, isUnderWay);
    } catch (error) {
      if (this.#state === 'ended') return;
      throw error;
    }
    if (this.#state === 'ended') return this.#pool.notNeeded(worker);
    worker.admit(this);
    this.#calls.inAnotherWorker();
    this.#seat = new Seat(worker, this.journal, this.#libraryDigest);
    this.#state = 'running';
    this.#budget.start();
    take(this.#seat);
    // All of its journal, for one that begins again; what was answered while it had no place, for all.
    this.#seat.catchUp();
  }

  /** In another worker, from the journal. What it asks for again has been asked for already and is not asked twice. */
  #rebuild(): void {
    const end = this.#setbacks.rebuilt();
    if (end === undefined) void this.#goElsewhere();
    else this.#fail(end);
  }

  #goElsewhere(): Promise<void> {
    this.#state = 'placing';
    this.#releaseReplies();
    return this.#place((seat) => seat.start(this.remainingMs), true).catch((error: unknown) => {
      this.#fail(lostItsWorkers(isHostError(error) ? error.message : 'none could be had'));
    });
  }

  #unpark(): Promise<void> {
    this.#pause();
    return this.#goElsewhere();
  }

  // Deliveries: the only things that ever reach a program.

  #deliver(delivery: Delivery): void {
    this.journal.deliveries.push(delivery);
    this.#handlers.onDelivery?.(delivery, this.journal.deliveries.length - 1);
    if (this.#state === 'running') {
      this.#seat?.catchUp();
      this.#countTime();
    } else if (this.#state === 'parked') void this.#unpark();
  }

  #deliverReply(call: GuestCall, reply: CallReply): void {
    // Said twice, it is an answer to nothing.
    if (this.#calls.find(call.number) === undefined) return;
    if ('ends' in reply) this.journal.endedBy = { call: call.number, failure: reply.ends };
    const delivery = this.#calls.answer(call, reply, this.#clock.now());
    if ('message' in delivery) this.#fail(delivery);
    else this.#deliver(delivery);
  }

  /** On record before anything that the program did after it: a rebuilt one must read the same times. */
  #clockRead({ reads, ticks }: ClockRecord): void {
    const problem = this.#ticks.enter(reads, ticks);
    if (problem !== undefined) return this.#worker?.kill(problem);
    const atMs = this.journal.deliveries.at(-1)?.atMs ?? this.journal.startedAtMs;
    const entry: Delivery = { kind: 'clock', atMs, reads, ticks };
    this.journal.deliveries.push(entry);
    this.#handlers.onDelivery?.(entry, this.journal.deliveries.length - 1);
  }

  #waiting(wakeAtMs: number | null): void {
    this.#clock.wakeAtMs = wakeAtMs;
    this.#clock.wakeAt(this.isWaiting ? wakeAtMs : null, (atMs) => this.#deliver({ kind: 'timer', atMs }));
  }

  #requested(call: GuestCall): void {
    const verdict = this.#calls.enter(call);
    if (verdict.is === 'forged') return this.#worker?.kill(verdict.reason);
    if (verdict.is === 'too much') return this.#fail(verdict.failure);
    if (verdict.is === 'known') return;
    this.#handlers.onCall(call, this.#cancellation.signal).then(
      (reply) => this.#replied(call, reply),
      () => this.#replied(call, { ok: false, error: FAILED_INSIDE }),
    );
  }

  #replied(call: GuestCall, reply: CallReply): void {
    if (this.#state === 'suspending') this.#departure?.hold(call, reply);
    else if (this.#state === 'suspended') this.#handlers.onLateReply?.(call, reply);
    else if (this.#state !== 'ended') this.#deliverReply(call, reply);
  }

  #logged(entry: number, log: LogEntry): void {
    const kept = this.#logs.enter(entry, log);
    if (kept === 'too much') return this.#worker?.kill('it logged more than it may');
    if (kept === 'kept') this.#handlers.onLog?.(log);
    else this.#worker?.wasted();
  }

  #suspended(image: Buffer): void {
    if (this.#state !== 'suspending') return this.#worker?.kill('it suspended what it was not asked to');
    this.#state = 'suspended';
    this.#worker?.release(this.id);
    this.#seat = undefined;
    this.#departure?.complete(Buffer.from(image));
    this.#calls.release();
    this.#releaseReplies();
  }

  /** It is decided whether the program leaves: what came meanwhile goes where it belongs. */
  #releaseReplies(): void {
    const held = this.#departure?.takeHeld() ?? [];
    this.#departure = undefined;
    for (const { call, reply } of held) this.#replied(call, reply);
  }

  /** Its image would be larger than can be handed over, so it goes on where it is. */
  #stay(): void {
    this.#state = 'running';
    this.#countTime();
    this.#departure?.fail('too large');
    this.#releaseReplies();
  }

  // Time, and the end.

  #countTime(): void {
    if (this.#state !== 'running' && this.#state !== 'parked') return;
    const isComputing = this.#state === 'running' && this.#seat?.isQuiet !== true;
    if (this.#isHeld && !isComputing) this.#budget.stop();
    else this.#budget.start();
  }

  /** Neither time nor timers go on while the program is nowhere. */
  #pause(): void {
    this.#budget.stop();
    this.#clock.stop();
    clearTimeout(this.#killTimer);
  }

  /** A program that is computing ends itself, or is killed; one that waits, or is blocked by a call, ends here. */
  #outOfTime(): void {
    const worker = this.#worker;
    const isBlocked = this.journal.blocking && this.#calls.open.length > 0;
    if (worker?.computing === this.id && !isBlocked) {
      this.#killTimer = setTimeout(() => {
        if (worker.computing === this.id) worker.kill('a program did not stop when its time was over');
        else this.#fail(this.#timeout);
      }, KILL_GRACE_MS);
      return;
    }
    this.#fail(this.#timeout);
  }

  get #timeout(): Failure {
    return outOfTime(this.journal.limits.timeoutMs);
  }

  #fail(failure: Failure): void {
    if (this.#state === 'ended') return;
    this.#worker?.dismiss(this.id, KILL_GRACE_MS);
    this.#seat = undefined;
    this.#finish({ status: 'failed', failure }, false);
  }

  #finish(outcome: Outcome, logsCut: boolean): void {
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    this.#worker?.release(this.id);
    this.#seat = undefined;
    this.#pause();
    // Calls still under way are told to stop: nobody will read their answers.
    this.#cancellation.cancel();
    this.#calls.clear();
    this.#departure?.fail('ended');
    this.#ended.resolve({
      outcome,
      logs: this.#logs.entries,
      logsCut,
      journal: this.journal,
      durationMs: performance.now() - this.#begunAt,
      usage: this.#usage,
    });
  }
}
