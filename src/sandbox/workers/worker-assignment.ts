import type { CallNumber, RunId, SourcePosition } from '../../domain/run.js';
import type { WorkerToHost } from '../../wire/messages.js';
import type { EnginePlace, LossBlame, PlacedRun } from '../engines/engine.js';
import { CallSites } from '../journal/call-sites.js';
import { clockRecordOf, type Delivery, type Journal } from '../journal/journal.js';
import type { LibraryDigests } from '../journal/library-digests.js';
import type { HeldRun, RunWorker } from './run-worker.js';

type AssignMessage = Parameters<RunWorker['assign']>[0];

/** The owner of the workers. */
export interface AssignmentOwner {
  readonly libraries: LibraryDigests;
  notNeeded(worker: RunWorker): void;
  hasBetterThan(worker: RunWorker): boolean;
}

/** A run's place in one worker, of either engine. */
export class WorkerAssignment implements EnginePlace, HeldRun {
  readonly id: RunId;
  readonly #worker: RunWorker;
  readonly #owner: AssignmentOwner;
  readonly #run: PlacedRun;
  readonly #journal: Journal;
  readonly #library: string;
  readonly #sites = new CallSites();
  /** Less than the length of the journal while a rebuilt program catches up. */
  #sentDeliveries = 0;
  #unanswered = 0;

  constructor(worker: RunWorker, run: PlacedRun, owner: AssignmentOwner) {
    this.id = run.id;
    this.#worker = worker;
    this.#owner = owner;
    this.#run = run;
    this.#journal = run.journal;
    this.#library = owner.libraries.of(run.journal.modules);
  }

  enter(): void {
    this.#worker.admit(this);
    this.#worker.loadLibrary(this.#library, this.#journal.modules);
  }

  abandon(): void {
    this.#owner.notNeeded(this.#worker);
  }

  get isComputing(): boolean {
    return this.#worker.computing === this.id;
  }

  get isUpToDate(): boolean {
    return this.#sentDeliveries === this.#journal.deliveries.length;
  }

  get hasBetter(): boolean {
    return this.#owner.hasBetterThan(this.#worker);
  }

  get isQuiet(): boolean {
    return this.#unanswered === 0;
  }

  start(remainingMs: number): void {
    const { runId, source, language, limits, seed, startedAtMs, blocking, script, body } = this.#journal;
    const { maxMemoryBytes, maxLogBytes, cpuQuota = 1 } = limits;
    const given = script?.input ?? body?.context;
    const input = Buffer.from(given === undefined ? '' : JSON.stringify(given));
    this.#assign(
      {
        type: 'execution/start',
        execution: runId,
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
        pausesAfterMs: this.#run.pausesAfterMs,
      },
      Buffer.concat([input, Buffer.from(source)]),
    );
  }

  resume(image: Buffer, remainingMs: number, inImage: number): void {
    const { runId } = this.#journal;
    this.#sentDeliveries = inImage;
    const clock = clockRecordOf(this.#journal, inImage);
    const timeoutMs = whole(remainingMs);
    const { pausesAfterMs } = this.#run;
    this.#assign(
      { type: 'execution/resume', execution: runId, library: this.#library, timeoutMs, clock, pausesAfterMs },
      image,
    );
  }

  suspend(): void {
    this.#assign({ type: 'execution/suspend', execution: this.#journal.runId });
  }

  finish(): void {
    this.#assign({ type: 'execution/finish', execution: this.#journal.runId });
  }

  locate(call: CallNumber): Promise<readonly SourcePosition[]> {
    const { runId } = this.#journal;
    return this.#sites.ask(call, () => this.#assign({ type: 'call/locate', execution: runId, call }));
  }

  catchUp(): void {
    const { runId, deliveries, blocking } = this.#journal;
    for (; this.#sentDeliveries < deliveries.length; this.#sentDeliveries++) {
      const delivery = deliveries[this.#sentDeliveries] as Delivery;
      // The worker got the clock with the start of the program, and a worker has one engine.
      if (delivery.kind === 'clock' || delivery.kind === 'engine') continue;
      const { atMs } = delivery;
      if (delivery.kind === 'timer') {
        this.#assign({ type: 'timer/fire', execution: runId, atMs });
        continue;
      }
      const type = delivery.kind === 'result' ? 'call/result' : 'call/error';
      const message = { type, execution: runId, call: delivery.call, atMs } as const;
      if (blocking) this.#worker.reply(message, delivery.body);
      else this.#assign(message, delivery.body);
    }
  }

  continue(): void {
    this.#worker.continue(this.id);
  }

  release(): void {
    this.#worker.release(this.id);
  }

  cancel(): void {
    this.#worker.cancel(this.id);
  }

  dismiss(graceMs: number): void {
    this.#worker.dismiss(this.id, graceMs);
  }

  leave(): void {
    this.#worker.leave(this.id);
  }

  kill(reason: string): void {
    this.#worker.kill(reason);
  }

  wasted(): void {
    this.#worker.wasted();
  }

  // Events from the worker.

  receive(message: WorkerToHost, body: Buffer): void {
    if (message.type === 'execution/waiting') this.#unanswered--;
    if (message.type !== 'call/site') this.#run.receive(message, body, this);
    else if (!this.#sites.told(message.call, message.places)) this.kill('it sent a call site that was not asked for');
  }

  workerLost(part: LossBlame, reason: string): void {
    this.#run.workerLost(this, part, reason);
  }

  workerStalled(): void {
    this.#run.workerStalled(this);
  }

  workerTaken(): void {
    this.#run.workerTaken(this);
  }

  #assign(message: AssignMessage, body?: Uint8Array): void {
    this.#unanswered++;
    this.#worker.assign(message, body);
  }
}

/** The worker's clock counts whole milliseconds, and a budget of 0 would mean no budget. */
function whole(remainingMs: number): number {
  return Math.max(1, Math.ceil(remainingMs));
}
