import { type CallNumber, type ConsoleLevel, outOfTime, type ResourceUsage } from '../../domain/run.js';
import { MAX_CALL_PLACES } from '../../wire/messages.js';
import { type Outbox, ProgramDropped, type Progress } from '../guest.js';
import type { ReadScript } from '../transpiler/read-script.js';
import { ProgramClock } from './clock.js';
import { deliverReply } from './deliver-reply.js';
import type { Engine, EngineHost } from './engine.js';
import { DROPPED, failureOfTrap, NEVER_SETTLED } from './failures.js';
import { type LeftOpen, leftOpenBy } from './final-inspection.js';
import type { EntryName, Image } from './image.js';
import { withImportPosition } from './import-position.js';
import type { Library } from './library.js';
import { keptOfLog } from './log-budget.js';
import { moduleSource, resolveModule } from './modules.js';
import { noteGrownMemory, notePeakMemory } from './peak-memory.js';
import { PositionMap, PROGRAM_FILE } from './positions.js';
import { SeededRandom } from './random.js';
import { readCall } from './read-call.js';
import { noteRejection } from './rejections.js';
import { endedWith, RunEnding } from './run-ending.js';
import { freshState, type QuickJsRunOptions, type QuickJsRunState } from './run-state.js';
import { codeOfScript, placeInScript } from './script-places.js';
import { Throttle } from './throttle.js';

const PROMISE_PENDING = 0;
const PROMISE_REJECTED = 2;
/** Time to serialize the result of a program that has timed out. The host waits a little longer. */
const FINISH_MS = 200;

/** One program in one instance: started once, then fed deliveries until it ends or is suspended. */
export class QuickJsRun implements EngineHost {
  readonly engine: Engine;
  readonly options: QuickJsRunOptions;
  readonly state: QuickJsRunState;
  readonly #image: Image;
  readonly #library: Library;
  readonly #outbox: Outbox;
  readonly #random: SeededRandom;
  readonly #clock: ProgramClock;
  #positions = new PositionMap('');
  #deadline = Number.POSITIVE_INFINITY;
  readonly #throttle: Throttle;
  readonly #ending: RunEnding;
  #leftOpen: LeftOpen | undefined;

  constructor(
    engine: Engine,
    image: Image,
    library: Library,
    outbox: Outbox,
    options: QuickJsRunOptions,
    state?: QuickJsRunState,
  ) {
    this.engine = engine;
    this.options = options;
    this.#image = image;
    this.#library = library;
    this.#outbox = outbox;
    this.state = state ?? freshState(options);
    this.#random = new SeededRandom(this.state.randomState);
    this.#clock = new ProgramClock(this.state, options.clock, options.startedAtMs);
    this.#throttle = new Throttle(options.cpuQuota);
    this.#ending = new RunEnding(engine, image, library, options, this.state);
  }

  /** Its instance must not be used again. */
  get trapped(): boolean {
    return this.#ending.isTrapped;
  }

  get positions(): PositionMap {
    return this.#positions;
  }

  /** State that a suspended program needs besides its memory. */
  get randomState(): bigint {
    return this.#random.state;
  }

