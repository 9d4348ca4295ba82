import type { Awaitable } from '../lib/async/awaitable.js';

/** A run of any host that is under way. */
export interface PresentRun {
  readonly runId: string;
  readonly caller: string;
  readonly profile: string;
  readonly startedAtMs: number;
  readonly title: string;
  readonly source: string;
}

/** A client that has connected to a host. */
export interface KnownClient {
  /** What it calls itself. */
  readonly name: string;
  readonly version: string;
  readonly transport: 'stdio' | 'http';
  readonly caller: string;
  readonly firstAtMs: number;
  readonly lastAtMs: number;
  /** Whether the host that it talked to last still runs. */
  readonly isHostUp: boolean;
}

export type SeenClient = Omit<KnownClient, 'firstAtMs' | 'lastAtMs' | 'isHostUp'>;

/** What hosts tell each other of themselves. What a host that has ended left behind counts as gone. */
export interface PresenceStore {
  /** Tells of runs of this host that began and of runs that are over, all at once. */
  update(begun: readonly PresentRun[], over: readonly string[]): Awaitable<void>;
  /** The newest first; only those of `caller`, if given. */
  runs(limit: number, caller?: string): Awaitable<PresentRun[]>;
  find(runId: string): Awaitable<PresentRun | undefined>;
  /** Asks the host that has the run to cancel it. */
  askToCancel(runId: string): Awaitable<void>;
  /** Runs of this host that somebody has asked to cancel. */
  cancelled(): Awaitable<string[]>;
  clientSeen(client: SeenClient, nowMs: number): Awaitable<void>;
  /** The one that was seen last comes first. */
  clients(): Awaitable<KnownClient[]>;
}
