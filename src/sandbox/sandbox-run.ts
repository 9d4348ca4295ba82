import type { EngineName } from '../domain/engine.js';
import { HostError, isHostError } from '../domain/errors.js';
import {
  type CallerId,
  type CallNumber,
  type CallReply,
  type Failure,
  type GuestCall,
  type Outcome,
  outOfMemory,
  outOfTime,
  type RunId,
  type SourcePosition,
} from '../domain/run.js';
import { deferred } from '../lib/async/deferred.js';
import { MAX_VALUE_BYTES, type WorkerToHost } from '../wire/messages.js';
import type { Engine, EnginePlace, LossBlame } from './engines/engine.js';
import { type MovableRun, RunHandOver } from './engines/run-hand-over.js';
import { CANCELLED, ENGINES_DISAGREE, endedItsWorker, lostItsWorkers } from './failures.js';
import { type CallingRun, InFlightCalls } from './in-flight-calls.js';
import { type Delivery, engineOf, type Journal } from './journal/journal.js';
import { RunRecord } from './journal/run-record.js';
import { ProgramClock } from './program-clock.js';
import type { CarriedOver, RunReport, SandboxDelegate, UsedSoFar } from './run-report.js';
import { KILL_GRACE_MS, RunTimeout } from './run-timeout.js';
import { callIn, logIn, outcomeIn } from './workers/read-worker-message.js';
import { WorkerLosses } from './workers/worker-losses.js';

const NO_JSON: Outcome = { status: 'failed', failure: endedItsWorker('its result was not JSON') };

/** The host's side of one run in the sandbox: its worker, its open calls and its deliveries. */
export class SandboxRun implements MovableRun, CallingRun {
  readonly id: RunId;
  readonly caller: CallerId;
  readonly journal: Journal;
  readonly #engine: Engine;
  readonly #ended = deferred<RunReport>();
  readonly #calls: InFlightCalls;
  readonly #record: RunRecord;
  #place: EnginePlace | undefined;
  /** Parked: other programs needed its worker while it waited; it requests another one when there is a delivery for it. */
  #state: 'placing' | 'running' | 'parked' | 'suspending' | 'suspended' | 'ended' = 'placing';
  readonly #timeout: RunTimeout;
  readonly #clock: ProgramClock;
  readonly #losses: WorkerLosses;
  readonly #handOver: RunHandOver;
  /** Its time was over while it waited for a call, a timer or a worker. */
  #isLateWaiting = false;

  constructor(engine: Engine, caller: CallerId, journal: Journal, delegate: SandboxDelegate, remainingMs?: number) {
    this.id = journal.runId;
    this.caller = caller;
    this.journal = journal;
    this.#engine = engine;
    this.#losses = new WorkerLosses(journal.source);
    this.#calls = new InFlightCalls(this, engine.accountOf(caller), delegate);
    this.#record = new RunRecord(journal, delegate);
    this.#handOver = new RunHandOver(this, engine.handOver);
    this.#timeout = new RunTimeout(remainingMs ?? journal.limits.timeoutMs, () => this.#outOfTime());
    this.#clock = new ProgramClock(journal.deliveries.at(-1)?.atMs ?? journal.startedAtMs);
  }

  /** Settles when the program has ended in any way. A suspended program has not ended. */
  get report(): Promise<RunReport> {
    return this.#ended.promise;
  }

  get openCalls(): readonly GuestCall[] {
    return this.#calls.open;
  }

  get isWaiting(): boolean {
    return this.#state === 'running' && this.#place?.isQuiet === true && !this.#handOver.isUnderWay;
  }

  /** The engine that has the run. */
  get engine(): EngineName {
    return engineOf(this.journal);
  }

  get place(): EnginePlace | undefined {
    return this.#place;
  }

  get isRunning(): boolean {
    return this.#state === 'running';
  }

  get isGone(): boolean {
    return this.#state === 'ended' || this.#state === 'suspended';
  }

