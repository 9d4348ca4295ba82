import type { LoadedConfig } from '../../config/load.js';
import type { Config } from '../../config/schema/schema.js';
import type { ConfirmTrust } from '../../config/trust/trust.js';
import type { ConsoleRole } from '../../domain/console/sessions.js';
import type { IsolationLevel } from '../../domain/isolation.js';
import type { KeyKeeper } from '../../domain/key.js';
import type { Log } from '../../domain/log.js';
import type { CopiedRows, CopyDirection, SharedStoreAdmin } from '../../domain/shared-store.js';
import type { FinishedSpan } from '../../domain/trace.js';
import type { AuditLog } from '../../host/admin/audit-log.js';
import type { ConsoleAccess } from '../../host/admin/console/access.js';
import type { Approvals, Host, Isolation, ScriptLibrary, SuspendedRuns } from '../../host/host.js';
import type { Logins } from '../../host/servers/logins.js';
import type { Quarantine } from '../../host/servers/quarantine.js';
import type { ServerControl } from '../../host/servers/server-control.js';
import type { Inventory } from '../../host/tools/inventory.js';
import type { Machine } from '../../profiles/registry.js';

/** The options with which the command line composes a host. */
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
  /** Asks the user at the terminal about a file found in the current folder; absent without a terminal. */
  readonly confirmTrust?: ConfirmTrust;
  /** Falls back to mcpproxy's file in the home folder if there is no file of ours. */
  readonly takesProxyFile?: boolean;
  /**
   * What is going to be served: its libraries are loaded meanwhile. For `stdio` the jail is tried out when the client has
   * had its first answers; without it, and for the others, before anything is passed on.
   */
  readonly surface?: 'stdio' | 'http';
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
  /** Speaks MCP on stdin and stdout until the client disconnects or `stop` is aborted. Throws `jail_unavailable`. */
  serveStdio(options: StdioServeOptions): Promise<void>;
  /** Listens for HTTP. Resolves when it accepts requests. */
  serveHttp(options: Omit<ServeOptions, 'stop'>): Promise<HttpService>;
  /** Serves the console alone, on this machine only. Resolves when it accepts requests. */
  serveConsole(options: { readonly log: Log; readonly port: number }): Promise<HttpService>;
  /** Whether the user has made an approver's secret: then no link is made without it. */
  isApproverSecretMade(): Promise<boolean>;
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

export interface LinkMaker {
  readonly role: ConsoleRole;
  readonly name: string;
}

export interface HttpService {
  /** Where it is reached: `http://127.0.0.1:3000`. */
  readonly url: string;
  /** The address that opens the console once. Who made it is recorded with every decision. */
  consoleLink(maker: LinkMaker): Promise<string>;
  /** Takes no more requests, lets those in progress end for a while, and stops. */
  close(): Promise<void>;
}
/** The part that shows servers and tools. The caller closes the inventory. */
export interface ComposedInventory {
  readonly inventory: Inventory;
  readonly loaded: LoadedConfig;
  /** The servers that running hosts leave alone now. */
  quarantinesElsewhere(): Promise<readonly Quarantine[]>;
}
/** Decisions and runs, without what runs programs. */
export interface ComposedRecords {
  readonly approvals: Approvals;
  readonly suspended: SuspendedRuns;
  readonly scripts: ScriptLibrary;
  /** Links and sessions of the console. */
  readonly consoleAccess: () => Promise<ConsoleAccess>;
  /** A person's proof where there is no terminal; `isGiven` is undefined where none was given. */
  readonly approverSecret: {
    make(): Promise<string>;
    isGiven(): Promise<boolean | undefined>;
    isMade(): Promise<boolean>;
    /** Whether this, which a person typed, is the secret. */
    isRight(typed: string): Promise<boolean>;
  };
  close(): Promise<void>;
}
/** What can be seen of the state folder without its key. */
export interface StateSummary {
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
  findRuntimes(config: Config): Promise<Machine>;
  /** Stored records. The caller closes them. */
  composeRecords(settings: HostSettings): Promise<ComposedRecords>;
  /** Logs in to servers without connecting them. */
  composeLogins(settings: HostSettings): Promise<{ readonly logins: Logins; readonly loaded: LoadedConfig }>;
  /** The audit log only. The caller closes it. */
  composeAudit(settings: HostSettings): Promise<AuditLog>;
  /** What lies in the state folder, without its key and without changing anything. Never throws. */
  stateSummary(): Promise<StateSummary>;
  /** The key of the state folder. */
  composeKey(settings: HostSettings): Promise<KeyKeeper>;
  /** The database that hosts share; undefined without one. The caller closes it. */
  composeSharedStore(settings: HostSettings): Promise<SharedStoreAdmin | undefined>;
  /** Copies what is portable between the state folder and that database. */
  copyStore(settings: HostSettings, direction: CopyDirection): Promise<CopiedRows>;
  /** The token of the HTTP surface; made if there is none yet. */
  readAccessToken(settings: HostSettings): Promise<string>;
  /** Fetches the type checker into the state folder. Throws `upstream_unavailable`. */
  installChecker(): Promise<{ readonly version: string; readonly folder: string }>;
  /** The configuration alone. */
  loadSettings(settings: HostSettings): Promise<LoadedConfig>;
}