  /** Its usage so far, including a slice of work that took `cpuMs`. */
  account(cpuMs: number): ResourceUsage {
    const { state, engine } = this;
    state.cpuMs += cpuMs;
    notePeakMemory(engine, this.#image, state);
    noteGrownMemory(engine, this.#image, state);
    return { cpuMs: state.cpuMs, memoryBytes: state.peakMemoryBytes };
  }

  /** `contextJson`: for the body of a function. */
  start(code: Uint8Array, mapJson: string, contextJson?: Uint8Array): Progress {
    this.#attach(new PositionMap(mapJson));
    this.#limit();
    const progress = this.#guarded(() => {
      if (contextJson !== undefined && !this.#giveContext(contextJson)) return this.#ending.withException();
      const main = this.engine.evaluate(code, PROGRAM_FILE, true);
      if (this.engine.isException(main)) return this.#ending.withException();
      this.state.mainPromise = main;
      return this.#settle();
    });
    if (progress.state !== 'ended' || progress.failure?.kind !== 'import') return progress;
    const source = new TextDecoder().decode(code);
    return { ...progress, failure: withImportPosition(progress.failure, source, this.#positions) };
  }

  /** A classic script: its completion value is its result, awaited if it is a promise. */
  startScript(script: Extract<ReadScript, { ok: true }>, calls: readonly string[], inputJson: Uint8Array): Progress {
    const { engine } = this;
    this.#attach(new PositionMap(script.mapJson, (position) => placeInScript(script, position)));
    this.#limit();
    return this.#guarded(() => {
      const input = engine.parseJson(this.#image.context, inputJson);
      if (input === undefined) return this.#ending.withException();
      const begun = this.#enter('beginScript', [engine.newText(JSON.stringify(calls)), input.handle]);
      if (engine.isException(begun)) return this.#ending.withException();
      input.dispose();
      const value = engine.evaluate(Buffer.from(codeOfScript(script)), PROGRAM_FILE, false);
      if (engine.isException(value)) return this.#ending.withException();
      const main = this.#enter('awaitValue', [value]);
      engine.exports.qjs_free_value(value);
      if (engine.isException(main)) return this.#ending.withException();
      this.state.mainPromise = main;
      return this.#settle();
    });
  }

  #giveContext(json: Uint8Array): boolean {
    const context = this.engine.parseJson(this.#image.context, json);
    if (context === undefined) return false;
    const begun = this.#enter('beginBody', [context.handle]);
    context.dispose();
    return !this.engine.isException(begun);
  }

  /** Takes over a memory that another process filled. */
  resume(mapJson: string): Progress {
    this.#attach(new PositionMap(mapJson));
    return this.stay();
  }

  /** It keeps waiting for the same deliveries. */
  stay(): Progress {
    return { state: 'waiting', wakeAtMs: this.state.wakeAtMs };
  }

  deliver(call: CallNumber, ok: boolean, json: Uint8Array, atMs: number): Progress {
    return this.#guarded(() => {
      this.#clock.deliver(atMs);
      this.state.openCalls = Math.max(0, this.state.openCalls - 1);
      if (!deliverReply(this.engine, this.#image, call, ok, json)) return this.#ending.withException();
      return this.#settle();
    });
  }

  /** Reports where an open call was made. No code of the program runs for it. */
  locate(call: CallNumber): Progress {
    return this.#guarded(() => {
      const { exports } = this.engine;
      const number = exports.qjs_new_number(call);
      const site = this.#enter('siteOf', [number]);
      const stack = this.engine.isException(site) ? '' : this.engine.readText(site);
      for (const handle of [site, number]) exports.qjs_free_value(handle);
      this.#outbox.site(this.options.execution, call, this.#positions.places(stack, MAX_CALL_PLACES));
      return this.stay();
    });
  }

