/** Status of the database that hosts share, for operators. */
export interface SharedStoreStatus {
  /** Host, port and database; never the password. */
  readonly address: string;
  readonly isEncrypted: boolean;
  /** PostgreSQL's own version: `15.4`. */
  readonly serverVersion: string;
  /** The number of migrations applied, and the number that this program knows. */
  readonly schemaVersion: number;
  readonly knownVersion: number;
  /** Round trip of one statement. */
  readonly roundTripMs: number;
  /** By how much this machine's clock is ahead of the database's. */
  readonly clockAheadMs: number;
  readonly connections: { readonly used: number; readonly max: number };
  /** Whether notifications from other hosts arrive. Behind a transaction pooler they do not, and hosts poll. */
  readonly isListening: boolean;
  readonly databaseBytes: number;
  readonly hosts: readonly { readonly id: string; readonly name: string; readonly leaseLeftMs: number }[];
  readonly runs: {
    readonly suspended: number;
    readonly resumed: number;
    /** All of them, ended or not. */
    readonly ended: number;
    /** There are so many that `ended` is the database's estimate. */
    readonly isEstimate: boolean;
  };
  readonly pendingApprovals: number;
  readonly queue: SharedQueueStatus;
}

/** Metrics of the database, as one host sees it. */
export interface SharedFigures {
  /** Connections of this host: open, idle, and statements that wait for one. */
  readonly connections: { readonly open: number; readonly idle: number; readonly waiting: number };
  /** Time since this host last renewed its lease. */
  readonly heartbeatAgeMs: number;
  /** Counts over all hosts. Undefined if the database does not answer, or takes too long to count. */
  readonly counts:
    | {
        readonly hosts: number;
        readonly suspended: number;
        readonly resumed: number;
        readonly pending: number;
        readonly answeredInMs: number;
        readonly queue: SharedQueueStatus;
      }
    | undefined;
}

export interface SharedQueueStatus {
  /** Jobs that could be worked on now. */
  readonly ready: number;
  /** Jobs for later, including failed ones that will be retried. */
  readonly later: number;
  /** Jobs that are being worked on, or were when their host died. */
  readonly taken: number;
  /** How long the oldest job that is ready has waited. */
  readonly lagMs: number;
}

/** Administers the database, with or without a host. */
export interface SharedStoreAdmin {
  status(): Promise<SharedStoreStatus>;
  /** Throws `bad_config` where a host would refuse to start, for example with another key. Writes nothing. */
  requireUsable(): Promise<void>;
  /** Creates or upgrades the schema. Lets `grantTo` read and write rows in it, and nothing else. Throws `bad_config`. */
  migrate(options?: { readonly grantTo?: string }): Promise<{ readonly schemaVersion: number }>;
  close(): Promise<void>;
}

export type CopyDirection = 'to-database' | 'to-state-folder';

/** Number of rows copied, by kind. */
export type CopiedRows = Readonly<Record<string, number>>;
