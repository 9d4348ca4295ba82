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
  /** Absent where nothing is recorded. */
  readonly audit?: () => Promise<AuditLog>;
  readonly policy: PolicyEditor;
  readonly usage: (days: number) => Promise<UsageReport>;
  readonly connect: () => Promise<ConnectInfo>;
  readonly clients: () => Promise<readonly ConnectedClient[]>;
  /** What callers have seen a tool return. */
  readonly observedOf: (tool: Tool) => Promise<ToolDetail['observed']>;
  readonly logins: () => Promise<Logins>;
  readonly servers: ConsoleServers;
  readonly playground: Playground;
  /** Where the built files of the page are. */
  readonly folder: string;
  readonly version: string;
  readonly stateFolder: string;
  readonly profile: ProfileName;
  /** Whether this process serves clients besides the console. */
  readonly servesClients: boolean;
  readonly log: Log;
}

/** What is known of servers besides their reports. */
export interface ConsoleServers {
  readonly traitsOf: (serverId: string) => { readonly isTrusted: boolean; readonly labels: readonly Label[] };
  readonly canLogIn: (serverId: string) => boolean;
  readonly logOf: (serverId: string) => ServerLog;
  /** Ends the connection, and makes a new one. Resolves when its tools are listed, or are known not to be. */
  readonly reconnect: (serverId: string) => Promise<void>;
}

/** Programs of the person at the console, under any contract. */
export interface Playground {
  readonly profiles: () => Promise<readonly PlaygroundProfile[]>;
  /** Throws `bad_input` for a contract that this machine cannot serve. */
  readonly open: (name: ProfileName) => Promise<{ readonly profile: Profile; readonly session: Session }>;
  /** With the vocabulary that `codemode measure` counts with. */
  readonly countTokens: (text: string) => number;
}

/** What one route set is given besides the options. */
export interface ConsoleContext {
  readonly options: ConsoleOptions;
  readonly startedAtMs: number;
  /** Digest of the page's files. */
  readonly build: string;
}