  fireTimers(atMs: number): Progress {
    return this.#guarded(() => {
      this.#clock.deliver(atMs);
      const { exports } = this.engine;
      for (;;) {
        // Only timers that are due now. Timers that become due in the meantime run after the deliveries that are already queued.
        const now = exports.qjs_new_number(atMs);
        const fired = this.engine.call(this.#image.entry.fireNext, [now]);
        exports.qjs_free_value(now);
        if (this.engine.isException(fired)) return this.#ending.withException();
        const more = exports.qjs_get_bool(fired) !== 0;
        exports.qjs_free_value(fired);
        const progress = this.#settle();
        if (!more || progress.state === 'ended') return progress;
      }
    });
  }

  // Callbacks of the engine while it runs.

  shouldInterrupt(): boolean {
    notePeakMemory(this.engine, this.#image, this.state);
    const now = performance.now();
    this.#outbox.computing(now);
    this.#ending.isTimedOut ||= now > this.#deadline;
    if (!this.#ending.isTimedOut) this.#throttle.pace(now, this.#deadline);
    return this.#ending.isTimedOut;
  }

  nowMs(): number {
    return this.#clock.read();
  }

  randomByte(): number {
    return this.#random.byte();
  }

  hostCall(name: string, handles: readonly number[]): number {
    const { engine } = this;
    switch (name) {
      case 'call':
        this.#call(handles);
        break;
      case 'callSync':
        return this.#callSync(handles);
      case 'log':
        this.#log(engine.readText(handles[0] as number) as ConsoleLevel, engine.readBytes(handles[1] as number));
        break;
      case 'wake': {
        const atMs = engine.exports.qjs_get_float64(handles[0] as number);
        this.state.wakeAtMs = atMs < 0 ? null : atMs;
        break;
      }
      case 'mapStack':
        return engine.newText(this.#positions.stack(engine.readText(handles[0] as number)));
    }
    return engine.exports.qjs_get_undefined();
  }

  promiseRejected(promise: number, reason: number, isHandled: boolean): void {
    noteRejection(this.state, this.engine.exports, { promise, reason, isHandled });
  }

  resolveModule(importer: string, specifier: string): string {
    return resolveModule(this.#library, { importer, specifier, form: this.options.form });
  }

  loadModule(specifier: string): string {
    return moduleSource(this.#library, specifier);
  }

  // Running one slice of work.

  #attach(positions: PositionMap): void {
    this.engine.host = this;
    this.#positions = positions;
    this.#deadline = performance.now() + this.options.timeoutMs;
  }

  #limit(): void {
    const { exports } = this.engine;
    exports.qjs_set_memory_limit(this.#image.usedBytes + this.options.maxMemoryBytes);
    const { randomStateAt } = this.#image;
    new DataView(exports.memory.buffer).setBigUint64(randomStateAt, this.#random.word() | 1n, true);
  }

  /** Reports the clock reads to the host, before any message that may depend on them. */
  reportClock(): void {
    const report = this.#clock.takeReport();
    if (report !== undefined) this.#outbox.clock(this.options.execution, report);
  }

  /** A trap ends this program and its instance, never the worker. */
  #guarded(work: () => Progress): Progress {
    this.#throttle.begin();
    try {
      return work();
    } catch (error) {
      this.#ending.isTrapped = true;
      if (error instanceof ProgramDropped) return endedWith(DROPPED);
      const { maxMemoryBytes } = this.options;
      const { outOfMemoryFunction } = this.#image;
      return { state: 'ended', failure: failureOfTrap(error, { maxMemoryBytes, outOfMemoryFunction }) };
    } finally {
      this.#throttle.end();
    }
  }

  /** Runs everything that can run now, then returns the program's state. */
  #settle(): Progress {
    const { exports } = this.engine;
    while (exports.qjs_is_job_pending() !== 0) {
      if (exports.qjs_execute_pending_job() < 0 || this.#ending.isTimedOut) return this.#ending.withException();
    }
    if (this.#ending.isTimedOut) return this.#ending.withException();
    const main = exports.qjs_promise_state(this.state.mainPromise);
    if (main === PROMISE_REJECTED) return this.#ending.withThrown(exports.qjs_promise_result(this.state.mainPromise));
    const { openCalls, wakeAtMs } = this.state;
    const isOpen = openCalls > 0 || wakeAtMs !== null;
    if (isOpen && main !== PROMISE_PENDING) this.#leftOpen ??= leftOpenBy(this.#ending.lastLook);
    if (isOpen && !this.#isRaceOver) return { state: 'waiting', wakeAtMs };
    const forgotten = this.state.unhandled[0];
    if (forgotten !== undefined) return this.#ending.withThrown(forgotten.reason);
    if (main === PROMISE_PENDING) return this.#ending.withFailure(NEVER_SETTLED);
    return this.#ending.withResult(this.#leftOpen);
  }

  /** Its last line has run and it has a result: only calls that lost a race are left, and timers of a race. */
  get #isRaceOver(): boolean {
    const left = this.#leftOpen;
    return left?.isAssigned === true && left.areUsed && left.isRaceOver;
  }

  /** It timed out while it waits: it has a result if its last line has run, otherwise the value assigned so far. */
  finish(): Progress {
    return this.#guarded(() => {
      const { exports } = this.engine;
      this.#deadline = performance.now() + FINISH_MS;
      const failure = outOfTime(this.options.timeoutMs);
      const isSettled = exports.qjs_promise_state(this.state.mainPromise) !== PROMISE_PENDING;
      const forgotten = this.state.unhandled[0];
      if (isSettled && forgotten !== undefined) return this.#ending.withThrown(forgotten.reason);
      // A module without a result may have left its work to a function that it did not await.
      const isDone = isSettled && (this.options.form === 'body' || leftOpenBy(this.#ending.lastLook).isAssigned);
      if (!isDone) return this.#ending.withFailure(failure);
      const progress = this.#ending.withResult(this.#leftOpen);
      if (progress.state !== 'ended' || progress.failure !== null) return progress;
      const { openCalls, wakeAtMs } = this.state;
      return { ...progress, cutOff: { calls: openCalls, hasTimer: wakeAtMs !== null } };
    });
  }

  #call(handles: readonly number[]): void {
    const { number, target, argumentsJson } = readCall(this.engine, handles);
    this.state.openCalls++;
    this.reportClock();
    this.#outbox.call(this.options.execution, number, target, argumentsJson);
  }

  #callSync(handles: readonly number[]): number {
    const { number, target, argumentsJson } = readCall(this.engine, handles);
    this.reportClock();
    const reply = this.#outbox.callSync(this.options.execution, number, target, argumentsJson);
    this.#clock.deliver(reply.atMs);
    return this.engine.newText(`{"ok":${reply.ok},"${reply.ok ? 'value' : 'error'}":${reply.json.toString('utf8')}}`);
  }

  #log(level: ConsoleLevel, message: Buffer): void {
    const { state, options } = this;
    const kept = keptOfLog(state, options.maxLogBytes, message);
    if (kept === undefined) return;
    const atMs = this.#clock.read() - options.startedAtMs;
    if (this.#clock.hasMoved) this.reportClock();
    this.#outbox.log(options.execution, state.logEntries++, level, atMs, kept);
  }

  #enter(name: EntryName, list: readonly number[]): number {
    return this.engine.call(this.#image.entry[name], list);
  }
}
