import { randomBytes } from 'node:crypto';
import { HostError, isHostError } from '../domain/errors.js';
import type {
  CallerId,
  CallNumber,
  CallReply,
  ExecutionId,
  Failure,
  GuestCall,
  LogEntry,
  Outcome,
} from '../domain/execution.js';
import { HARMLESS_SOURCE_BYTES } from '../domain/limits.js';
import { Cancellation } from '../lib/cancellation.js';
import { deferred } from '../lib/deferred.js';
import type { WorkerToHost } from '../wire/messages.js';
import { MAX_IMAGE_BYTES, MAX_VALUE_BYTES } from '../wire/messages.js';
import { CallBook } from './call-book.js';
import { CANCELLED, endedItsWorker, lostItsWorkers, outOfTime, UNREADABLE } from './failures.js';
import type { Delivery, Journal } from './journal.js';
import { LogBook } from './log-book.js';
import type { Pool } from './pool.js';
import type { PartInLoss, RunWorker, Tenant } from './run-worker.js';
import { Seat } from './seat.js';
import { TimeBudget } from './time-budget.js';

export interface ExecutionHandlers {
  /** Answers a call of the program. Rejections reach the program as an error that says nothing of ours. */
  onCall(call: GuestCall, signal: AbortSignal): Promise<CallReply>;
  onLog?(entry: LogEntry): void;
  /** Something reaches the program now, as the journal has it at this position. */
  onDelivery?(delivery: Delivery, position: number): void;
  /** A call was answered after its program had been suspended: whoever resumes it must hand this in again. */
  onLateReply?(call: GuestCall, reply: CallReply): void;
}

export interface ExecutionReport {
  readonly outcome: Outcome;
  readonly logs: readonly LogEntry[];
  readonly logsCut: boolean;
  readonly journal: Journal;
  readonly durationMs: number;
}

/** What a suspended program leaves behind on the host's side. */
export interface CarriedOver {
  readonly openCalls: readonly GuestCall[];
  readonly logs: readonly LogEntry[];
  readonly wakeAtMs: number | null;
}

