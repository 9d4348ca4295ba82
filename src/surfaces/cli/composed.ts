import type { LoadedConfig } from '../../config/load.js';
import type { Config } from '../../config/schema.js';
import type { ConfirmTrust } from '../../config/trust.js';
import type { IsolationLevel } from '../../domain/isolation.js';
import type { KeyKeeper } from '../../domain/key.js';
import type { Log } from '../../domain/log.js';
import type { FinishedSpan } from '../../domain/trace.js';
import type { AuditLog } from '../../host/audit-log.js';
import type { Approvals, Host, Isolation, ScriptLibrary, SleepingRuns } from '../../host/host.js';
import type { Inventory } from '../../host/inventory.js';
import type { Logins } from '../../host/logins.js';
import type { ServerControl } from '../../host/server-control.js';
import type { Machine } from '../../profiles/registry.js';

/** What the command line needs from whoever puts the program together. */
export interface HostSettings {
  readonly configFile?: string;
  /** Where a project's file is looked for, instead of the current folder. */
  readonly projectFolder?: string;
  readonly isolation?: IsolationLevel;
  /** Flags of the commands that serve; they go over the configuration's values, and are checked like them. */
  readonly profile?: string;
  readonly host?: string;
  readonly port?: string;
  readonly logLevel?: string;
  /** Asks whoever sits at the terminal about a file that was found in the current folder; absent where nobody does. */
  readonly confirmTrust?: ConfirmTrust;
  /** Without a file of ours, the one that mcpproxy keeps in the home folder counts. */
  readonly takesProxyFile?: boolean;
  /**
   * What is going to be served: its libraries are loaded meanwhile. For `stdio` the jail is tried out when the client has
   * had its first answers; without it, and for the others, before anything is handed over.
   */
  readonly door?: 'stdio' | 'http';
  /** Ends with the command: no worker is started for a program that does not come. */
  readonly isOneShot?: boolean;
  /** Takes the steps of every run, instead of a collector. */
  readonly onSpan?: (span: FinishedSpan) => void;
}
/** The program, put together and not yet used. */
export interface Composed {
  readonly host: Host;
  /** Of the same servers and connections as the host, which closes them. */
  readonly inventory: Inventory;
  readonly config: Config;
  /** Adds and removes servers while it runs. */
  readonly servers: ServerControl;
  /** What was odd about the configuration and was got over. */
  readonly warnings: readonly string[];
  /** Where there is no server at all: which places were searched, and what to type. */
  readonly nothingConfigured?: string;
  /** Speaks MCP on standard input and output until the client has gone or `stop` is aborted. Throws `jail_unavailable`. */
  serveStdio(options: StdioServeOptions): Promise<void>;
  /** Listens for HTTP. Resolved when requests are taken. */
  serveHttp(options: Omit<ServeOptions, 'stop'>): Promise<HttpService>;
}

export interface ServeOptions {
  /** Whose `codeMode` of `models` counts. */
  readonly model?: string;
  readonly stop: AbortSignal;
  readonly log: Log;
}

export interface StdioServeOptions extends ServeOptions {
  /** Called when programs can be run: the client may have been answered before. */
  readonly onOpen: (isolation: Isolation) => void;
}

export interface HttpService {
  /** Where it is reached: `http://127.0.0.1:3000`. */
  readonly url: string;
  /** Takes no more requests, lets those under way end for a while, and stops. */
  close(): Promise<void>;
}
/** As much of it as shows servers and tools. Whoever asked for it closes the inventory. */
export interface ComposedInventory {
  readonly inventory: Inventory;
  readonly loaded: LoadedConfig;
}
/** Decisions and runs, without what runs programs. */
export interface ComposedRecords {
  readonly approvals: Approvals;
  readonly sleeping: SleepingRuns;
  readonly scripts: ScriptLibrary;
  /** A person's proof where there is no terminal; `isGiven` is undefined where none was given. */
  readonly approverSecret: { make(): Promise<string>; isGiven(): Promise<boolean | undefined> };
  close(): Promise<void>;
}
/** What can be seen of the state folder without its key. */
export interface StateGlance {
  readonly pendingApprovals: number;
  readonly suspendedRuns: number;
  /** The newest first. */
  readonly runIds: readonly string[];
  readonly approvalIds: readonly string[];
  readonly scriptNames: readonly string[];
  /** Why nothing could be seen, where there is something. */
  readonly problem?: string;
}
export interface Composition {
  compose(settings: HostSettings): Promise<Composed>;
  composeInventory(settings: HostSettings): Promise<ComposedInventory>;
  /** What the contract of this configuration has to know of the machine. */
  lookAround(config: Config): Promise<Machine>;
  /** What outlives the program. Whoever asked for it closes it. */
  composeRecords(settings: HostSettings): Promise<ComposedRecords>;
  /** What logs in to servers, without connecting them. */
  composeLogins(settings: HostSettings): Promise<{ readonly logins: Logins; readonly loaded: LoadedConfig }>;
  /** Only what was recorded of calls. Whoever asked for it closes it. */
  composeAudit(settings: HostSettings): Promise<AuditLog>;
  /** What lies in the state folder, without its key and without changing anything. Never throws. */
  glance(): Promise<StateGlance>;
  /** The key of the state folder. */
  composeKey(settings: HostSettings): Promise<KeyKeeper>;
  /** The token of the HTTP surface; made if there is none yet. */
  readAccessToken(): Promise<string>;
  /** The configuration alone. */
  loadSettings(settings: HostSettings): Promise<LoadedConfig>;
}
