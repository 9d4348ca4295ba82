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
  /** Where to look for a project's file, instead of the current folder. */
  readonly projectFolder?: string;
  readonly isolation?: IsolationLevel;
  /** Flags of the serving commands. They override the configuration's values, and are validated like them. */
  readonly profile?: string;
  readonly host?: string;
  readonly port?: string;
  readonly logLevel?: string;
  /** Asks the user at the terminal about a file found in the current folder; absent without a terminal. */
  readonly confirmTrust?: ConfirmTrust;
  /** Falls back to mcpproxy's file in the home folder if there is no file of ours. */
  readonly takesProxyFile?: boolean;
  /**
   * The surface to serve: its libraries are loaded in parallel. For `stdio` the jail is probed after the client got its first
   * responses. Otherwise it is probed before `compose` returns.
   */
  readonly surface?: 'stdio' | 'http';
  /** The process ends with the command, so no worker is started in advance for another program. */
  readonly isOneShot?: boolean;
  /** Receives the spans of every run, instead of a collector. */
  readonly onSpan?: (span: FinishedSpan) => void;
}
/** The assembled program, not yet in use. */
export interface Composed {
  readonly host: Host;
  /** Shares its servers and connections with the host, which closes them. */
  readonly inventory: Inventory;
  readonly config: Config;
  /** Adds and removes servers at run time. */
  readonly servers: ServerControl;
  /** Configuration problems that did not prevent the start. */
  readonly warnings: readonly string[];
  /** Set if no server is configured: which places were searched, and what to type. */
  readonly nothingConfigured?: string;
  /** Speaks MCP on stdin and stdout until the client disconnects or `stop` is aborted. Throws `jail_unavailable`. */
  serveStdio(options: StdioServeOptions): Promise<void>;
  /** Listens for HTTP. Resolves when it accepts requests. */
  serveHttp(options: Omit<ServeOptions, 'stop'>): Promise<HttpService>;
  /** Serves only the console, on this machine only. Resolves when it accepts requests. */
  serveConsole(options: { readonly log: Log; readonly port: number }): Promise<HttpService>;
  /** Whether an approver's secret exists. If so, no link is made without it. */
  isApproverSecretMade(): Promise<boolean>;
}

export interface ServeOptions {
  /** The model whose `codeMode` setting in `models` applies. */
  readonly model?: string;
  readonly stop: AbortSignal;
  readonly log: Log;
}

export interface StdioServeOptions extends ServeOptions {
  /** Called when programs can run. The client may have been answered earlier. */
  readonly onOpen: (isolation: Isolation) => void;
  /** What the user types for `codemode`, where a shell does not find that name. */
  readonly ownCommand?: string;
}

export interface LinkMaker {
  readonly role: ConsoleRole;
  readonly name: string;
}

export interface HttpService {
  /** Its address: `http://127.0.0.1:3000`. */
  readonly url: string;
  /** A URL that opens the console once. Its maker is recorded with every decision. */
  consoleLink(maker: LinkMaker): Promise<string>;
  /** Stops accepting requests, lets those in flight finish within the grace period, then stops. */
  close(): Promise<void>;
}
/** The part that shows servers and tools. The caller closes the inventory. */
export interface ComposedInventory {
  readonly inventory: Inventory;
  readonly loaded: LoadedConfig;
  /** The servers that running hosts have in quarantine now. */
  quarantinesElsewhere(): Promise<readonly Quarantine[]>;
}
/** Decisions and runs, without the parts that run programs. */
export interface ComposedRecords {
  readonly approvals: Approvals;
  readonly suspended: SuspendedRuns;
  readonly scripts: ScriptLibrary;
  /** Links and sessions of the console. */
  readonly consoleAccess: () => Promise<ConsoleAccess>;
  /** A person's proof of identity if there is no terminal. `isGiven` is undefined if no secret was passed. */
  readonly approverSecret: {
    make(): Promise<string>;
    isGiven(): Promise<boolean | undefined>;
    isMade(): Promise<boolean>;
    /** Whether the text that a person typed is the secret. */
    isRight(typed: string): Promise<boolean>;
  };
  close(): Promise<void>;
}
/** The part of the state folder that is readable without its key. */
export interface StateSummary {
  readonly pendingApprovals: number;
  readonly suspendedRuns: number;
  /** Newest first. */
  readonly runIds: readonly string[];
  readonly approvalIds: readonly string[];
  readonly scriptNames: readonly string[];
  /** Why nothing could be read, although there is something. */
  readonly problem?: string;
}
export interface Composition {
  compose(settings: HostSettings): Promise<Composed>;
  composeInventory(settings: HostSettings): Promise<ComposedInventory>;
  /** What the configured contract needs to know about the machine. */
  findRuntimes(config: Config): Promise<Machine>;
  /** Stored records. The caller closes them. */
  composeRecords(settings: HostSettings): Promise<ComposedRecords>;
  /** Logs in to servers without connecting them. */
  composeLogins(settings: HostSettings): Promise<{ readonly logins: Logins; readonly loaded: LoadedConfig }>;
  /** The audit log only. The caller closes it. */
  composeAudit(settings: HostSettings): Promise<AuditLog>;
  /** A summary of the state folder, without its key and without changing anything. Never throws. */
  stateSummary(): Promise<StateSummary>;
  /** The key of the state folder. */
  composeKey(settings: HostSettings): Promise<KeyKeeper>;
  /** Needs no configuration. Resolves when the client has gone. */
  serveUnusable(reason: string, stop: AbortSignal): Promise<void>;
  /** The database that hosts share; undefined without one. The caller closes it. */
  composeSharedStore(settings: HostSettings): Promise<SharedStoreAdmin | undefined>;
  /** Copies the portable data between the state folder and that database. */
  copyStore(settings: HostSettings, direction: CopyDirection): Promise<CopiedRows>;
  /** The token of the HTTP surface, created if there is none yet. */
  readAccessToken(settings: HostSettings): Promise<string>;
  /** Downloads the type checker into the state folder. Throws `upstream_unavailable`. */
  installChecker(): Promise<{ readonly version: string; readonly folder: string }>;
  /** Only the configuration. */
  loadSettings(settings: HostSettings): Promise<LoadedConfig>;
}
