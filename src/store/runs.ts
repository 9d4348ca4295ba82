import type { EndedState, RunFigures } from '../domain/run.js';
import type { Awaitable, Stop } from '../lib/async/awaitable.js';

/** The states in the store: a queued or running run has no row, or its row is held by its host. */
export type StoredState = 'suspended' | EndedState;

/** What lists show of a run. */
export interface StoredRun {
  readonly id: string;
  readonly caller: string;
  readonly profile: string;
  readonly setting: string;
  readonly codeDigest: string;
  readonly state: StoredState;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** A host that is up has resumed it. */
  readonly isHeld: boolean;
  /** Undefined until the run has ended, and for runs that an older version recorded. */
  readonly durationMs: number | undefined;
  /** Of a run that has ended; undefined where they were not recorded. */
  readonly figures: (RunFigures & { readonly responseBytes: number }) | undefined;
}

/**
 * The right to write about a suspended run, from `claim` until it is suspended again, released or ended. A host whose lease was
 * taken over by another host gets `lease_lost` from every write.
 */
export interface RunLease {
  readonly runId: string;
  /** How often the run was claimed. A write with a smaller number than the row has comes too late. */
  readonly fence: number;
}

/** A suspended run: the program as the sandbox sealed it, and the host's own context. */
export interface SuspendedRun extends Pick<StoredRun, 'id' | 'caller' | 'profile' | 'setting' | 'codeDigest'> {
  readonly program: Uint8Array;
  readonly contextJson: string;
  /** A line of the program by which a person recognizes it. */
  readonly title: string;
  /** Of a run that was resumed. */
  readonly lease?: RunLease | undefined;
}

/** How a run ended, with its recording if one is kept. */
export interface EndedRun extends Omit<SuspendedRun, 'program' | 'contextJson' | 'title'> {
  readonly state: EndedState;
  readonly responseJson: string;
  readonly recordingJson: string | undefined;
  /** What its recording shares with those of other runs; absent where it shares nothing. */
  readonly modules?: SharedModules | undefined;
  /** Both are undefined for a run that was cancelled while suspended: the stored values stay. */
  readonly title: string | undefined;
  readonly durationMs: number | undefined;
  readonly figures?: RunFigures | undefined;
}

/** The modules that programs could import. They are stored once for all runs that name their digest. */
export interface SharedModules {
  readonly digest: string;
  readonly json: string;
}

export interface StoredRecording {
  readonly json: string;
  /** Undefined where the recording has its own. */
  readonly modulesJson: string | undefined;
}

/** What happened to a run after it was suspended, in the process that resumed it. */
export interface SinceThen {
  readonly calls: readonly { readonly number: number; readonly isSent: boolean; readonly callJson: string }[];
  /** In the order of delivery. */
  readonly deliveries: readonly string[];
}

/** Everything of a suspended run that it takes to resume it. */
export interface OpenedRun extends Omit<SuspendedRun, 'title' | 'lease'> {
  readonly sinceThen: SinceThen;
}

/** Which runs a page shows. What is absent does not matter. */
export interface RunChoice {
  readonly states?: readonly StoredState[];
  readonly caller?: string;
  /** Runs of everybody else. */
  readonly exceptCallers?: readonly string[];
  readonly profile?: string;
  readonly sinceMs?: number;
  /** Runs that changed after this. */
  readonly updatedAfterMs?: number;
  /** The last run of the page before, by its place. */
  readonly after?: RunPlace;
}

export interface RunPlace {
  readonly createdAtMs: number;
  readonly rowid: number;
}

export type PlacedRun = StoredRun & { readonly place: RunPlace };

export interface AnswersOfDay {
  readonly day: string;
  readonly runs: number;
  readonly bytes: number;
}

/** A host that resumes runs. */
export interface RunTaker {
  /** How many it takes at the same time. */
  readonly room: number;
  /** Whether this host has what the run needs. */
  canTake(run: StoredRun): boolean;
  /** Resumes it; false where it is being resumed already. Resolves when it has ended or is suspended again. */
  take(run: StoredRun): Promise<boolean>;
}

/** Suspended runs, which outlive their host, and the history of ended runs. Their contents are sealed. */
export interface RunStore {
  /**
   * Stores a suspended run. Earlier calls and deliveries are deleted: the new image contains them. Throws `quota_exceeded`, and
   * `lease_lost` where another host has the run.
   */
  suspend(run: SuspendedRun, nowMs: number): Awaitable<void>;
  find(id: string): Awaitable<StoredRun | undefined>;
  /** The newest first; only those of `caller`, if given. */
  list(limit: number, caller?: string): Awaitable<StoredRun[]>;
  /** The last run of a program. */
  lastOf(program: Pick<StoredRun, 'caller' | 'profile' | 'codeDigest'>): Awaitable<StoredRun | undefined>;
  /** A page, the newest first, with the place of each. */
  page(choice: RunChoice, limit: number): Awaitable<PlacedRun[]>;
  /** Bytes of the answers that runs of a time gave, by day (UTC) and in all, without unsealing them. */
  answersByDay(sinceMs: number, exceptCallers?: readonly string[]): Awaitable<AnswersOfDay[]>;
  /** The lines by which people recognize these runs. Those that were not stored, or whose seal does not match, are absent. */
  titlesOf(ids: readonly string[]): Awaitable<ReadonlyMap<string, string>>;
  /** Ids that start with these characters, in order. */
  idsWith(prefix: string, limit: number): Awaitable<string[]>;
  /** Suspended runs that wait for nobody and that no host holds, the oldest first. */
  resumable(limit: number): Awaitable<StoredRun[]>;
  /** Passes on runs that have become resumable: by a decision, an expiry, or because their host was lost. */
  watch(taker: RunTaker): Stop;
  /**
   * Claims a suspended run for this host. If two hosts try at once, one gets it; a run claimed by a host that is gone can be
   * taken over. `isForced`: also from a host that is up, whose writes fail from then on; only where a store has fences.
   */
  claim(id: string, options?: { readonly isForced?: boolean }): Awaitable<RunLease | undefined>;
  /** Gives up the claim; the run stays suspended. */
  release(lease: RunLease): Awaitable<void>;
  /** A suspended run with its contents; undefined if it is not suspended, or if a seal does not match. */
  open(id: string): Awaitable<OpenedRun | undefined>;
  /** What is stored of a suspended run, or of one that was cancelled while it was, besides its image. */
  contextOf(id: string): Awaitable<{ readonly contextJson: string; readonly calls: readonly string[] } | undefined>;
  /** A resumed run makes a call: recorded before anything else happens with it. Throws `lease_lost`. */
  callMade(lease: RunLease, number: number, callJson: string): Awaitable<void>;
  /** From here on the outcome is unknown, until the answer is recorded. Throws `lease_lost`. */
  callSent(lease: RunLease, number: number, callJson: string): Awaitable<void>;
  /** Throws `lease_lost`. */
  delivered(lease: RunLease, position: number, deliveryJson: string): Awaitable<void>;
  /** Records the ends of runs. Returns the ids of those that another host has taken over: nothing is recorded of them. */
  end(ends: readonly EndedRun[], nowMs: number): Awaitable<readonly string[]>;
  /** The answer of this run of this caller: moved to another caller it does not open. */
  responseOf(run: Pick<StoredRun, 'id' | 'caller'>): Awaitable<string | undefined>;
  /** Undefined if none was kept, or if a seal does not match. */
  recordingOf(id: string): Awaitable<StoredRecording | undefined>;
}
