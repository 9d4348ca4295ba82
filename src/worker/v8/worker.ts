import type { CallNumber, ConsoleLevel, RunId, SourcePosition, VirtualModule } from '../../domain/run.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { type ClockRecord, type HostToWorker, PROTOCOL } from '../../wire/messages.js';
import { Channel } from '../channel.js';
import type { Outbox, Progress } from '../guest.js';
import { Library } from '../quickjs/library.js';
import { PositionMap } from '../quickjs/positions.js';
import { formOf, readModule, type StartMessage } from '../read-program.js';
import { transpile } from '../transpiler/transpile.js';
import { Rejections } from './rejections.js';
import { V8Run } from './v8-run.js';
import { World, type WorldHost, watched } from './world.js';

/** Set by the build. The host compares it with its own and refuses a worker of another build. */
declare const BUILD_ID: string;
/** Given by `main.ts`. */
declare const guestFiles: { readonly boot: string; readonly intrinsics: string };

/** A program that does nothing, with the usual parts: types, an import and an awaited value. */
const WARM_UP =
  "import { ToolCallError } from '@codemode/errors';\nconst kind: unknown = ToolCallError;\nawait kind;\ntry { await 1 } catch (thrown) {}";
/** A source with a dynamic import would get promises of another realm. */
const DYNAMIC_IMPORT = /\bimport\s*\(/;

/**
 * Runs one program in V8, as `QuickJsWorker` does for many. It uses the same messages, but has no images: a program is suspended
 * as its journal, which the host has.
 */
class V8Worker implements Outbox {
  readonly #channel = new Channel();
  readonly #libraries = new Map<string, Library>();
  readonly #rejections = new Rejections();
  readonly #world: World;
  readonly #missing: RegExp | undefined;
  #run: V8Run | undefined;
  #isOver = false;

  constructor() {
    this.#world = new World(guestFiles, this.#host());
    const { missing } = this.#world.entry;
    this.#missing = missing.length === 0 ? undefined : new RegExp(`\\b(?:${missing.join('|')})\\b`);
  }

  async serve(): Promise<void> {
    await this.#warmUp();
    this.#channel.send({ type: 'worker/ready', protocol: PROTOCOL, build: BUILD_ID, role: 'v8' });
    for (let received = this.#channel.receive(); received !== undefined; received = this.#channel.receive()) {
      const { message, body } = received;
      if (message.type === 'host/hello') {
        if (message.protocol !== PROTOCOL || message.build !== BUILD_ID) return;
      } else if (message.type === 'library/load') {
        this.#libraries.set(message.library, new Library(JSON.parse(body.toString('utf8')) as VirtualModule[]));
      } else await this.#handle(message, body);
    }
  }

  /**
   * Does once what every program needs, before a run waits for it: a first transpilation, link and evaluation take 4 ms. A program
   * cannot see any of it.
   */
  async #warmUp(): Promise<void> {
    const read = transpile(WARM_UP, 'typescript');
    if (!read.ok) return;
    const evaluate = await this.#world.link(watched(read.code) ?? '', new Library([]), 'module');
    await evaluate();
    await this.#rejections.settled();
    for (const name of ['collectResult', 'lostInResult', 'unawaitedCalls'] as const) this.#world.entry[name]();
    new PositionMap(read.mapJson).stack('    at f (main.ts:1:1)\n');
  }

  async #handle(message: Exclude<HostToWorker, { type: 'host/hello' | 'library/load' }>, body: Buffer): Promise<void> {
    switch (message.type) {
      case 'execution/start':
        return this.#start(message, body);
      case 'execution/cancel':
        this.#isOver = true;
        return;
      case 'execution/suspend':
        // Its whole state is its journal, which the host has.
        this.#run?.reportClock();
        return this.#channel.send({ type: 'execution/suspended', execution: message.execution });
      case 'call/result':
      case 'call/error':
        return this.#advance(message.execution, (run) =>
          run.deliver(message.call, message.type === 'call/result', body, message.atMs),
        );
      case 'call/locate':
        return this.#advance(message.execution, (run) => run.locate(message.call));
      case 'timer/fire':
        return this.#advance(message.execution, (run) => run.fireTimers(message.atMs));
      case 'execution/finish':
        return this.#advance(message.execution, (run) => run.finish());
      case 'execution/continue':
        return;
      case 'execution/resume':
        return this.#unfit(message.execution, 'an image is of the other engine');
    }
  }

  async #start(message: StartMessage, body: Buffer): Promise<void> {
    const cpuBefore = process.cpuUsage();
    const { execution, clock } = message;
    if (this.#run !== undefined) return this.#unfit(execution, 'a process has one program');
    if (message.script !== null || message.blocking) return this.#unfit(execution, 'its calls block');
    const read = readModule(message, body);
    // QuickJS explains it with its own message.
    if (!read.ok) return this.#unfit(execution, 'it cannot be parsed');
    const { text, code, mapJson, contextJson } = read;
    const lacking = DYNAMIC_IMPORT.test(text) ? 'import()' : this.#missing?.exec(text)?.[0];
    if (lacking !== undefined) return this.#unfit(execution, `it uses ${lacking}`);
    const library = this.#libraries.get(message.library) ?? new Library([]);
    const options = { ...message, form: formOf(message), clock };
    const run = new V8Run({ world: this.#world, rejections: this.#rejections }, library, this, options);
    this.#run = run;
    const progress = await run.start(code, mapJson, contextJson);
    if (progress === undefined) this.#unfit(execution, 'this V8 does not parse it');
    else this.#report(run, progress, cpuBefore);
  }

  async #advance(execution: RunId, step: (run: V8Run) => Progress | Promise<Progress>): Promise<void> {
    const run = this.#run;
    if (run === undefined || this.#isOver) {
      const usage = { cpuMs: 0, memoryBytes: 0 };
      return this.#channel.send({ type: 'execution/waiting', execution, wakeAtMs: null, usage });
    }
    const cpuBefore = process.cpuUsage();
    this.#report(run, await step(run), cpuBefore);
  }

  #report(run: V8Run, progress: Progress, cpuBefore: NodeJS.CpuUsage): void {
    const { execution } = run.options;
    const { user, system } = process.cpuUsage(cpuBefore);
    const usage = run.account((user + system) / 1_000);
    run.reportClock();
    if (progress.state === 'waiting') {
      this.#channel.send({ type: 'execution/waiting', execution, wakeAtMs: progress.wakeAtMs, usage });
      return;
    }
    this.#isOver = true;
    const { failure, unawaited } = progress;
    const more = {
      ...(progress.failure === null && progress.lost !== undefined ? { lost: progress.lost } : {}),
      ...(progress.failure === null && progress.stillOpen !== undefined ? { stillOpen: progress.stillOpen } : {}),
      ...(progress.failure === null && progress.cutOff !== undefined ? { cutOff: progress.cutOff } : {}),
      ...omitUndefined({ unawaited }),
    };
    const body = progress.failure === null ? progress.resultJson : progress.soFarJson;
    const { logsCut } = run.state;
    this.#channel.send({ type: 'execution/end', execution, failure, logsCut, usage, ...more }, body);
  }

  #unfit(execution: RunId, reason: string): void {
    this.#isOver = true;
    this.#channel.send({ type: 'execution/unfit', execution, reason });
  }

  /** The program stops in the middle of its work and does not continue here. The host ends this process. */
  #leave(execution: RunId, reason: string): never {
    this.#unfit(execution, reason);
    while (this.#channel.receive() !== undefined);
    process.exit(0);
  }

  /** The world is created before there is a program: requests of its boot code go to the program that comes later. */
  #host(): WorldHost {
    const run = () => {
      if (this.#run === undefined) throw new Error('there is no program yet');
      return this.#run;
    };
    return {
      call: (number, target, json) => run().call(number, target, json),
      callSync: () => run().callSync(),
      log: (level, text) => run().log(level, text),
      wake: (atMs) => run().wake(atMs),
      mapStack: (stack) => run().mapStack(stack),
      now: () => run().now(),
      fatal: (error) => run().fatal(error),
      unfit: (reason) => this.#leave(run().options.execution, reason),
    };
  }

  // Messages of a running program.

  call(execution: RunId, call: CallNumber, target: string, argumentsJson: Buffer): void {
    this.#channel.send({ type: 'call/request', execution, call, target }, argumentsJson);
  }

  callSync(): never {
    throw new Error('blocking calls need the other engine');
  }

  computing(): void {}

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

new V8Worker().serve().then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`${String((error as Error).stack)}\n`);
    process.exit(1);
  },
);
