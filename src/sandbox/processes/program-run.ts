import { HostError } from '../../domain/errors.js';
import type { ProcessHandlers, ProcessProgram, ProcessReport, ResultSource } from '../../domain/process-program.js';
import { type CallReply, type Failure, type GuestCall, type Outcome, outOfTime, type RunId } from '../../domain/run.js';
import type { StopSignal } from '../../domain/stop-signal.js';
import { Cancellation } from '../../lib/async/cancellation.js';
import { deferred } from '../../lib/async/deferred.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { jsonText } from '../../lib/text/json-text.js';
import { MAX_VALUE_BYTES, type ProcessStart, type ProcessToHost } from '../../wire/messages.js';
import { CallRegistry } from '../call-registry.js';
import { CANCELLED, excessFailure, FAILED_INSIDE } from '../failures.js';
import { TimeBudget } from '../time-budget.js';
import type { CallerAccount } from '../workers/caller-account.js';
import { FLOOD_BYTES, OutputBuffer } from './output-buffer.js';
import { brokeItsChannel, CUT_SHORT, endedBySignal, endedWith, signalOf, tooMuchOutput } from './process-failures.js';
import type { ProcessExit, ProgramProcess } from './program-process.js';
import { Watch } from './watch.js';

/** Time between the end of a program's context and the end of the program. */
const GRACE_MS = 500;

function graceOf(timeoutMs: number): number {
  return Math.min(GRACE_MS, timeoutMs / 10);
}

const nextTurn = () => new Promise<void>((resolve) => void setImmediate(resolve));

/** The part of a program that is sent to a ready process. */
type RunnableProgram = Pick<ProcessProgram, 'source' | 'files' | 'limits' | 'seed'>;
type End = Extract<ProcessToHost, { type: 'process/end' }>;

/**
 * One program in its process. Whatever it does, there is exactly one report: from the program's last message, from the reason the
 * host stopped it, or from the exit of its process.
 */
