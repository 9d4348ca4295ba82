import type { ConnectedClient, ConnectInfo } from '../../domain/console/connect.js';
import type { PlaygroundProfile } from '../../domain/console/playground.js';
import type { ServerLog, ToolDetail } from '../../domain/console/tools.js';
import type { UsageReport } from '../../domain/console/usage.js';
import type { Log } from '../../domain/log.js';
import type { Label } from '../../domain/policy.js';
import type { ProfileName } from '../../domain/profile-name.js';
import type { Tool } from '../../domain/tool.js';
import type { AuditLog } from '../../host/admin/audit-log.js';
import type { ConsoleAccess } from '../../host/admin/console/access.js';
import type { KeptPrograms } from '../../host/admin/console/kept-programs.js';
import type { PolicyEditor } from '../../host/admin/console/policy-editor.js';
import type { RunHistory } from '../../host/admin/console/run-history.js';
import type { RunUndo } from '../../host/admin/console/run-undo.js';
import type { Host } from '../../host/host.js';
import type { Logins } from '../../host/servers/logins.js';
import type { Session } from '../../host/session.js';
import type { Inventory } from '../../host/tools/inventory.js';
import type { Profile } from '../../profiles/profile.js';

/** What the screens read and change. */
export interface ConsoleOptions {
  readonly host: Host;
  readonly inventory: Inventory;
  readonly access: ConsoleAccess;
  readonly history: RunHistory;
  readonly kept: KeptPrograms;
  readonly undo: RunUndo;
  /** Absent if nothing is recorded. */
  readonly audit?: () => Promise<AuditLog>;
  readonly policy: PolicyEditor;
  readonly usage: (days: number) => Promise<UsageReport>;
  readonly connect: () => Promise<ConnectInfo>;
  readonly clients: () => Promise<readonly ConnectedClient[]>;
  /** Return types that were observed at earlier calls of a tool. */
  readonly observedOf: (tool: Tool) => Promise<ToolDetail['observed']>;
  readonly logins: () => Promise<Logins>;
  readonly servers: ConsoleServers;
  readonly playground: Playground;
  /** Folder of the page's built files. */
  readonly folder: string;
  readonly version: string;
  readonly stateFolder: string;
  readonly profile: ProfileName;
  /** Whether this process serves clients besides the console. */
  readonly servesClients: boolean;
  readonly log: Log;
}

/** Facts about servers that their reports do not contain. */
export interface ConsoleServers {
  readonly traitsOf: (serverId: string) => { readonly isTrusted: boolean; readonly labels: readonly Label[] };
  readonly canLogIn: (serverId: string) => boolean;
  readonly logOf: (serverId: string) => ServerLog;
  /** Closes the connection and opens a new one. Resolves when its tools are listed, or the listing has failed. */
  readonly reconnect: (serverId: string) => Promise<void>;
}

/** Runs programs of the person at the console, under any contract. */
export interface Playground {
  readonly profiles: () => Promise<readonly PlaygroundProfile[]>;
  /** Throws `bad_input` if this machine cannot serve the contract. */
  readonly open: (name: ProfileName) => Promise<{ readonly profile: Profile; readonly session: Session }>;
  /** Uses the same vocabulary as `codemode measure`. */
  readonly countTokens: (text: string) => number;
}

/** What each set of routes receives besides the options. */
export interface ConsoleContext {
  readonly options: ConsoleOptions;
  readonly startedAtMs: number;
  /** Digest of the page's files. */
  readonly build: string;
}
