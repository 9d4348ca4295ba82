import { getHeapStatistics } from 'node:v8';
import { type CallNumber, type ConsoleLevel, type Failure, outOfTime, type ResourceUsage } from '../../domain/run.js';
import { MAX_CALL_PLACES, MAX_VALUE_BYTES } from '../../wire/messages.js';
import type { Outbox, Progress } from '../guest.js';
import { ProgramClock } from '../quickjs/clock.js';
import { failureOfThrown, NEVER_SETTLED, notSerializable, resultTooLarge } from '../quickjs/failures.js';
import { type Ended, type LeftOpen, leftBy, leftOpenBy, noticedIn } from '../quickjs/final-inspection.js';
import { withImportPosition } from '../quickjs/import-position.js';
import type { Library } from '../quickjs/library.js';
import { keptOfLog } from '../quickjs/log-budget.js';
import { PositionMap } from '../quickjs/positions.js';
import { SeededRandom } from '../quickjs/random.js';
import { freshState, type QuickJsRunOptions } from '../quickjs/run-state.js';
import { suggestionsFrom } from '../quickjs/suggestions.js';
import type { Rejections } from './rejections.js';
import { LinkFailure, type World, type WorldHost, watched } from './world.js';

const MAX_TARGET_CHARACTERS = 1_024;

/** The only program that this process ever runs. The counterpart of `QuickJsRun`, step for step. */
export class V8Run implements Omit<WorldHost, 'unfit'> {
  readonly options: QuickJsRunOptions;
  readonly state: ReturnType<typeof freshState>;
  readonly #world: World;
  readonly #library: Library;
  readonly #outbox: Outbox;
  readonly #clock: ProgramClock;
  readonly #rejections: Rejections;
  #positions = new PositionMap('');
  #main: 'pending' | 'fulfilled' | { readonly thrown: unknown } = 'pending';
  #fatal: { readonly thrown: unknown } | undefined;
  #leftOpen: LeftOpen | undefined;
  readonly #ownHeapBytes: number;

  constructor(
    prepared: { readonly world: World; readonly rejections: Rejections },
    library: Library,
    outbox: Outbox,
    options: QuickJsRunOptions,
  ) {
    this.#world = prepared.world;
    this.#rejections = prepared.rejections;
    this.#library = library;
    this.#outbox = outbox;
    this.options = options;
    this.state = freshState(options);
    this.#clock = new ProgramClock(this.state, options.clock, options.startedAtMs);
    const random = new SeededRandom(this.state.randomState).word() | 1n;
    this.#world.entry.seedRandom(Number(random >> 32n), Number(random & 0xffff_ffffn));
    this.#ownHeapBytes = usedBytes();
  }