export class ProgramRun {
  readonly #process: ProgramProcess;
  readonly #program: RunnableProgram;
  readonly #handlers: ProcessHandlers;
  readonly #runId: RunId;
  readonly #stdout: OutputBuffer;
  readonly #stderr: OutputBuffer;
  readonly #account: CallerAccount;
  readonly #calls: CallRegistry;
  readonly #budget: TimeBudget;
  /** Ends slightly earlier: the program is notified, and can still return what it has. */
  readonly #notice: TimeBudget;
  readonly #watch: Watch;
  readonly #ended = deferred<ProcessReport>();
  readonly #cancellation = new Cancellation(
    () => new HostError('cancelled', 'the program that asked for this has ended'),
  );
  readonly #signals: readonly StopSignal[];
  readonly #begunAt = performance.now();
  readonly #cancel = () => this.#stop(CANCELLED);
  #stopped: Failure | undefined;
  #isFinished = false;
  #end: { readonly message: End; readonly body: Buffer } | undefined;

  constructor(
    running: ProgramProcess,
    program: RunnableProgram,
    handlers: ProcessHandlers & { readonly runId: RunId },
    closing: AbortSignal,
    account: CallerAccount,
  ) {
    this.#account = account;
    this.#calls = new CallRegistry({ calls: [], deliveries: [] }, account);
    this.#process = running;
    this.#program = program;
    this.#handlers = handlers;
    this.#signals = handlers.signal === undefined ? [closing] : [closing, handlers.signal];
    this.#runId = handlers.runId;
    const { limits } = program;
    this.#stdout = new OutputBuffer(limits.maxStdoutBytes);
    this.#stderr = new OutputBuffer(limits.maxStderrBytes);
    this.#budget = new TimeBudget(limits.timeoutMs, () => this.#stop(outOfTime(limits.timeoutMs)));
    this.#notice = new TimeBudget(limits.timeoutMs - graceOf(limits.timeoutMs), () => this.#tellTime());
    this.#watch = new Watch(running, limits.maxCpuMs ?? Number.POSITIVE_INFINITY, (failure) => this.#stop(failure));
  }

  /** Sends the program to its process. Never rejects. */
  begin(): Promise<ProcessReport> {
    const { limits } = this.#program;
    this.#process.listen({
      message: (message, body) => this.#receive(message, body),
      stdout: (chunk) => {
        this.#stdout.push(chunk);
        if (this.#stdout.isFlood) this.#stop(tooMuchOutput('stdout', limits.maxStdoutBytes + FLOOD_BYTES));
      },
      stderr: (chunk) => {
        this.#stderr.push(chunk);
        if (this.#stderr.isFlood) this.#stop(tooMuchOutput('stderr', limits.maxStderrBytes + FLOOD_BYTES));
      },
      violation: (reason) => this.#stop(brokeItsChannel(reason)),
      exit: (exit) => this.#finish(exit),
    });
    // A spare may have died between being taken and being used.
    if (this.#process.hasExited) {
      this.#finish({ code: null, signal: null });
      return this.#ended.promise;
    }
    for (const signal of this.#signals) {
      signal.addEventListener('abort', this.#cancel);
      if (signal.aborted) this.#cancel();
    }
    this.#startTime();
    this.#watch.start();
    const { source, files, seed } = this.#program;
    const start: ProcessStart = {
      source,
      files: [...files],
      ...omitUndefined({ seed }),
      ...(this.#keepsTime ? { leftMs: Math.floor(this.#notice.remainingMs) } : {}),
    };
    this.#process.send({ type: 'process/start', execution: this.#runId }, Buffer.from(JSON.stringify(start)));
    return this.#ended.promise;
  }

  // Messages of the program. It holds the descriptor itself, so all of them may be forged.

  #receive(message: ProcessToHost, body: Buffer): void {
    if (this.#stopped !== undefined || this.#end !== undefined) return;
    if (message.type === 'process/file') return this.#stop(brokeItsChannel('it sent a file'));
    if (message.type === 'worker/ready') return this.#stop(brokeItsChannel('it said hello twice'));
    if (message.execution !== this.#runId) return this.#stop(brokeItsChannel('it spoke for another program'));
    if (body.length > MAX_VALUE_BYTES) return this.#stop(brokeItsChannel('it sent more at once than it may'));
    if (message.type === 'process/end') {
      this.#end = { message, body };
      this.#watch.look();
      // The program has ended: its remaining processes must not see what comes next.
      this.#process.kill();
      void this.#drain();
      return;
    }
    const { call: number, target, line } = message;
    const argumentsJson = body.toString('utf8');
    const place = omitUndefined({ line });
    this.#requested({ runId: this.#runId, number, target, argumentsJson, ...place });
  }

  #requested(call: GuestCall): void {
    const verdict = this.#calls.enter(call);
    if (verdict.is === 'forged') return this.#stop(brokeItsChannel(verdict.reason));
    if (verdict.is === 'too much') return this.#stop(verdict.failure);
    if (verdict.is === 'known') return;
    const time = { hold: () => this.#holdTime(), spend: () => this.#spendTime() };
    this.#handlers.onCall(call, this.#cancellation.signal, time).then(
      (reply) => this.#reply(call, reply),
      () => this.#reply(call, { ok: false, error: FAILED_INSIDE }),
    );
  }

  #reply(call: GuestCall, reply: CallReply): void {
    if (this.#isOver || this.#calls.find(call.number) === undefined) return;
    const atMs = Date.now();
    const delivery = this.#calls.answer(call, reply, atMs);
    if ('message' in delivery) return this.#stop(delivery);
    // The answer leaves the host with this frame.
    this.#account.give(delivery.body.byteLength);
    const type = delivery.kind === 'result' ? 'call/result' : 'call/error';
    this.#process.send({ type, execution: this.#runId, call: call.number, atMs }, delivery.body);
  }

  get #isOver(): boolean {
    return this.#stopped !== undefined || this.#end !== undefined || this.#process.hasExited;
  }

  #holdTime(): void {
    this.#stopTime();
    this.#tellTime();
  }

  #spendTime(): void {
    if (this.#isOver) return;
    this.#startTime();
    this.#tellTime();
  }

  #startTime(): void {
    this.#budget.start();
    if (this.#keepsTime) this.#notice.start();
  }

  #stopTime(): void {
    this.#budget.stop();
    this.#notice.stop();
  }

  /** Go has a context with a deadline, and Node returns the result it has at that time. */
  get #keepsTime(): boolean {
    return this.#process.shape.language !== 'python';
  }

  #tellTime(): void {
    if (this.#isOver || !this.#keepsTime) return;
    const leftMs = Math.max(0, Math.floor(this.#notice.remainingMs));
    const isHeld = !this.#budget.isRunning;
    this.#process.send({ type: 'process/time', execution: this.#runId, leftMs, isHeld });
  }

  // The end.

  /**
   * A program flushes its output before it reports its end, so all of it is in our pipes now: an event loop turn that reads
   * nothing more has read everything. Waiting for the process to exit instead takes three times as long as a short program.
   */
  async #drain(): Promise<void> {
    let seenBytes = -1;
    for (let bytes = 0; bytes !== seenBytes; bytes = this.#printedBytes) {
      seenBytes = this.#printedBytes;
      await nextTurn();
      await nextTurn();
    }
    this.#finish({ code: null, signal: null });
  }

  get #printedBytes(): number {
    return this.#stdout.totalBytes + this.#stderr.totalBytes;
  }

  /** The first reason counts. The report is made when the process has exited. */
  #stop(failure: Failure): void {
    if (this.#isOver) return;
    this.#stopped = failure;
    this.#watch.look();
    this.#process.kill();
  }

  #finish(exit: ProcessExit): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    this.#stopTime();
    this.#watch.stop();
    for (const signal of this.#signals) signal.removeEventListener('abort', this.#cancel);
    // Calls in flight are cancelled: their answers are no longer needed.
    this.#cancellation.cancel();
    this.#calls.clear();
    const [outcome, resultSource] = this.#outcome(exit);
    // If the host killed the process, its exit status is not the program's.
    const isItsOwn = this.#stopped === undefined && this.#end === undefined;
    const signal = isItsOwn ? signalOf(exit) : undefined;
    const status = isItsOwn && signal === undefined ? (exit.code ?? undefined) : undefined;
    this.#ended.resolve({
      runId: this.#runId,
      outcome,
      resultSource,
      stdout: this.#stdout.output,
      stderr: this.#stderr.output,
      exitCode: this.#stopped === undefined ? (this.#end?.message.exitCode ?? status) : undefined,
      signal,
      durationMs: performance.now() - this.#begunAt,
      cpuMs: this.#watch.cpuMs,
      peakMemoryBytes: this.#watch.peakMemoryBytes,
    });
  }

  #outcome(exit: ProcessExit): readonly [Outcome, ResultSource] {
    const failed = (failure: Failure) => [{ status: 'failed', failure }, 'none'] as const;
    if (this.#stopped !== undefined) return failed(this.#stopped);
    if (this.#end === undefined) {
      const signal = signalOf(exit);
      if (signal !== undefined) return failed(endedBySignal(signal, this.#stderr.output.text));
      if (exit.code !== 0) return failed(endedWith(exit.code ?? 1));
      const [outcome, source] = this.#fromOutput();
      // An interpreter always returns a result that was set. If it did not, the program cut its own end short.
      const mustHandOver = this.#process.shape.language !== 'go';
      return source === 'none' && mustHandOver ? failed(CUT_SHORT) : [outcome, source];
    }
    const { message, body } = this.#end;
    if (message.failure !== null) {
      const soFarJson = body.length === 0 || hasExcess(body.toString('utf8')) ? undefined : jsonText(body);
      const soFar = omitUndefined({ soFarJson });
      return [{ status: 'failed', failure: message.failure, ...soFar }, 'none'];
    }
    if (message.exitCode !== 0) return failed(endedWith(message.exitCode));
    if (body.length === 0) return this.#fromOutput();
    const excess = excessFailure('the result', body.toString('utf8'));
    if (excess !== undefined) return failed(excess);
    const resultJson = jsonText(body);
    if (resultJson === undefined) return failed(brokeItsChannel('its result is not JSON'));
    return [{ status: 'completed', resultJson }, 'result'];
  }

  /** A program that sets no result may print it as its last line. The last line of truncated output is unknown. */
  #fromOutput(): readonly [Outcome, ResultSource] {
    const { text, isCut } = this.#stdout.output;
    const line = isCut ? '' : (text.trimEnd().split('\n').at(-1) ?? '').trim();
    const resultJson = line === '' || hasExcess(line) ? undefined : jsonText(Buffer.from(line));
    return resultJson === undefined
      ? [{ status: 'completed', resultJson: 'null' }, 'none']
      : [{ status: 'completed', resultJson }, 'stdout'];
  }
}

function hasExcess(json: string): boolean {
  return excessFailure('the result', json) !== undefined;
}
