import type { EngineChoice } from '../../domain/engine.js';
import type { CallerId, CallNumber, RunId, SourcePosition } from '../../domain/run.js';
import type { Cancellation } from '../../lib/async/cancellation.js';
import type { WorkerToHost } from '../../wire/messages.js';
import type { Journal } from '../journal/journal.js';
import type { CallerAccount } from '../workers/caller-account.js';

/** Executes programs. A run knows only this interface: its journal is the same in every engine. */
export interface Engine {
  /** The account that the caller's open calls are charged to. */
  accountOf(caller: CallerId): CallerAccount;
  /** Waits for a place. A place that is not entered is given back with `abandon`. `hadPlace`: the run had a place before. */
  place(run: PlacedRun, cancellation: Cancellation, hadPlace: boolean): Promise<EnginePlace>;
  /** A faster engine to which a run can be handed over; absent if there is none. */
  readonly handOver?: HandOver;
}

/** Hands runs over to a faster engine while they compute. */
export interface HandOver {
  /** Whether this run may use it, and how. */
  choiceFor(journal: Journal): EngineChoice;
  /** Whether a place is available at once. */
  readonly isReady: boolean;
  /** No core is idle: a process for a run that may soon be done would take a core from other runs. */
  readonly isBusy: boolean;
  /** Resolves when a place is available, in case the run still needs one then. */
  prepare(run: PlacedRun): Promise<void>;
  /** A place in which the run is replayed while it continues in its own; undefined if none is free. */
  offer(run: PlacedRun): Promise<EnginePlace> | undefined;
  count(what: HandOverEvent): void;
}

/** The outcome of a hand-over: `diverged` means that the engines differ for a program. */
export type HandOverEvent = 'offered' | 'won' | 'late' | 'diverged' | 'unfit' | 'lost' | 'failed';

/** The place of one run in one worker of an engine: how much of its journal that worker was sent, and which replies it owes. */
export interface EnginePlace {
  /** Everything that was sent has been answered. */
  readonly isQuiet: boolean;
  /** The worker computes this run now, as far as the host can tell. */
  readonly isComputing: boolean;
  /** The worker has been sent the whole journal. */
  readonly isUpToDate: boolean;
  /** Another worker would reply sooner. */
  readonly hasBetter: boolean;
  enter(): void;
  /** Gives the place back. Called instead of `enter`. */
  abandon(): void;
  /** Starts from the beginning: the source first. */
  start(remainingMs: number): void;
  /** Starts from an image, which contains the first `inImage` deliveries of the journal. */
  resume(image: Buffer, remainingMs: number, inImage: number): void;
  /** Sends the part of the journal that the worker was not sent yet. */
  catchUp(): void;
  /** Continues a paused program. */
  continue(): void;
  /** Asks for the image of the program, which must be waiting. */
  suspend(): void;
  /** The time is over: asks for the result, which a program has if its last line has run. */
  finish(): void;
  /** Where in the source an open call was made, innermost first. */
  locate(call: CallNumber): Promise<readonly SourcePosition[]>;
  /** The program has ended, or was suspended: it leaves the worker. */
  release(): void;
  /** The program leaves while the worker may still owe replies to it. */
  cancel(): void;
  /** As `cancel`, and the worker is killed if it still computes the program after the grace period. */
  dismiss(graceMs: number): void;
  /** The run continues in another engine and leaves this worker. The worker is killed if it computes this run and no other. */
  leave(): void;
  /** The worker sent something that no worker of ours sends, or does not stop. */
  kill(reason: string): void;
  /** The worker sent a frame that had no effect. */
  wasted(): void;
}

/**
 * The run's part in the loss of its worker. `guilty`: the host killed the worker because of the run. `suspect`: the worker crashed
 * while it owed a reply for this run. `exhausted`: the worker ran out of memory while it owed one.
 */
export type LossBlame = 'guilty' | 'suspect' | 'exhausted' | 'bystander';

/** The events that an engine reports to a run. */
export interface PlacedRun {
  readonly id: RunId;
  readonly caller: CallerId;
  readonly journal: Journal;
  /** CPU time after which the worker pauses the program and asks; null: never. */
  readonly pausesAfterMs: number | null;
  receive(message: WorkerToHost, body: Buffer, from: EnginePlace): void;
  workerLost(from: EnginePlace, part: LossBlame, reason: string): void;
  /** The worker has computed another program for so long that this one should move to another worker. */
  workerStalled(from: EnginePlace): void;
  /** Its caller's turn is over. It waits for a delivery, and then continues in another place. */
  workerTaken(from: EnginePlace): void;
}