  account(cpuMs: number): ResourceUsage {
    const { state } = this;
    state.cpuMs += cpuMs;
    state.peakMemoryBytes = Math.max(state.peakMemoryBytes, usedBytes() - this.#ownHeapBytes);
    return { cpuMs: state.cpuMs, memoryBytes: state.peakMemoryBytes };
  }

  /** Undefined: V8 refuses what the parser accepted. */
  async start(code: string, mapJson: string, contextJson?: Uint8Array): Promise<Progress | undefined> {
    this.#positions = new PositionMap(mapJson);
    const { entry } = this.#world;
    const running = watched(code);
    if (running === undefined) return undefined;
    let evaluate: () => Promise<unknown>;
    try {
      evaluate = await this.#world.link(running, this.#library, this.options.form);
    } catch (error) {
      if (!(error instanceof LinkFailure)) return undefined;
      const { name, message } = error;
      const failure = failureOfThrown(JSON.stringify({ name, message }), this.#suggestions, this.options.form);
      return this.#ended(withImportPosition(failure, code, this.#positions));
    }
    if (contextJson !== undefined) entry.beginBody(entry.parseJson(textOf(contextJson)));
    evaluate().then(
      () => {
        this.#main = 'fulfilled';
      },
      (thrown: unknown) => {
        this.#main = { thrown };
      },
    );
    const progress = await this.#settle();
    if (progress.state !== 'ended' || progress.failure?.kind !== 'import') return progress;
    return { ...progress, failure: withImportPosition(progress.failure, code, this.#positions) };
  }

  /** It keeps waiting for the same deliveries. */
  stay(): Progress {
    return { state: 'waiting', wakeAtMs: this.state.wakeAtMs };
  }

  async deliver(call: CallNumber, ok: boolean, json: Buffer, atMs: number): Promise<Progress> {
    this.#clock.deliver(atMs);
    this.state.openCalls = Math.max(0, this.state.openCalls - 1);
    const { entry } = this.#world;
    try {
      entry.deliver(call, ok, entry.parseJson(textOf(json)));
    } catch (thrown) {
      return this.#endWithThrown(thrown);
    }
    return this.#settle();
  }

  /** Reports where an open call was made. No code of the program runs for it. */
  locate(call: CallNumber): Progress {
    const stack = String(this.#world.entry.siteOf(call));
    this.#outbox.site(this.options.execution, call, this.#positions.places(stack, MAX_CALL_PLACES));
    return this.stay();
  }

  async fireTimers(atMs: number): Promise<Progress> {
    this.#clock.deliver(atMs);
    for (;;) {
      let more: boolean;
      try {
        more = this.#world.entry.fireNext(atMs) === true;
      } catch (thrown) {
        return this.#endWithThrown(thrown);
      }
      const progress = await this.#settle();
      if (!more || progress.state === 'ended') return progress;
    }
  }

  /** It timed out while it waits: it has a result if its last line has run, otherwise the value assigned so far. */
  finish(): Progress {
    const failure = outOfTime(this.options.timeoutMs);
    const isSettled = this.#main !== 'pending';
    const forgotten = this.#rejections.first;
    if (isSettled && forgotten !== undefined) return this.#endWithThrown(forgotten.reason);
    const isDone = isSettled && (this.options.form === 'body' || leftOpenBy(this.#lastLook).isAssigned);
    if (!isDone) return this.#failed(failure);
    const progress = this.#endWithResult();
    if (progress.state !== 'ended' || progress.failure !== null) return progress;
    const { openCalls, wakeAtMs } = this.state;
    return { ...progress, cutOff: { calls: openCalls, hasTimer: wakeAtMs !== null } };
  }

  reportClock(): void {
    const report = this.#clock.takeReport();
    if (report !== undefined) this.#outbox.clock(this.options.execution, report);
  }

  // Callbacks of the boot code while the program runs.

  call(number: number, target: string, argumentsJson: string): void {
    const bytes = Buffer.from(argumentsJson);
    if (bytes.byteLength > MAX_VALUE_BYTES)
      throw new Error(
        `the arguments are ${bytes.byteLength} bytes of JSON; at most ${MAX_VALUE_BYTES} can be sent in one call`,
      );
    this.state.openCalls++;
    this.reportClock();
    this.#outbox.call(
      this.options.execution,
      number as CallNumber,
      String(target).slice(0, MAX_TARGET_CHARACTERS),
      bytes,
    );
  }

  callSync(): never {
    throw new Error('blocking calls need the other engine');
  }

  log(level: string, message: string): void {
    const { state, options } = this;
    const kept = keptOfLog(state, options.maxLogBytes, Buffer.from(message));
    if (kept === undefined) return;
    const atMs = this.#clock.read() - options.startedAtMs;
    if (this.#clock.hasMoved) this.reportClock();
    this.#outbox.log(options.execution, state.logEntries++, level as ConsoleLevel, atMs, kept);
  }

  wake(atMs: number): void {
    this.state.wakeAtMs = atMs < 0 ? null : atMs;
  }

  mapStack(stack: string): string {
    return this.#positions.stack(stack);
  }

  now(): number {
    return this.#clock.read();
  }

  fatal(thrown: unknown): void {
    this.#fatal ??= { thrown };
  }

  /** Runs everything that can run now, then returns the program's state. */
  async #settle(): Promise<Progress> {
    await this.#rejections.settled();
    if (this.#fatal !== undefined) return this.#endWithThrown(this.#fatal.thrown);
    const main = this.#main;
    if (typeof main === 'object') return this.#endWithThrown(main.thrown);
    const { openCalls, wakeAtMs } = this.state;
    const isOpen = openCalls > 0 || wakeAtMs !== null;
    if (isOpen && main !== 'pending') this.#leftOpen ??= leftOpenBy(this.#lastLook);
    if (isOpen && !this.#isRaceOver) return { state: 'waiting', wakeAtMs };
    const forgotten = this.#rejections.first;
    if (forgotten !== undefined) return this.#endWithThrown(forgotten.reason);
    return main === 'pending' ? this.#failed(NEVER_SETTLED) : this.#endWithResult();
  }

  get #isRaceOver(): boolean {
    const left = this.#leftOpen;
    return left?.isAssigned === true && left.areUsed && left.isRaceOver;
  }

  #endWithResult(): Progress {
    const { form } = this.options;
    let json: string;
    try {
      json = this.#world.entry.collectResult() as string;
    } catch (thrown) {
      return this.#ended(notSerializable(this.#describe(thrown), form));
    }
    const resultJson = Buffer.from(json);
    if (resultJson.byteLength > MAX_VALUE_BYTES)
      return this.#ended(resultTooLarge(resultJson.byteLength, MAX_VALUE_BYTES));
    return { state: 'ended', failure: null, resultJson, ...noticedIn(this.#lastLook, this.#leftOpen, resultJson) };
  }

  get #lastLook(): Ended {
    return {
      ask: (name) => {
        try {
          return Buffer.from(String(this.#world.entry[name]()));
        } catch {
          return undefined;
        }
      },
    };
  }

  /** Keeps the result assigned so far, and calls that were not awaited. */
  #failed(failure: Failure): Progress {
    return { state: 'ended', failure, ...leftBy(this.#lastLook, failure, this.options.form) };
  }

  #endWithThrown(thrown: unknown): Progress {
    return this.#failed(this.#describe(thrown));
  }

  #describe(thrown: unknown): Failure {
    this.#world.entry.revealTexts();
    let json = '{}';
    try {
      json = String(this.#world.entry.describeThrown(thrown));
    } catch {
      // The thrown value cannot be read.
    }
    return failureOfThrown(json, this.#suggestions, this.options.form);
  }

  get #suggestions() {
    return suggestionsFrom(this.#library);
  }

  #ended(failure: Failure): Progress {
    return { state: 'ended', failure };
  }
}

function textOf(json: Uint8Array): string {
  return Buffer.from(json.buffer, json.byteOffset, json.byteLength).toString('utf8');
}

/** Not `process.memoryUsage`: there is no /proc. */
function usedBytes(): number {
  const { used_heap_size, external_memory } = getHeapStatistics();
  return used_heap_size + external_memory;
}
