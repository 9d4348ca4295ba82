import type { EngineChoice } from '../../domain/engine.js';
import type { CallerId, CallNumber, RunId, SourcePosition } from '../../domain/run.js';
import type { Cancellation } from '../../lib/async/cancellation.js';
import type { WorkerToHost } from '../../wire/messages.js';
import type { Journal } from '../journal/journal.js';
import type { CallerAccount } from '../workers/caller-account.js';

/** What computes programs. A run knows nothing else of where it computes: its journal is the same in every engine. */
export interface Engine {
  /** What the caller's open calls are charged to. */
  accountOf(caller: CallerId): CallerAccount;
  /** Waits for a place; one that is not entered is given back with `abandon`. `isUnderWay`: the run had a place before. */
  place(run: PlacedRun, cancellation: Cancellation, isUnderWay: boolean): Promise<EnginePlace>;
  /** A faster engine to which a run can be handed over; absent where there is none. */
  readonly handOver?: HandOver;
}

/** What hands runs over to a faster engine while they compute. */
export interface HandOver {
  /** Whether this run may use it, and how. */
  choiceFor(journal: Journal): EngineChoice;
  /** Whether a place is available at once. */
  readonly isReady: boolean;
  /** No core is idle for it: a process for a run that may soon be done would take one from others. */
  readonly isBusy: boolean;
  /** Resolves when a place is available for a run that may need one by then. */
  prepare(run: PlacedRun): Promise<void>;
  /** A place in which the run is replayed while it goes on in its own; undefined where none is free. */
  offer(run: PlacedRun): Promise<EnginePlace> | undefined;
  count(what: HandOverEvent): void;
}

/** What came of handing over: `diverged` means that the engines differ for a program. */
export type HandOverEvent = 'offered' | 'won' | 'late' | 'diverged' | 'unfit' | 'lost' | 'failed';

/** The place of one run in one worker of an engine: how much of its journal that worker has had, and what it still owes. */
export interface EnginePlace {
  /** Everything that was sent is answered. */
  readonly isQuiet: boolean;
  /** The worker computes this run now, as far as can be told from outside. */
  readonly isComputing: boolean;
  /** The worker has been sent the whole journal. */
  readonly isUpToDate: boolean;
  /** Another worker would answer sooner. */
  readonly hasBetter: boolean;
  enter(): void;
  /** The place is not needed. Instead of `enter`. */
  abandon(): void;
  /** From the beginning: the source first. */
  start(remainingMs: number): void;
  /** From an image, in which the first deliveries of the journal are contained. */
  resume(image: Buffer, remainingMs: number, inImage: number): void;
  /** Sends what the journal has and the worker has not had. */
  catchUp(): void;
  /** A program that is paused goes on. */
  continue(): void;
  /** Asks for the image of the program, which waits. */
  suspend(): void;
  /** The time is over: asks for the result of a program whose last line has run. */
  finish(): void;
  /** Where in the source an open call was made, innermost first. */
  locate(call: CallNumber): Promise<readonly SourcePosition[]>;
  /** The program has ended, or was suspended: it leaves. */
  release(): void;
  /** The program leaves while the worker may still owe replies for it. */
  cancel(): void;
  /** As `cancel`, and the worker is killed if it still computes the program after the grace period. */
  dismiss(graceMs: number): void;
  /** The run goes on in another engine: it leaves. A worker that computes it and no other is ended. */
  leave(): void;
  /** The worker sent what no worker of ours sends, or does not stop. */
  kill(reason: string): void;
  /** The worker sent a frame without effect. */
  wasted(): void;
}

/**
 * The run's part in the loss of its worker. `guilty`: the host killed the worker because of it. `suspect`: the worker
 * crashed while it owed a reply for this run. `exhausted`: it ran out of memory meanwhile.
 */
export type LossBlame = 'guilty' | 'suspect' | 'exhausted' | 'bystander';

/** What an engine tells a run. */
export interface PlacedRun {
  readonly id: RunId;
  readonly caller: CallerId;
  readonly journal: Journal;
  /** CPU time after which its worker is to pause it and ask; null: never. */
  readonly pausesAfterMs: number | null;
  receive(message: WorkerToHost, body: Buffer, from: EnginePlace): void;
  workerLost(from: EnginePlace, part: LossBlame, reason: string): void;
  /** The worker has been computing another program for so long that this one should move to another worker. */
  workerStalled(from: EnginePlace): void;
  /** Its caller's turn is over. It waits for a delivery, and then continues in another place. */
  workerTaken(from: EnginePlace): void;
}