  get pausesAfterMs(): number | null {
    return this.#handOver.pausesAfterMs;
  }

  get remainingMs(): number {
    return this.#timeout.remainingMs;
  }

  // Starting: a new program, one from its journal, one from its image.

  async begin(): Promise<void> {
    const isNew = this.journal.deliveries.length === 0;
    if (isNew && this.#engine.handOver?.choiceFor(this.journal) === 'v8') this.#record.noteEngine('v8');
    await this.#enter((place) => place.start(this.remainingMs));
  }

  /**
   * Resumes a suspended program from its image, which contains the first `inImage` deliveries of the journal; the others are
   * delivered again. Without an image, or with one of another build, the program is rebuilt from its journal.
   */
  async beginAgain(carried: CarriedOver, image?: { readonly bytes: Buffer; readonly inImage: number }): Promise<void> {
    this.#record.carryOver(carried);
    this.#calls.carryOver(carried.openCalls);
    this.#clock.wakeAtMs = carried.wakeAtMs;
    if (image === undefined) return this.begin();
    await this.#enter((place) => place.resume(image.bytes, this.remainingMs, image.inImage));
  }

  // Commands of the host.

  cancel(): void {
    this.fail(CANCELLED);
  }

  /** Whether the run waits only for a person. Its timeout is then paused, except while it computes. */
  holdTime(isHeld: boolean): void {
    this.#timeout.hold(isHeld);
    this.#countTime();
  }

  /** Answers an open call that was made before this program was suspended. */
  answer(call: CallNumber, reply: CallReply): void {
    this.#calls.answer(call, reply);
  }

  /** Where in the source an open call was made, innermost first; empty if that cannot be determined quickly. */
  async locate(call: CallNumber): Promise<readonly SourcePosition[]> {
    const place = this.#place;
    // A program with blocking calls cannot inspect its stack while it waits.
    if (this.#state !== 'running' || place === undefined || this.journal.blocking) return [];
    return this.#calls.isOpen(call) ? place.locate(call) : [];
  }

  /** Suspends the program, which must be waiting. Its open calls stay open. */
  suspend(): Promise<Buffer> {
    if (this.#state === 'parked') return this.#unpark().then(() => this.suspend());
    const place = this.#place;
    if (this.#state !== 'running' || place === undefined)
      throw new HostError('bad_input', 'only a running program can be suspended');
    if (this.journal.blocking) throw new HostError('bad_input', 'a program with blocking calls cannot be suspended');
    this.#handOver.drop();
    this.#pause();
    this.#state = 'suspending';
    const image = this.#calls.suspending(() => place.kill('it did not return the image of a suspended program'));
    place.suspend();
    return image;
  }

  /** The state that the next process needs besides journal and image. */
  get carriedOver(): CarriedOver {
    return { openCalls: this.openCalls, logs: this.#record.logs, wakeAtMs: this.#clock.wakeAtMs, used: this.used };
  }

  get used(): UsedSoFar {
    return this.#record.used;
  }

  // Messages of the worker. They are parsed, and trusted only for this program.

  receive(message: WorkerToHost, body: Buffer, from: EnginePlace): void {
    if (this.#handOver.isChallenger(from)) return this.#handOver.hear(message, body, from);
    if (from !== this.#place || this.isGone) return;
    this.#losses.hasSpoken = true;
    if (message.type === 'execution/computing') return this.#handOver.paused(from);
    this.#handOver.heardOwn();
    switch (message.type) {
      case 'execution/waiting':
        this.#record.countUsage(message.usage);
        this.#countTime();
        // Replies come in order: the last one answers `suspend`, and it is not an image.
        if (this.#state === 'suspending' && this.#place?.isQuiet === true) this.#stay();
        return this.#waiting(message.wakeAtMs);
      case 'call/request':
        if (body.length > MAX_VALUE_BYTES) return from.kill('it sent larger arguments than it may');
        return this.#calls.requested(callIn(message, body));
      case 'execution/log':
        return this.#logged(this.#record.logged(message.entry, logIn(message, body)));
      case 'clock/read':
        return this.#killFor(this.#record.clockRead(message));
      case 'execution/suspended':
        return this.#suspended(body);
      case 'execution/unfit':
        return this.#leaveV8(from);
      case 'execution/end': {
        this.#record.countUsage(message.usage);
        const outcome = outcomeIn(message, body, this.#timedOut);
        if (outcome === undefined) from.kill('it sent a result that is not JSON, or larger than it may be');
        return this.#finish(outcome ?? NO_JSON, message.logsCut);
      }
      case 'call/site':
      case 'worker/ready':
        return;
    }
  }

  workerLost(from: EnginePlace, part: LossBlame, reason: string): void {
    if (this.#handOver.isChallenger(from)) return this.#handOver.drop('lost');
    if (from !== this.#place || this.isGone) return;
    this.#place = undefined;
    this.#handOver.drop();
    if (part === 'exhausted') return this.fail(outOfMemory(this.journal.limits.maxMemoryBytes));
    if (part === 'guilty' && this.remainingMs <= 0) return this.fail(this.#timedOut);
    const end = this.#losses.lost(part, reason) ?? this.#losses.rebuilt();
    if (end !== undefined) return this.fail(end);
    this.#pause();
    this.#calls.stays('worker lost');
    void this.#goElsewhere();
  }

  workerStalled(from: EnginePlace): void {
    if (from !== this.#place || this.#state !== 'running' || this.journal.blocking) return;
    if (this.#handOver.isUnderWay || !this.#losses.mayMove || !from.hasBetter) return;
    this.#losses.moved();
    this.#pause();
    from.cancel();
    this.#place = undefined;
    void this.#goElsewhere();
  }

  workerTaken(from: EnginePlace): void {
    if (this.#handOver.isChallenger(from)) return this.#handOver.drop('lost');
    if (from !== this.#place || this.#state !== 'running') return;
    const isUpToDate = from.isUpToDate;
    this.#place = undefined;
    this.#handOver.drop();
    this.#state = 'parked';
    if (!isUpToDate) void this.#unpark();
  }

  // Handing over to a faster engine: see docs/decisions/0062-v8-by-replay.md.

  moved(to: EnginePlace, said: number): void {
    const before = this.#place;
    this.#place = to;
    this.#calls.inAnotherWorker(said);
    // Recorded before any message of this engine: from here on the run must be rebuilt in it.
    this.#record.noteEngine('v8');
    before?.leave();
  }

  stayed(): void {
    if (this.#state !== 'running') return;
    this.#place?.continue();
    this.#place?.catchUp();
    this.#countTime();
  }

  /** V8 refused the program, or cannot continue it: it is rebuilt in QuickJS. */
  #leaveV8(from: EnginePlace): void {
    if (this.engine !== 'v8') return from.kill('it refused something that it was not asked to do');
    this.#handOver.refused();
    this.#pause();
    from.cancel();
    this.#place = undefined;
    this.#record.noteEngine('quickjs');
    void this.#goElsewhere();
  }

  // Assigning a worker, and moving to another one.

  async #enter(begin: (place: EnginePlace) => void, hadPlace = false): Promise<void> {
    let place: EnginePlace;
    try {
      place = await this.#engine.place(this, this.#calls.cancellation, hadPlace);
    } catch (error) {
      if (this.#state === 'ended') return;
      throw error;
    }
    if (this.#state === 'ended') return place.abandon();
    place.enter();
    this.#calls.inAnotherWorker();
    this.#place = place;
    this.#state = 'running';
    this.#timeout.start();
    begin(place);
    // Sends the whole journal to a program that starts again, and to any program the answers that arrived while it had no worker.
    place.catchUp();
  }

  /** Rebuilds the program in another worker from the journal. Calls that it repeats are not made twice. */
  #goElsewhere(): Promise<void> {
    this.#state = 'placing';
    this.#calls.releaseReplies();
    return this.#enter((place) => place.start(this.remainingMs), true).catch((error: unknown) => {
      this.fail(lostItsWorkers(isHostError(error) ? error.message : 'none was available'));
    });
  }

  #unpark(): Promise<void> {
    this.#pause();
    return this.#goElsewhere();
  }

  // Deliveries: the only input of a running program.

  deliver(delivery: Delivery): void {
    this.#record.deliver(delivery);
    if (this.#state === 'running') {
      if (!this.#handOver.isAlone && !this.#handOver.takes(delivery)) this.#place?.catchUp();
      this.#handOver.catchUp();
      this.#countTime();
    } else if (this.#state === 'parked') void this.#unpark();
  }

  now(): number {
    return this.#clock.now();
  }

  #waiting(wakeAtMs: number | null): void {
    this.#clock.wakeAtMs = wakeAtMs;
    this.#clock.wakeAt(this.isWaiting ? wakeAtMs : null, (atMs) => this.deliver({ kind: 'timer', atMs }));
  }

  /** The worker reports a call that cannot be genuine. */
  forged(reason: string): void {
    // The run came back from V8, which computed something else.
    if (this.#handOver.cameBack) this.fail(ENGINES_DISAGREE);
    else this.#place?.kill(reason);
  }

  #logged(kept: ReturnType<RunRecord['logged']>): void {
    if (kept === 'too much') this.#killFor('it logged more than it may');
    if (kept === 'not kept') this.#place?.wasted();
  }

  /** The worker sent something that no worker of ours sends. */
  #killFor(problem: string | undefined): void {
    if (problem !== undefined) this.#place?.kill(problem);
  }

  #suspended(image: Buffer): void {
    if (this.#state !== 'suspending')
      return this.#place?.kill('it suspended a program that it was not asked to suspend');
    this.#state = 'suspended';
    this.#place?.release();
    this.#place = undefined;
    this.#calls.suspended(Buffer.from(image));
  }

  /** The image exceeds the limit, so the program continues in its worker. */
  #stay(): void {
    this.#state = 'running';
    this.#countTime();
    this.#calls.stays('too large');
    this.#calls.releaseReplies();
  }

  // Timeout, and the end.

  #countTime(): void {
    if (this.#state !== 'running' && this.#state !== 'parked') return;
    const isComputing = this.#handOver.isUnderWay || this.#place?.isQuiet !== true;
    this.#timeout.count(this.#state === 'running' && isComputing);
  }

  /** Timeout and timers are paused while the program has no worker. */
  #pause(): void {
    this.#timeout.stop();
    this.#clock.stop();
  }

  #outOfTime(): void {
    this.#handOver.drop();
    const isBlocked = this.journal.blocking && this.#calls.open.length > 0;
    this.#isLateWaiting = isBlocked || this.#place?.isComputing !== true;
    const mayHaveResult = this.#state === 'running' && !this.journal.blocking;
    this.#timeout.end(this.#place, { isBlocked, mayHaveResult }, () => this.fail(this.#timedOut));
  }

  get #timedOut(): Failure {
    return outOfTime(this.journal.limits.timeoutMs, !this.#isLateWaiting);
  }

  fail(failure: Failure): void {
    if (this.#state === 'ended') return;
    this.#place?.dismiss(KILL_GRACE_MS);
    this.#place = undefined;
    this.#finish({ status: 'failed', failure }, false);
  }

  #finish(outcome: Outcome, logsCut: boolean): void {
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    this.#handOver.drop();
    this.#place?.release();
    this.#place = undefined;
    this.#pause();
    this.#calls.end();
    this.#ended.resolve(this.#record.report(outcome, logsCut));
  }
}
