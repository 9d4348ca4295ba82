import type {
  CallNumber,
  ConsoleLevel,
  ResourceUsage,
  RunId,
  SourcePosition,
  VirtualModule,
} from '../../domain/run.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import type { ClockRecord, HostToWorker } from '../../wire/messages.js';
import { MAX_IMAGE_BYTES } from '../../wire/messages.js';
import type { Channel, Received } from '../channel.js';
import { type Outbox, ProgramDropped, type Progress } from '../guest.js';
import { formOf, readProgram, type StartMessage } from '../read-program.js';
import { Engines } from './engines.js';
import type { Image } from './image.js';
import { Library } from './library.js';
import { QuickJsRun } from './quickjs-run.js';
import { restorePages, suspend, unpack } from './suspension.js';

/** A program that continues here is paused again after this many times as much CPU time. */
const ASKS_AGAIN_AFTER = 3;

type ExecutionMessage = Exclude<HostToWorker, { type: 'host/hello' | 'library/load' }>;
type ResumeMessage = Extract<HostToWorker, { type: 'execution/resume' }>;

/** Libraries change when an upstream's tools change. Programs in progress keep theirs; older libraries may be dropped. */
const MAX_LIBRARIES = 8;

/** How often a computing program checks whether the host is there. A check takes a microsecond. */
const CHECK_HOST_EVERY_MS = 250;

/** Many programs in one process: one computes at a time, the others wait in their own memories. */
export class QuickJsWorker implements Outbox {
  readonly #engines: Engines;
  readonly #image: Image;
  readonly #channel: Channel;
  readonly #libraries = new Map<string, Library>();
  readonly #executions = new Map<RunId, QuickJsRun>();
  /** Messages that arrived while a blocking call waited for its answer. */
  readonly #postponed: Received[] = [];
  #lastExecution: RunId | undefined;
  #nextCheckAt = 0;
  /** The time at which a long-running program is paused, infinite once it was; and the CPU time the process had used before. */
  #pauseAt = Number.POSITIVE_INFINITY;
  #pausesAfterMs = Number.POSITIVE_INFINITY;
  #sliceCpu: NodeJS.CpuUsage = { user: 0, system: 0 };
  /** The program that computes has made a call since it began to. */
  #hasCalled = false;

  constructor(binary: Uint8Array, image: Image, channel: Channel) {
    this.#engines = new Engines(binary, image);
    this.#image = image;
    this.#channel = channel;
  }

  prepare(maxMemoryBytes: number): void {
    this.#engines.prepare(maxMemoryBytes);
  }

  loadLibrary(name: string, modules: readonly VirtualModule[]): void {
    this.#libraries.delete(name);
    this.#libraries.set(name, new Library(modules));
    for (const oldest of this.#libraries.keys()) {
      if (this.#libraries.size <= MAX_LIBRARIES) break;
      this.#libraries.delete(oldest);
    }
  }

  handle(message: ExecutionMessage, body: Buffer): void {
    this.#dispatch(message, body);
    for (let next = this.#postponed.shift(); next !== undefined; next = this.#postponed.shift()) {
      this.#dispatch(next.message as ExecutionMessage, next.body);
    }
  }

  #dispatch(message: ExecutionMessage, body: Buffer): void {
    // The messages of one program leave before another begins: the host must not attribute them to the program that computes then.
    if (message.execution !== this.#lastExecution) this.#channel.flush();
    this.#lastExecution = message.execution;
    switch (message.type) {
      case 'execution/start':
        return this.#start(message, body);
      case 'execution/resume':
        return this.#resume(message, body);
      case 'execution/suspend':
        return this.#suspend(message.execution);
      case 'execution/cancel':
        return this.#forget(message.execution);
      case 'execution/continue':
        // The program is not paused: it has already ended by itself.
        return;
      case 'call/result':
      case 'call/error':
        return this.#advance(message.execution, (execution) =>
          execution.deliver(message.call, message.type === 'call/result', body, message.atMs),
        );
      case 'call/locate':
        return this.#advance(message.execution, (execution) => execution.locate(message.call));
      case 'timer/fire':
        return this.#advance(message.execution, (execution) => execution.fireTimers(message.atMs));
      case 'execution/finish':
        return this.#advance(message.execution, (execution) => execution.finish());
    }
  }

