import type { CallNumber, SourcePosition } from '../domain/execution.js';
import { CallSites } from './call-sites.js';
import { clockRecordOf, type Delivery, type Journal } from './journal.js';
import type { RunWorker } from './run-worker.js';

type Assignment = Parameters<RunWorker['assign']>[0];

/** A program's place in one worker: how much of its journal that worker has had, and what it has not answered yet. */
export class Seat {
  readonly worker: RunWorker;
  readonly #journal: Journal;
  readonly #library: string;
  readonly #sites = new CallSites();
  /** Behind the end of the journal: a rebuilt program is catching up. */
  #sentDeliveries = 0;
  #unanswered = 0;

  constructor(worker: RunWorker, journal: Journal, library: string) {
    this.worker = worker;
    this.#journal = journal;
    this.#library = library;
    worker.loadLibrary(library, journal.modules);
  }

  /** Everything it was sent is answered. */
  get isQuiet(): boolean {
    return this.#unanswered === 0;
  }

  /** From the beginning: the source first. */
  start(remainingMs: number): void {
    const { execution, source, language, limits, seed, startedAtMs, blocking, script, body } = this.#journal;
    const { maxMemoryBytes, maxLogBytes, cpuQuota = 1 } = limits;
    const given = script?.input ?? body?.context;
    const input = Buffer.from(given === undefined ? '' : JSON.stringify(given));
    this.#assign(
      {
        type: 'execution/start',
        execution,
        library: this.#library,
        language,
        seed,
        startedAtMs,
        timeoutMs: whole(remainingMs),
        maxMemoryBytes,
        maxLogBytes,
        cpuQuota,
        blocking,
        script: script === undefined ? null : { calls: script.calls, inputBytes: input.byteLength },
        body: body === undefined ? null : { module: body.module, names: body.names, contextBytes: input.byteLength },
        clock: clockRecordOf(this.#journal),
      },
      Buffer.concat([input, Buffer.from(source)]),
    );
  }

  /** From an image, in which the first deliveries of the journal are contained. */
  resume(image: Buffer, remainingMs: number, inImage: number): void {
    const { execution } = this.#journal;
    this.#sentDeliveries = inImage;
    const clock = clockRecordOf(this.#journal, inImage);
    const timeoutMs = whole(remainingMs);
    this.#assign({ type: 'execution/resume', execution, library: this.#library, timeoutMs, clock }, image);
  }

  suspend(): void {
    this.#assign({ type: 'execution/suspend', execution: this.#journal.execution });
  }

  locate(call: CallNumber): Promise<readonly SourcePosition[]> {
    const { execution } = this.#journal;
    return this.#sites.ask(call, () => this.#assign({ type: 'call/locate', execution, call }));
  }

  /** Whether it was asked for. */
  located(call: CallNumber, places: readonly SourcePosition[]): boolean {
    return this.#sites.told(call, places);
  }

  /** Sends what the journal has and the worker has not had. */
  catchUp(): void {
    const { execution, deliveries, blocking } = this.#journal;
    for (; this.#sentDeliveries < deliveries.length; this.#sentDeliveries++) {
      const delivery = deliveries[this.#sentDeliveries] as Delivery;
      // It reached the worker with the start of the program.
      if (delivery.kind === 'clock') continue;
      const { atMs } = delivery;
      if (delivery.kind === 'timer') {
        this.#assign({ type: 'timer/fire', execution, atMs });
        continue;
      }
      const type = delivery.kind === 'result' ? 'call/result' : 'call/error';
      const message = { type, execution, call: delivery.call, atMs } as const;
      if (blocking) this.worker.reply(message, delivery.body);
      else this.#assign(message, delivery.body);
    }
  }

  answered(): void {
    this.#unanswered--;
  }

  #assign(message: Assignment, body?: Uint8Array): void {
    this.#unanswered++;
    this.worker.assign(message, body);
  }
}

/** The worker's clock counts in whole milliseconds, and a budget of none would be no budget. */
function whole(remainingMs: number): number {
  return Math.max(1, Math.ceil(remainingMs));
}
