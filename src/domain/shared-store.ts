/** What an operator wants to know about the database that hosts share. */
export interface SharedStoreStatus {
  /** Host, port and database; never the password. */
  readonly address: string;
  readonly isEncrypted: boolean;
  /** PostgreSQL's own version: `15.4`. */
  readonly serverVersion: string;
  /** Migrations that were applied, and those that this program knows. */
  readonly schemaVersion: number;
  readonly knownVersion: number;
  /** Of one statement, in milliseconds. */
  readonly roundTripMs: number;
  /** By how much this machine's clock is ahead of the database's. */
  readonly clockAheadMs: number;
  readonly connections: { readonly used: number; readonly max: number };
  /** Whether announcements of other hosts arrive. Behind a transaction pooler they do not, and hosts poll. */
  readonly isListening: boolean;
  readonly databaseBytes: number;
  readonly hosts: readonly { readonly id: string; readonly name: string; readonly leaseLeftMs: number }[];
  readonly runs: { readonly suspended: number; readonly resumed: number; readonly ended: number };
  readonly pendingApprovals: number;
  readonly queue: SharedQueueStatus;
}

/** What metrics tell of it, as one host sees it. */
export interface SharedFigures {
  /** Of this host: open, idle, and statements that wait for one. */
  readonly connections: { readonly open: number; readonly idle: number; readonly waiting: number };
  /** Since this host last renewed its lease. */
  readonly heartbeatAgeMs: number;
  /** Of all hosts. Undefined where the database does not answer, or takes too long to count. */
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
  /** Jobs for later, among them those that failed and will be tried again. */
  readonly later: number;
  /** Jobs that are being worked on, or were when their host died. */
  readonly taken: number;
  /** How long the oldest job that is ready has waited. */
  readonly lagMs: number;
}

/** Administers the database, with or without a host. */
export interface SharedStoreAdmin {
  status(): Promise<SharedStoreStatus>;
  /** Creates or upgrades the schema, and lets `grantTo` read and write rows in it, and nothing else. Throws `bad_config`. */
  migrate(options?: { readonly grantTo?: string }): Promise<{ readonly schemaVersion: number }>;
  close(): Promise<void>;
}

export type CopyDirection = 'to-database' | 'to-state-folder';

/** Rows copied, by what they are. */
export type CopiedRows = Readonly<Record<string, number>>;
