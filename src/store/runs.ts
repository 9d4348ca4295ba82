import type { EndedState, RunFigures } from '../domain/run.js';
import type { Awaitable, Stop } from '../lib/async/awaitable.js';

/** The states in the store. A queued or running run has no row, or its host holds its row. */
export type StoredState = 'suspended' | EndedState;

/** What lists show of a run. */
export interface StoredRun {
  readonly id: string;
  readonly caller: string;
  readonly profile: string;
  readonly setting: string;
  readonly codeDigest: string;
  readonly state: StoredState;
  /** When its request was accepted, not when it was stored. */
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** Whether a host that is up has resumed it. */
  readonly isHeld: boolean;
  /** Undefined until the run has ended, and for runs that an older version recorded. */
  readonly durationMs: number | undefined;
  /** Of a run that has ended. Undefined if they were not recorded. */
  readonly figures: (RunFigures & { readonly responseBytes: number }) | undefined;
}

/**
 * The right to write about a suspended run, from `claim` until it is suspended again, released or ended. A host whose lease was
 * taken over by another host gets `lease_lost` from every write.
 */
export interface RunLease {
  readonly runId: string;
  /** How often the run was claimed. A write with a smaller number than the row's comes too late. */
  readonly fence: number;
}

/** A suspended run: the program as the sandbox sealed it, and the host's own context. */
export interface SuspendedRun
  extends Pick<StoredRun, 'id' | 'caller' | 'profile' | 'setting' | 'codeDigest' | 'createdAtMs'> {
  readonly program: Uint8Array;
  readonly contextJson: string;
  /** A line of the program by which a person recognizes it. */
  readonly title: string;
  /** Only for a run that was resumed. */
  readonly lease?: RunLease | undefined;
}

/** How a run ended, with its recording if one is kept. */
export interface EndedRun extends Omit<SuspendedRun, 'program' | 'contextJson' | 'title'> {
  readonly state: EndedState;
  readonly responseJson: string;
  readonly recordingJson: string | undefined;
  /** The modules that its recording shares with other recordings. Absent if it shares none. */
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
  /** Undefined if the recording contains its own modules. */
  readonly modulesJson: string | undefined;
}

/** What happened to a run after it was suspended, in the process that resumed it. */
export interface SinceThen {
  readonly calls: readonly { readonly number: number; readonly isSent: boolean; readonly callJson: string }[];
  /** In the order of delivery. */
  readonly deliveries: readonly string[];
}

/** Everything needed to resume a suspended run. */
export interface OpenedRun extends Omit<SuspendedRun, 'title' | 'lease'> {
  readonly sinceThen: SinceThen;
}

/** Which runs a page shows. An absent field does not filter. */
export interface RunChoice {
  readonly states?: readonly StoredState[];
  readonly caller?: string;
  /** Shows only the runs of other callers. */
  readonly exceptCallers?: readonly string[];
  readonly profile?: string;
  readonly sinceMs?: number;
  /** Runs that changed after this. */
  readonly updatedAfterMs?: number;
  /** The place of the last run on the previous page. */
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
  /** Calls of these runs. */
  readonly calls: number;
  /** Bytes that tools answered them. */
  readonly toolBytes: number;
  /** Bytes of the runs' own answers. */
  readonly bytes: number;
}

/** A host that resumes runs. */
export interface RunTaker {
  /** How many runs it resumes at the same time. */
  readonly room: number;
  /** Whether this host has what the run needs. */
  canTake(run: StoredRun): boolean;
  /** Resumes the run. False if it is already being resumed. Resolves when the run has ended or is suspended again. */
  take(run: StoredRun): Promise<boolean>;
}

/** Suspended runs, which outlive their host, and the history of ended runs. Their contents are sealed. */
export interface RunStore {
  /**
   * Stores a suspended run. Earlier calls and deliveries are deleted: the new image contains them. Throws `quota_exceeded`, and
   * `lease_lost` if another host holds the run.
   */
  suspend(run: SuspendedRun, nowMs: number): Awaitable<void>;
  find(id: string): Awaitable<StoredRun | undefined>;
  /** The newest first; only those of `caller`, if given. */
  list(limit: number, caller?: string): Awaitable<StoredRun[]>;
  /** The last run of a program. */
  lastOf(program: Pick<StoredRun, 'caller' | 'profile' | 'codeDigest'>): Awaitable<StoredRun | undefined>;
  /** A page, the newest first, with the place of each. */
  page(choice: RunChoice, limit: number): Awaitable<PlacedRun[]>;
  /** Response bytes of the runs since a time, by day (UTC) and in total, without unsealing them. */
  answersByDay(sinceMs: number, exceptCallers?: readonly string[]): Awaitable<AnswersOfDay[]>;
  /** The lines by which people recognize these runs. A title that was not stored, or whose seal does not match, is absent. */
  titlesOf(ids: readonly string[]): Awaitable<ReadonlyMap<string, string>>;
  /** Ids that start with these characters, in order. */
  idsWith(prefix: string, limit: number): Awaitable<string[]>;
  /** Suspended runs without a pending approval that no host holds, the oldest first. */
  resumable(limit: number): Awaitable<StoredRun[]>;
  /** Passes on runs that became resumable: by a decision, an expiry, or the loss of their host. */
  watch(taker: RunTaker): Stop;
  /**
   * Claims a suspended run for this host. If two hosts try at once, one gets it. A run claimed by a host that is gone can be taken
   * over. `isForced`: also take it from a host that is up, whose writes then fail. Only for a store with fences.
   */
  claim(id: string, options?: { readonly isForced?: boolean }): Awaitable<RunLease | undefined>;
  /** Gives up the claim; the run stays suspended. */
  release(lease: RunLease): Awaitable<void>;
  /** A suspended run with its contents; undefined if it is not suspended, or if a seal does not match. */
  open(id: string): Awaitable<OpenedRun | undefined>;
  /** What is stored besides the image, for a run that is suspended or was cancelled while suspended. */
  contextOf(id: string): Awaitable<{ readonly contextJson: string; readonly calls: readonly string[] } | undefined>;
  /** A resumed run makes a call. It is recorded before anything else happens with it. Throws `lease_lost`. */
  callMade(lease: RunLease, number: number, callJson: string): Awaitable<void>;
  /** From here on the outcome is unknown until the answer is recorded. Throws `lease_lost`. */
  callSent(lease: RunLease, number: number, callJson: string): Awaitable<void>;
  /** Throws `lease_lost`. */
  delivered(lease: RunLease, position: number, deliveryJson: string): Awaitable<void>;
  /** Records how runs ended. Returns the ids of runs that another host has taken over: nothing is recorded for them. */
  end(ends: readonly EndedRun[], nowMs: number): Awaitable<readonly string[]>;
  /** The response of this caller's run. Moved to another caller, it does not open. */
  responseOf(run: Pick<StoredRun, 'id' | 'caller'>): Awaitable<string | undefined>;
  /** Undefined if no recording was kept, or if a seal does not match. */
  recordingOf(id: string): Awaitable<StoredRecording | undefined>;
}