  #start(message: StartMessage, body: Buffer): void {
    const begunAt = performance.now();
    const cpuBefore = process.cpuUsage();
    const read = readProgram(message, body);
    if (!read.ok) {
      const { execution } = message;
      const usage = { cpuMs: cpuMsSince(cpuBefore), memoryBytes: 0 };
      this.#channel.send({ type: 'execution/end', execution, failure: read.failure, logsCut: false, usage });
      return;
    }
    // Reading a source counts towards its program's time.
    const timeoutMs = Math.max(1, message.timeoutMs - (performance.now() - begunAt));
    const engine = this.#engines.take(message.maxMemoryBytes);
    const library = this.#library(message.library);
    const options = { ...message, timeoutMs, form: formOf(message) };
    const execution = new QuickJsRun(engine, this.#image, library, this, options);
    this.#executions.set(message.execution, execution);
    this.#beginSlice(execution);
    this.#report(execution, read.begin(execution), cpuBefore);
  }

  #resume(message: ResumeMessage, body: Buffer): void {
    const cpuBefore = process.cpuUsage();
    const { head, pages } = unpack(body);
    const { execution: id, timeoutMs, clock, pausesAfterMs } = message;
    const options = { ...head.options, execution: id, timeoutMs, clock, pausesAfterMs };
    const engine = this.#engines.take(options.maxMemoryBytes);
    restorePages(engine, head, pages);
    const state = { ...head.state, randomState: BigInt(head.state.randomState) };
    const execution = new QuickJsRun(engine, this.#image, this.#library(message.library), this, options, state);
    this.#executions.set(message.execution, execution);
    this.#report(execution, execution.resume(head.mapJson), cpuBefore);
  }

  #suspend(id: RunId): void {
    const execution = this.#executions.get(id);
    if (execution === undefined) return this.#answerForNobody(id);
    const cpuBefore = process.cpuUsage();
    execution.reportClock();
    const bytes = suspend(execution, this.#image);
    if (bytes.length > MAX_IMAGE_BYTES) return this.#report(execution, execution.stay(), cpuBefore);
    this.#forget(id);
    this.#channel.send({ type: 'execution/suspended', execution: id }, bytes);
  }

