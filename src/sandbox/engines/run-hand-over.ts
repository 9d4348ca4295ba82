import type { WorkerToHost } from '../../wire/messages.js';
import { type Delivery, engineOf } from '../journal/journal.js';
import { Challenger } from './challenger.js';
import type { EnginePlace, HandOver, HandOverEvent, PlacedRun } from './engine.js';

/** CPU time after which a run is offered to V8. See docs/decisions/0084-a-hand-over-pauses-quickjs.md for the measurement. */
const PAUSES_AFTER_MS = 10;
/**
 * The worker asks again after three times as much CPU time. When it asks for the third time, the run has computed for longer than
 * a V8 process takes to start, and is handed over even if other runs need the cores: see
 * docs/decisions/0130-a-hand-over-needs-an-idle-core.md.
 */
const ASKED_IN_EARNEST = 3;
/** A run of an hour asks this often. */
const MAX_ASKED = 13;
/** Below this size QuickJS is faster: see docs/decisions/0171-spares-for-runs-that-follow-each-other.md. */
const HAND_OVER_BYTES = 1024 * 1024;
/** The limit while other runs need the cores. QuickJS reads this for about as long as a V8 process takes to start. */
const HAND_OVER_BUSY_BYTES = 4 * 1024 * 1024;
/**
 * Replaying more deliveries than this may take longer than the rest of the run. QuickJS then computes too, and the faster engine
 * takes the run.
 */
const MAX_REPLAYED_ALONE = 200;

/** The run whose engine may change. */
export interface MovableRun extends PlacedRun {
  readonly isRunning: boolean;
  readonly place: EnginePlace | undefined;
  readonly remainingMs: number;
  /** The run is in this place from now on, where it has already repeated `said` of its calls. */
  moved(to: EnginePlace, said: number): void;
  /** The run stays where it is. */
  stayed(): void;
}

/** Moves one run to a faster engine: see docs/decisions/0062-v8-by-replay.md. */
export class RunHandOver {
  readonly #run: MovableRun;
  readonly #handOver: HandOver | undefined;
  #challenger: Challenger | undefined;
  /** How often the worker has reported a long computation in a row. */
  #asked = 0;
  /** V8 cannot run the program, or runs it differently. */
  #isUnfit = false;

  constructor(run: MovableRun, handOver: HandOver | undefined) {
    this.#run = run;
    this.#handOver = handOver;
  }

  /** The run is being replayed in the other engine. */
  get isUnderWay(): boolean {
    return this.#challenger !== undefined;
  }

  /** The run's own engine gets nothing until the replay succeeds or fails. */
  get isAlone(): boolean {
    return this.#challenger?.isAlone === true;
  }

  get pausesAfterMs(): number | null {
    return this.#mayMove ? PAUSES_AFTER_MS : null;
  }

  get #mayMove(): boolean {
    const { journal } = this.#run;
    return (
      !this.#isUnfit &&
      !journal.deliveries.some(({ kind }) => kind === 'engine') &&
      (this.#handOver?.choiceFor(journal) ?? 'quickjs') !== 'quickjs'
    );
  }

  isChallenger(place: EnginePlace): boolean {
    return this.#challenger !== undefined && place === this.#challenger.place;
  }

  /** The run was in V8, which could not continue it. */
  get cameBack(): boolean {
    const { deliveries } = this.#run.journal;
    return engineOf({ deliveries }) === 'quickjs' && deliveries.some(({ kind }) => kind === 'engine');
  }

  /** V8 refused the program. */
  refused(): void {
    this.#isUnfit = true;
    this.count('unfit');
  }

  count(what: HandOverEvent): void {
    this.#handOver?.count(what);
  }

  /** The run has computed for long in its own engine, which is paused. */
  paused(from: EnginePlace): void {
    const handOver = this.#handOver;
    if (this.#asked >= MAX_ASKED || handOver === undefined || !this.#mayMove) from.wasted();
    else if (++this.#asked >= ASKED_IN_EARNEST || !handOver.isBusy) {
      const isAlone = this.#run.journal.deliveries.length <= MAX_REPLAYED_ALONE;
      if (handOver.isReady && this.#challenge(handOver, isAlone) && isAlone) return;
      // If the process is no longer needed when it is ready, it serves the next run.
      if (!this.isUnderWay)
        void handOver.prepare(this.#run).then(() => this.#asked > 0 && this.#challenge(handOver, false));
    }
    from.continue();
  }

  /** The run's own engine sent another message: it got further than the replay that was meant to be faster. */
  heardOwn(): void {
    this.#asked = 0;
    if (this.#challenger?.isAlone === false) this.drop('late');
  }

  /** Whether this delivery goes to the other engine first, which parses large deliveries several times faster. */
  takes(delivery: Delivery): boolean {
    const handOver = this.#handOver;
    const bytes = 'body' in delivery ? delivery.body.byteLength : 0;
    if (bytes < HAND_OVER_BYTES || handOver === undefined || this.isUnderWay) return false;
    if (this.#run.place?.isQuiet !== true || !this.#mayMove) return false;
    if (bytes < HAND_OVER_BUSY_BYTES && handOver.isBusy) return false;
    const isReady = handOver.isReady;
    // If no process is ready, both engines get it.
    return this.#challenge(handOver, isReady) && isReady;
  }

  /** Sends the replay the part of the journal that it was not sent yet. */
  catchUp(): void {
    this.#challenger?.place?.catchUp();
  }

  hear(message: WorkerToHost, body: Buffer, from: EnginePlace): void {
    const challenger = this.#challenger as Challenger;
    const verdict = challenger.hear(message, body, from);
    if (verdict === 'catching up') return;
    if (verdict !== 'ahead') {
      this.#isUnfit = verdict !== 'failed';
      return this.drop(verdict);
    }
    this.#challenger = undefined;
    this.#asked = 0;
    this.count('won');
    this.#run.moved(from, challenger.said);
    for (const kept of challenger.takeKept()) this.#run.receive(kept.message, kept.body, from);
    this.#run.receive(message, body, from);
  }

  /** The run continues in its own engine alone. */
  drop(why?: HandOverEvent): void {
    const challenger = this.#challenger;
    this.#asked = 0;
    if (challenger === undefined) return;
    this.#challenger = undefined;
    if (why !== undefined) this.count(why);
    challenger.place?.cancel();
    this.#run.stayed();
  }

  #challenge(handOver: HandOver, isAlone: boolean): boolean {
    if (!this.#run.isRunning || this.isUnderWay || !this.#mayMove) return false;
    const offered = handOver.offer(this.#run);
    if (offered === undefined) return false;
    const challenger = new Challenger(this.#run.journal, isAlone);
    this.#challenger = challenger;
    offered.then(
      (place) => {
        if (this.#challenger !== challenger) return place.abandon();
        challenger.place = place;
        place.enter();
        place.start(this.#run.remainingMs);
        place.catchUp();
      },
      () => {
        if (this.#challenger === challenger) this.drop('lost');
      },
    );
    return true;
  }
}
