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
import {
  CANCELLED,
  endedItsWorker,
  lostItsWorkers,
  outOfTime,
  tooLargeOpenCalls,
  tooManyOpenCalls,
  tooMuchDelivered,
  UNREADABLE,
} from './failures.js';
import type { Delivery, Journal } from './journal.js';
import { digestOf } from './journal.js';
import type { Pool } from './pool.js';
import type { PartInLoss, RunWorker, Tenant } from './run-worker.js';
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
const MAX_LOG_ENTRIES = 100_000;
/** Calls a program may have open at once; each holds memory of ours. */
const MAX_OPEN_CALLS = 10_000;
/** Arguments of all open calls of a program. It can make them from one string of its own, at no cost to its memory limit. */
const MAX_OPEN_CALL_BYTES = 64 * 1024 * 1024;
/** What a journal may hold of answers. They stay here as long as the program runs, however little of them it keeps. */
const MAX_DELIVERED_BYTES = 512 * 1024 * 1024;

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
  readonly #openCalls = new Map<CallNumber, GuestCall>();
  readonly #logs: LogEntry[] = [];
  #logBytes = 0;
  #worker: RunWorker | undefined;
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
  /** How much of the journal the present worker has been sent. Behind its end: a rebuilt program is catching up. */
  #sentDeliveries = 0;
  #unanswered = 0;
  #openCallBytes = 0;
  #deliveredBytes = 0;
  #seenCalls = 0;
  #seenLogs = 0;
  readonly #heldReplies: { readonly call: GuestCall; readonly reply: CallReply }[] = [];
  #suspension: { resolve(image: Buffer): void; reject(error: unknown): void } | undefined;

  constructor(pool: Pool, caller: CallerId, journal: Journal, handlers: ExecutionHandlers, remainingMs?: number) {
    this.id = journal.execution;
    this.caller = caller;
    this.journal = journal;
    this.#pool = pool;
    this.#handlers = handlers;
    this.#libraryDigest = pool.libraries.of(journal.modules);
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
    return [...this.#openCalls.values()];
  }

  get isWaiting(): boolean {
    return this.#state === 'running' && this.#unanswered === 0;
  }

  get remainingMs(): number {
    return this.#budget.remainingMs;
  }

  // Beginnings: a new program, one from its journal, one from its image.

  async begin(): Promise<void> {
    await this.#place((worker) => this.#sendStart(worker));
  }

  /** `inImage`: how many of the journal's deliveries it had when the image was taken. The others reach it again. */
  async beginFromImage(image: Buffer, carried: CarriedOver, inImage: number): Promise<void> {
    this.#carryOver(carried);
    await this.#place((worker) => {
      this.#sentDeliveries = inImage;
      this.#assigned(() =>
        worker.assign(
          {
            type: 'execution/resume',
            execution: this.id,
            library: this.#libraryDigest,
            timeoutMs: Math.max(1, Math.ceil(this.remainingMs)),
          },
          image,
        ),
      );
    });
  }

  /** A program whose image is of another build: it walks through its journal again. */
  async beginFromJournal(carried: CarriedOver): Promise<void> {
    this.#carryOver(carried);
    await this.begin();
  }

  #carryOver({ openCalls, logs, wakeAtMs }: CarriedOver): void {
    for (const call of openCalls) {
      this.#openCalls.set(call.number, call);
      this.#openCallBytes += call.argumentsJson.length;
    }
    for (const each of this.journal.deliveries) if ('body' in each) this.#deliveredBytes += each.body.byteLength;
    this.#seenCalls = this.journal.calls.length;
    this.#logs.push(...logs);
    this.#seenLogs = logs.length;
    this.#logBytes = logs.reduce((sum, { message }) => sum + Buffer.byteLength(message), 0);
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
    const open = this.#openCalls.get(call);
    if (open !== undefined) this.#replied(open, reply);
  }

  /** Takes the program out of its worker. It must be waiting; its open calls stay open. */
  suspend(): Promise<Buffer> {
    if (this.#state !== 'running' || this.#worker === undefined)
      throw new HostError('bad_input', 'only a running program can be suspended');
    if (this.journal.blocking) throw new HostError('bad_input', 'a program with blocking calls cannot be suspended');
    const worker = this.#worker;
    this.#pause();
    this.#state = 'suspending';
    // Its own time stands still from here on, so nothing else would end a worker that keeps it.
    this.#killTimer = setTimeout(() => worker.kill('it did not hand over a suspended program'), SUSPEND_TIMEOUT_MS);
    const { promise, resolve, reject } = deferred<Buffer>();
    this.#suspension = { resolve, reject };
    this.#assigned(() => worker.assign({ type: 'execution/suspend', execution: this.id }));
    return promise;
  }

  /** What the next process must know of it besides journal and image. */
  get carriedOver(): CarriedOver {
    return { openCalls: this.openCalls, logs: this.#logs, wakeAtMs: this.#wakeAtMs };
  }

  // What the worker says. All of it is parsed, none of it is believed beyond this program.

  receive(message: WorkerToHost, body: Buffer, from: RunWorker): void {
    if (from !== this.#worker || this.#state === 'ended' || this.#state === 'suspended') return;
    this.#hasSpoken = true;
    switch (message.type) {
      case 'execution/waiting':
        this.#unanswered--;
        // Answers come in order: the last one is the answer to `suspend`, and it is no image.
        if (this.#state === 'suspending' && this.#unanswered === 0) this.#stay();
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
    this.#worker = undefined;
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
    this.#worker = undefined;
    this.#goElsewhere();
  }

  // Getting into a worker, and into another one.

  async #place(send: (worker: RunWorker) => void): Promise<void> {
    let worker: RunWorker;
    try {
      worker = await this.#pool.place(this.caller, this.journal.blocking, this.#cancellation);
    } catch (error) {
      if (this.#state === 'ended') return;
      throw error;
    }
    if (this.#state === 'ended') return this.#pool.notNeeded(worker);
    this.#worker = worker;
    this.#state = 'running';
    this.#budget.start();
    this.#unanswered = 0;
    worker.admit(this);
    worker.loadLibrary(this.#libraryDigest, this.journal.modules);
    send(worker);
    this.#pump();
  }

  #sendStart(worker: RunWorker): void {
    const { source, language, limits, seed, startedAtMs, blocking } = this.journal;
    this.#sentDeliveries = 0;
    this.#assigned(() =>
      worker.assign(
        {
          type: 'execution/start',
          execution: this.id,
          library: this.#libraryDigest,
          language,
          seed,
          startedAtMs,
          timeoutMs: Math.max(1, Math.ceil(this.remainingMs)),
          maxMemoryBytes: limits.maxMemoryBytes,
          maxLogBytes: limits.maxLogBytes,
          blocking,
        },
        Buffer.from(source),
      ),
    );
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
    this.#place((worker) => this.#sendStart(worker)).catch((error: unknown) => {
      this.#fail(lostItsWorkers(isHostError(error) ? error.message : 'none could be had'));
    });
  }

  #assigned(send: () => void): void {
    this.#unanswered++;
    send();
  }

  // Deliveries: the only things that ever reach a program.

  #deliver(delivery: Delivery): void {
    this.journal.deliveries.push(delivery);
    this.#handlers.onDelivery?.(delivery, this.journal.deliveries.length - 1);
    this.#pump();
  }

  /** Sends what the journal has and the worker has not had. */
  #pump(): void {
    const worker = this.#worker;
    if (worker === undefined || this.#state !== 'running') return;
    for (; this.#sentDeliveries < this.journal.deliveries.length; this.#sentDeliveries++) {
      const delivery = this.journal.deliveries[this.#sentDeliveries] as Delivery;
      if (delivery.kind === 'timer') {
        this.#assigned(() => worker.assign({ type: 'timer/fire', execution: this.id, atMs: delivery.atMs }));
        continue;
      }
      const message = {
        type: delivery.kind === 'result' ? 'call/result' : 'call/error',
        execution: this.id,
        call: delivery.call,
        atMs: delivery.atMs,
      } as const;
      if (this.journal.blocking) worker.reply(message, delivery.body);
      else this.#assigned(() => worker.assign(message, delivery.body));
    }
  }

  #deliverReply(number: CallNumber, reply: CallReply): void {
    const call = this.#openCalls.get(number);
    if (call === undefined) return;
    this.#openCalls.delete(number);
    this.#openCallBytes -= call.argumentsJson.length;
    const body = reply.ok
      ? typeof reply.json === 'string'
        ? Buffer.from(reply.json)
        : reply.json
      : Buffer.from(JSON.stringify(reply.error));
    this.#deliveredBytes += body.byteLength;
    if (this.#deliveredBytes > MAX_DELIVERED_BYTES) return this.#fail(tooMuchDelivered(MAX_DELIVERED_BYTES));
    this.#deliver({ kind: reply.ok ? 'result' : 'error', call: number, atMs: this.#now(), body });
  }

  /** Whole milliseconds, never backwards: the clock a program sees. */
  #now(): number {
    this.#lastAtMs = Math.max(this.#lastAtMs, Date.now());
    return this.#lastAtMs;
  }

  #waiting(wakeAtMs: number | null): void {
    this.#wakeAtMs = wakeAtMs;
    clearTimeout(this.#wakeTimer);
    if (wakeAtMs === null || this.#unanswered > 0 || this.#state !== 'running') return;
    const delayMs = Math.min(Math.max(0, wakeAtMs - Date.now()), 2 ** 31 - 1);
    this.#wakeTimer = setTimeout(() => {
      // The event loop may wake a little early by its own clock; the program must not see a timer before its time.
      this.#lastAtMs = Math.max(this.#lastAtMs, Math.ceil(wakeAtMs));
      this.#deliver({ kind: 'timer', atMs: this.#now() });
    }, delayMs);
  }

  #requested(call: GuestCall): void {
    const known = this.journal.calls[call.number - 1];
    const asked = { target: call.target, argumentsDigest: digestOf(call.argumentsJson) };
    if (known !== undefined) {
      if (
        call.number <= this.#seenCalls &&
        known.target === asked.target &&
        known.argumentsDigest === asked.argumentsDigest
      )
        return;
      return this.#worker?.kill('it asked for something else than before under the same number');
    }
    if (call.number !== this.#seenCalls + 1) return this.#worker?.kill('it skipped a number');
    if (this.#openCalls.size >= MAX_OPEN_CALLS) return this.#fail(tooManyOpenCalls(MAX_OPEN_CALLS));
    this.#openCallBytes += call.argumentsJson.length;
    if (this.#openCallBytes > MAX_OPEN_CALL_BYTES) return this.#fail(tooLargeOpenCalls(MAX_OPEN_CALL_BYTES));
    this.#seenCalls = call.number;
    this.journal.calls.push(asked);
    this.#openCalls.set(call.number, call);
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
    else if (this.#state !== 'ended') this.#deliverReply(call.number, reply);
  }

  #logged(entry: number, log: LogEntry): void {
    if (entry < this.#seenLogs || this.#logs.length >= MAX_LOG_ENTRIES) return;
    this.#logBytes += Buffer.byteLength(log.message);
    if (this.#logBytes > this.journal.limits.maxLogBytes) return this.#worker?.kill('it logged more than it may');
    this.#seenLogs = entry + 1;
    this.#logs.push(log);
    this.#handlers.onLog?.(log);
  }

  #suspended(image: Buffer): void {
    const suspension = this.#suspension;
    if (this.#state !== 'suspending' || suspension === undefined)
      return this.#worker?.kill('it suspended what it was not asked to');
    this.#state = 'suspended';
    clearTimeout(this.#killTimer);
    this.#worker?.release(this.id);
    this.#worker = undefined;
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
    this.#budget.start();
    this.#suspension?.reject(
      new HostError(
        'bad_input',
        `the program holds too much to be suspended (${MAX_IMAGE_BYTES} bytes at most); it goes on`,
      ),
    );
    this.#suspension = undefined;
    this.#pump();
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
    this.#worker = undefined;
    this.#finish({ status: 'failed', failure }, false);
  }

  #finish(outcome: Outcome, logsCut: boolean): void {
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    this.#worker?.release(this.id);
    this.#worker = undefined;
    this.#pause();
    // Calls still under way are told to stop: nobody will read their answers.
    this.#cancellation.cancel();
    this.#openCalls.clear();
    this.#suspension?.reject(new HostError('bad_input', 'the program ended before it could be suspended'));
    this.#ended.resolve({
      outcome,
      logs: this.#logs,
      logsCut,
      journal: this.journal,
      durationMs: performance.now() - this.#begunAt,
    });
  }
}