  #advance(id: RunId, step: (execution: QuickJsRun) => Progress): void {
    const execution = this.#executions.get(id);
    if (execution === undefined) return this.#answerForNobody(id);
    const cpuBefore = this.#beginSlice(execution);
    this.#report(execution, step(execution), cpuBefore);
  }

  /** The host counts replies: a delivery to a program that has just ended gets a reply too. */
  #answerForNobody(execution: RunId): void {
    this.#channel.send({ type: 'execution/waiting', execution, wakeAtMs: null, usage: NOTHING_USED });
  }

  #report(execution: QuickJsRun, progress: Progress, cpuBefore: NodeJS.CpuUsage): void {
    const id = execution.options.execution;
    const usage = execution.account(cpuMsSince(cpuBefore));
    execution.reportClock();
    if (progress.state === 'waiting') {
      this.#channel.send({ type: 'execution/waiting', execution: id, wakeAtMs: progress.wakeAtMs, usage });
      return;
    }
    const { failure, unawaited } = progress;
    const { logsCut } = execution.state;
    const more = {
      ...(progress.failure === null && progress.lost !== undefined ? { lost: progress.lost } : {}),
      ...(progress.failure === null && progress.stillOpen !== undefined ? { stillOpen: progress.stillOpen } : {}),
      ...(progress.failure === null && progress.cutOff !== undefined ? { cutOff: progress.cutOff } : {}),
      ...omitUndefined({ unawaited }),
    };
    const body = progress.failure === null ? progress.resultJson : progress.soFarJson;
    this.#channel.send({ type: 'execution/end', execution: id, failure, logsCut, usage, ...more }, body);
    this.#forget(id);
    if (this.#channel.hasMore()) return;
    // Nothing waits now: send the reply, then prepare the next instance.
    this.#channel.flush();
    this.#engines.prepare(execution.options.maxMemoryBytes);
  }

  #forget(id: RunId): void {
    const execution = this.#executions.get(id);
    if (execution === undefined) return;
    this.#executions.delete(id);
    this.#engines.giveBack(execution.engine, execution.options.maxMemoryBytes, execution.trapped);
  }

  #library(name: string): Library {
    return this.#libraries.get(name) ?? new Library([]);
  }

  // Messages of a running program.

  call(execution: RunId, call: CallNumber, target: string, argumentsJson: Buffer): void {
    this.#channel.send({ type: 'call/request', execution, call, target }, argumentsJson);
    // The host works on the first call while the program goes on; the others leave together. If messages wait here, so does the host.
    if (!this.#hasCalled && !this.#channel.hasMore()) this.#channel.flush();
    this.#hasCalled = true;
  }

  callSync(
    execution: RunId,
    call: CallNumber,
    target: string,
    argumentsJson: Buffer,
  ): { ok: boolean; json: Buffer; atMs: number } {
    this.call(execution, call, target, argumentsJson);
    this.#channel.flush();
    const { message, body } = this.#receiveFor(
      execution,
      ({ message: it }) => (it.type === 'call/result' || it.type === 'call/error') && it.call === call,
    );
    return { ok: message.type === 'call/result', json: body, atMs: 'atMs' in message ? message.atMs : 0 };
  }

  /** A host that is gone cannot end a program, so a program that computes without end must be ended here. */
  computing(nowMs: number): void {
    if (nowMs >= this.#pauseAt) this.#pause();
    if (nowMs < this.#nextCheckAt) return;
    this.#nextCheckAt = nowMs + CHECK_HOST_EVERY_MS;
    if (this.#channel.isClosed()) process.exit(0);
  }

  /**
   * Lets the host decide whether the program continues here or in a faster engine. Measured in CPU time: on a busy machine every
   * program takes long. The program is paused, because two engines that compute the same take a core from each other, and a
   * computing program could not be told to stop.
   */
  #pause(): void {
    this.#pauseAt = Number.POSITIVE_INFINITY;
    const leftMs = this.#pausesAfterMs - cpuMsSince(this.#sliceCpu);
    const execution = this.#lastExecution;
    if (leftMs > 0) this.#pauseAt = performance.now() + leftMs;
    else if (execution !== undefined) {
      this.#channel.send({ type: 'execution/computing', execution });
      this.#channel.flush();
      this.#receiveFor(execution, ({ message }) => message.type === 'execution/continue');
      // The reason that kept it here may have passed then: no process was ready, or other runs needed the cores more.
      this.#pausesAfterMs *= ASKS_AGAIN_AFTER;
      this.#pauseAt = performance.now() + this.#pausesAfterMs;
    }
  }

  /** Blocks until the message arrives that a program waits for. Other messages are postponed until the program has ended. */
  #receiveFor(execution: RunId, isIt: (received: Received) => boolean): Received {
    for (;;) {
      const received = this.#channel.receive();
      if (received === undefined) process.exit(0);
      const { message } = received;
      const isForIt = 'execution' in message && message.execution === execution;
      if (isForIt && isIt(received)) return received;
      if (isForIt && message.type === 'execution/cancel') throw new ProgramDropped();
      this.#postponed.push(received);
    }
  }

  #beginSlice({ options }: QuickJsRun): NodeJS.CpuUsage {
    this.#hasCalled = false;
    this.#sliceCpu = process.cpuUsage();
    this.#pausesAfterMs = options.pausesAfterMs ?? Number.POSITIVE_INFINITY;
    this.#pauseAt = performance.now() + this.#pausesAfterMs;
    return this.#sliceCpu;
  }

  site(execution: RunId, call: CallNumber, places: readonly SourcePosition[]): void {
    this.#channel.send({ type: 'call/site', execution, call, places });
  }

  clock(execution: RunId, { reads, ticks }: ClockRecord): void {
    this.#channel.send({ type: 'clock/read', execution, reads, ticks });
  }

  log(execution: RunId, entry: number, level: ConsoleLevel, atMs: number, message: Buffer): void {
    this.#channel.send({ type: 'execution/log', execution, entry, level, atMs }, message);
  }
}

const NOTHING_USED: ResourceUsage = { cpuMs: 0, memoryBytes: 0 };

/** One program computes at a time, so the CPU time of the process is that program's. */
function cpuMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
