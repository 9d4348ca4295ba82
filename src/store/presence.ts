import type { Awaitable } from '../lib/async/awaitable.js';

/** A running run of any host. */
export interface PresentRun {
  readonly runId: string;
  readonly caller: string;
  readonly profile: string;
  readonly createdAtMs: number;
  readonly title: string;
  readonly source: string;
}

/** A client that has connected to a host. */
export interface KnownClient {
  /** The name the client gives itself. */
  readonly name: string;
  readonly version: string;
  readonly transport: 'stdio' | 'http';
  readonly caller: string;
  readonly firstAtMs: number;
  readonly lastAtMs: number;
  /** Whether the host that the client last talked to still runs. */
  readonly isHostUp: boolean;
}

export type SeenClient = Omit<KnownClient, 'firstAtMs' | 'lastAtMs' | 'isHostUp'>;

/** What hosts tell each other about themselves. Entries of a host that has ended count as gone. */
export interface PresenceStore {
  /** Announces the runs of this host that started and those that are over, in one write. */
  update(begun: readonly PresentRun[], over: readonly string[]): Awaitable<void>;
  /** The newest first; only those of `caller`, if given. */
  runs(limit: number, caller?: string): Awaitable<PresentRun[]>;
  find(runId: string): Awaitable<PresentRun | undefined>;
  /** Asks the host that has the run to cancel it. */
  askToCancel(runId: string): Awaitable<void>;
  /** Runs of this host with a cancel request. */
  cancelled(): Awaitable<string[]>;
  clientSeen(client: SeenClient, nowMs: number): Awaitable<void>;
  /** The most recently seen client first. */
  clients(): Awaitable<KnownClient[]>;
}