/** Given to a worker to end a program by itself before it is killed with everything it holds. */
const KILL_GRACE_MS = 250;
/** Others may have brought its workers down, one after the other; past this it is not unlucky. */
const MAX_REBUILDS = 20;
/** A worker that has not handed a program over by then is not going to: an image of the largest memory takes two seconds. */
const SUSPEND_TIMEOUT_MS = 20_000;
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
  #seat: Seat | undefined;
  #state: 'placing' | 'running' | 'suspending' | 'suspended' | 'ended' = 'placing';
  readonly #budget: TimeBudget;
  readonly #begunAt = performance.now();
  #killTimer: NodeJS.Timeout | undefined;
  #wakeTimer: NodeJS.Timeout | undefined;
  #wakeAtMs: number | null = null;
  #lastAtMs: number;
  #rebuilds = 0;
  #crashes = 0;
  /** A worker has said something of it, so its source was read. */
  #hasSpoken = false;
  readonly #heldReplies: { readonly call: GuestCall; readonly reply: CallReply }[] = [];
  #timeWasHeld = false;
  #suspension: { resolve(image: Buffer): void; reject(error: unknown): void } | undefined;

  constructor(pool: Pool, caller: CallerId, journal: Journal, handlers: ExecutionHandlers, remainingMs?: number) {
    this.id = journal.execution;
    this.caller = caller;
    this.journal = journal;
    this.#pool = pool;
    this.#handlers = handlers;
    this.#libraryDigest = pool.libraries.of(journal.modules);
    this.#calls = new CallBook(journal);
    this.#logs = new LogBook(journal.limits.maxLogBytes);
    this.#budget = new TimeBudget(remainingMs ?? journal.limits.timeoutMs, () => this.#outOfTime());
    this.#lastAtMs = journal.deliveries.at(-1)?.atMs ?? journal.startedAtMs;
  }

  static newSeed(): string {
    return randomBytes(8).readBigUInt64LE().toString();
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

  get #wholeMs(): number {
    return Math.max(1, Math.ceil(this.remainingMs));
  }

  get #worker(): RunWorker | undefined {
    return this.#seat?.worker;
  }

  // Beginnings: a new program, one from its journal, one from its image.

  async begin(): Promise<void> {
    await this.#place((seat) => seat.start(this.#wholeMs));
  }

  /** `inImage`: how many of the journal's deliveries it had when the image was taken. The others reach it again. */
  async beginFromImage(image: Buffer, carried: CarriedOver, inImage: number): Promise<void> {
    this.#carryOver(carried);
    await this.#place((seat) => seat.resume(image, this.#wholeMs, inImage));
  }

  /** A program whose image is of another build: it walks through its journal again. */
  async beginFromJournal(carried: CarriedOver): Promise<void> {
    this.#carryOver(carried);
    await this.begin();
  }

  #carryOver({ openCalls, logs, wakeAtMs }: CarriedOver): void {
    this.#calls.carryOver(openCalls);
    this.#logs.carryOver(logs);
    this.#wakeAtMs = wakeAtMs;
  }

  // What may be done with it from outside.

  cancel(): void {
    this.#fail(CANCELLED);
  }

  /** Its time stands still while it waits for nothing but a person. */
  holdTime(): void {
    if (this.#state === 'running') this.#budget.stop();
  }

  spendTime(): void {
    if (this.#state === 'running') this.#budget.start();
  }

  /** Answers an open call that was made before this program was suspended. */
  answer(call: CallNumber, reply: CallReply): void {
    const open = this.#calls.find(call);
    if (open !== undefined) this.#replied(open, reply);
  }

  /** Takes the program out of its worker. It must be waiting; its open calls stay open. */
  suspend(): Promise<Buffer> {
    const seat = this.#seat;
    if (this.#state !== 'running' || seat === undefined)
      throw new HostError('bad_input', 'only a running program can be suspended');
    if (this.journal.blocking) throw new HostError('bad_input', 'a program with blocking calls cannot be suspended');
    this.#timeWasHeld = !this.#budget.isRunning;
    this.#pause();
    this.#state = 'suspending';
    // Its own time stands still from here on, so nothing else would end a worker that keeps it.
    this.#killTimer = setTimeout(
      () => seat.worker.kill('it did not hand over a suspended program'),
      SUSPEND_TIMEOUT_MS,
    );
    const { promise, resolve, reject } = deferred<Buffer>();
    this.#suspension = { resolve, reject };
    seat.suspend();
    return promise;
  }

  /** What the next process must know of it besides journal and image. */
  get carriedOver(): CarriedOver {
    return { openCalls: this.openCalls, logs: this.#logs.entries, wakeAtMs: this.#wakeAtMs };
  }

  // What the worker says. All of it is parsed, none of it is believed beyond this program.

  receive(message: WorkerToHost, body: Buffer, from: RunWorker): void {
    if (from !== this.#worker || this.#state === 'ended' || this.#state === 'suspended') return;
    this.#hasSpoken = true;
    switch (message.type) {
      case 'execution/waiting':
        this.#seat?.answered();
        // Answers come in order: the last one is the answer to `suspend`, and it is no image.
        if (this.#state === 'suspending' && this.#seat?.isQuiet === true) this.#stay();
        return this.#waiting(message.wakeAtMs);
      case 'call/request':
        if (body.length > MAX_VALUE_BYTES) return from.kill('it sent larger arguments than it may');
        return this.#requested({
          execution: this.id,
          number: message.call,
          target: message.target,
          argumentsJson: body.toString('utf8'),
        });
      case 'execution/log':
        return this.#logged(message.entry, {
          level: message.level,
          message: body.toString('utf8'),
          timeMs: Math.round(message.atMs),
        });
      case 'execution/suspended':
        return this.#suspended(body);
      case 'execution/end': {
        if (message.failure === null) return this.#completed(body, message.logsCut, from);
        const failure = message.failure.limit === 'timeout' ? this.#timeout : message.failure;
        return this.#finish({ status: 'failed', failure }, message.logsCut);
      }
      case 'worker/ready':
        return;
    }
  }

  workerLost(from: RunWorker, part: PartInLoss, reason: string): void {
    if (from !== this.#worker || this.#state === 'ended' || this.#state === 'suspended') return;
    this.#seat = undefined;
    if (part === 'guilty' && this.remainingMs <= 0) return this.#fail(this.#timeout);
    // A suspect gets one more try: what it was sent may have crossed with the end of a worker that died of another cause.
    if (part === 'suspect') this.#crashes++;
    if (part === 'guilty' || this.#crashes > 1 || (part === 'suspect' && this.journal.blocking))
      return this.#fail(part === 'suspect' && this.#mayBeUnreadable ? UNREADABLE : endedItsWorker(reason));
    if (this.journal.blocking) return this.#fail(lostItsWorkers('its calls block, so it cannot be taken to another'));
    this.#pause();
    if (this.#state === 'suspending') {
      this.#suspension?.reject(
        new HostError(
          'worker_lost',
          'the worker was lost while it suspended the program; the program goes on in another one',
        ),
      );
      this.#suspension = undefined;
    }
    this.#rebuild();
  }

  /** Nothing was ever heard of it, and its source is long enough to bring a parser down. */
  get #mayBeUnreadable(): boolean {
    return !this.#hasSpoken && Buffer.byteLength(this.journal.source) > HARMLESS_SOURCE_BYTES;
  }

  workerStalled(from: RunWorker): void {
    if (from !== this.#worker || this.#state !== 'running' || this.journal.blocking) return;
    if (!this.#pool.hasBetterThan(from)) return;
    this.#pause();
    from.cancel(this.id);
    this.#seat = undefined;
    this.#goElsewhere();
  }

  // Getting into a worker, and into another one.

  async #place(take: (seat: Seat) => void): Promise<void> {
    let worker: RunWorker;
    try {
      worker = await this.#pool.place(this.caller, this.journal.blocking, this.#cancellation);
    } catch (error) {
      if (this.#state === 'ended') return;
      throw error;
    }
    if (this.#state === 'ended') return this.#pool.notNeeded(worker);
    worker.admit(this);
    this.#seat = new Seat(worker, this.journal, this.#libraryDigest);
    this.#state = 'running';
    this.#budget.start();
    take(this.#seat);
    // All of its journal, for one that begins again; what was answered while it had no place, for all.
    this.#seat.catchUp();
  }

  /** In another worker, from the journal. What it asks for again has been asked for already and is not asked twice. */
  #rebuild(): void {
    if (++this.#rebuilds > MAX_REBUILDS) {
      this.#fail(lostItsWorkers('it lost several'));
      return;
    }
    this.#goElsewhere();
  }

  #goElsewhere(): void {
    this.#state = 'placing';
    this.#releaseReplies();
    this.#place((seat) => seat.start(this.#wholeMs)).catch((error: unknown) => {
      this.#fail(lostItsWorkers(isHostError(error) ? error.message : 'none could be had'));
    });
  }

  // Deliveries: the only things that ever reach a program.

  #deliver(delivery: Delivery): void {
    this.journal.deliveries.push(delivery);
    this.#handlers.onDelivery?.(delivery, this.journal.deliveries.length - 1);
    if (this.#state === 'running') this.#seat?.catchUp();
  }

  #deliverReply(call: GuestCall, reply: CallReply): void {
    // Said twice, it is an answer to nothing.
    if (this.#calls.find(call.number) === undefined) return;
    const delivery = this.#calls.answer(call, reply, this.#now());
    if ('message' in delivery) this.#fail(delivery);
    else this.#deliver(delivery);
  }

  /** Whole milliseconds, never backwards: the clock a program sees. */
  #now(): number {
    this.#lastAtMs = Math.max(this.#lastAtMs, Date.now());
    return this.#lastAtMs;
  }

  #waiting(wakeAtMs: number | null): void {
    this.#wakeAtMs = wakeAtMs;
    clearTimeout(this.#wakeTimer);
    if (wakeAtMs === null || !this.isWaiting) return;
    const delayMs = Math.min(Math.max(0, wakeAtMs - Date.now()), 2 ** 31 - 1);
    this.#wakeTimer = setTimeout(() => {
      // The event loop may wake a little early by its own clock; the program must not see a timer before its time.
      this.#lastAtMs = Math.max(this.#lastAtMs, Math.ceil(wakeAtMs));
      this.#deliver({ kind: 'timer', atMs: this.#now() });
    }, delayMs);
  }

  #requested(call: GuestCall): void {
    const verdict = this.#calls.enter(call);
    if (verdict.is === 'forged') return this.#worker?.kill(verdict.reason);
    if (verdict.is === 'too much') return this.#fail(verdict.failure);
    if (verdict.is === 'known') return;
    this.#handlers.onCall(call, this.#cancellation.signal).then(
      (reply) => this.#replied(call, reply),
      () =>
        this.#replied(call, {
          ok: false,
          error: {
            errorClass: 'ToolCallError',
            message: 'the call failed inside the host',
            hint: 'Try again; if it keeps failing, look at the host log.',
          },
        }),
    );
  }

  #replied(call: GuestCall, reply: CallReply): void {
    // The image may be taken already: what is delivered now would be in the journal and not in it.
    if (this.#state === 'suspending') this.#heldReplies.push({ call, reply });
    else if (this.#state === 'suspended') this.#handlers.onLateReply?.(call, reply);
    else if (this.#state !== 'ended') this.#deliverReply(call, reply);
  }

  #logged(entry: number, log: LogEntry): void {
    const kept = this.#logs.enter(entry, log);
    if (kept === 'too much') return this.#worker?.kill('it logged more than it may');
    if (kept === 'kept') this.#handlers.onLog?.(log);
  }

  #suspended(image: Buffer): void {
    const suspension = this.#suspension;
    if (this.#state !== 'suspending' || suspension === undefined)
      return this.#worker?.kill('it suspended what it was not asked to');
    this.#state = 'suspended';
    clearTimeout(this.#killTimer);
    this.#worker?.release(this.id);
    this.#seat = undefined;
    suspension.resolve(Buffer.from(image));
    this.#releaseReplies();
  }

  /** What came while it was not decided whether the program leaves. */
  #releaseReplies(): void {
    for (const { call, reply } of this.#heldReplies.splice(0)) this.#replied(call, reply);
  }

  /** Its image would be larger than can be handed over, so it goes on where it is. */
  #stay(): void {
    clearTimeout(this.#killTimer);
    this.#state = 'running';
    if (!this.#timeWasHeld) this.#budget.start();
    this.#suspension?.reject(
      new HostError(
        'bad_input',
        `the program holds too much to be suspended (${MAX_IMAGE_BYTES} bytes at most); it goes on`,
      ),
    );
    this.#suspension = undefined;
    this.#releaseReplies();
  }

  // Time, and the end.

  /** Neither time nor timers go on while the program is nowhere. */
  #pause(): void {
    this.#budget.stop();
    clearTimeout(this.#wakeTimer);
    clearTimeout(this.#killTimer);
  }

  /** A program that is computing ends itself, or is killed; one that waits ends here. */
  #outOfTime(): void {
    const worker = this.#worker;
    if (this.journal.blocking) worker?.kill('its blocking program ran out of time');
    else if (worker?.computing === this.id) {
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

  /** A result is handed on as text, so it is seen to be JSON first: a worker that was taken over writes what it likes. */
  #completed(body: Buffer, logsCut: boolean, from: RunWorker): void {
    const resultJson = body.toString('utf8');
    try {
      if (body.length > MAX_VALUE_BYTES) throw new RangeError();
      JSON.parse(resultJson);
    } catch {
      from.kill('it sent a result that is not JSON, or larger than it may be');
      return this.#finish({ status: 'failed', failure: endedItsWorker('its result was no JSON') }, logsCut);
    }
    this.#finish({ status: 'completed', resultJson }, logsCut);
  }

  #fail(failure: Failure): void {
    if (this.#state === 'ended') return;
    const worker = this.#worker;
    if (worker !== undefined && !worker.isLost) {
      const isComputing = worker.computing === this.id;
      worker.cancel(this.id);
      // It cannot read that while it computes. What else the worker holds is rebuilt elsewhere if it must be killed.
      if (isComputing)
        setTimeout(
          () => worker.computing === this.id && worker.kill('a program that was ended did not stop'),
          KILL_GRACE_MS,
        );
    }
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
    this.#suspension?.reject(new HostError('bad_input', 'the program ended before it could be suspended'));
    this.#ended.resolve({
      outcome,
      logs: this.#logs.entries,
      logsCut,
      journal: this.journal,
      durationMs: performance.now() - this.#begunAt,
    });
  }
}
