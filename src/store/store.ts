import type { SharedFigures } from '../domain/shared-store.js';
import type { ApprovalStore } from './approvals.js';
import type { AuditStore } from './audit.js';
import type { CatalogCache } from './catalog-cache.js';
import type { ConsoleAccess } from './console-access.js';
import type { CredentialStore } from './credentials.js';
import type { ObservedTypesStore } from './observed-types.js';
import type { PresenceStore } from './presence.js';
import type { RateStore } from './rates.js';
import type { ResultStore } from './results.js';
import type { RunStore } from './runs.js';
import type { ScriptSign, ScriptStore } from './scripts.js';
import type { SpendingStore } from './spending.js';
import type { UndoStore } from './undo.js';

/**
 * Everything that outlives a host and that hosts share: a state folder with SQLite for one machine, Postgres for several. Each part
 * is opened, and its driver loaded, at its first use.
 *
 * What belongs to one machine is not here: the keyring, which jails were seen to hold, shell completions.
 */
export interface Store {
  runs(): Promise<RunStore>;
  approvals(): Promise<ApprovalStore>;
  audit(): Promise<AuditStore>;
  spending(): Promise<SpendingStore>;
  scripts(): Promise<ScriptStore>;
  readonly scriptSign: ScriptSign;
  undo(): Promise<UndoStore>;
  credentials(): Promise<CredentialStore>;
  presence(): Promise<PresenceStore>;
  consoleAccess(): Promise<ConsoleAccess>;
  readonly catalogCache: CatalogCache;
  readonly observedTypes: ObservedTypesStore;
  /** Absent if results are kept only in the memory of their host. */
  readonly results?: ResultStore;
  /** Absent if each host counts rates for itself. */
  readonly rates?: () => Promise<RateStore>;
  /** The token that opens the HTTP surface; made if there is none yet. */
  accessToken(): Promise<string>;
  readonly approverSecret: ApproverSecretStore;
  /** The key under which everything secret is sealed. */
  key(): Promise<Uint8Array>;
  /** For metrics. Absent if nothing is shared. */
  readonly figures?: () => Promise<SharedFigures>;
  /** Whether the store answers now. Anybody may ask, often. */
  isUp(): Promise<boolean>;
  /** Releases what this host holds, so that other hosts can take it at once. */
  close(): Promise<void>;
}

/** The secret with which a person decides without a terminal. Only its hash is kept. A new secret replaces the previous one. */
export interface ApproverSecretStore {
  make(): Promise<string>;
  isRight(secret: string): Promise<boolean>;
  /** Whether the user has made a secret. An unreadable one counts as made, because more is allowed without one. */
  isMade(): Promise<boolean>;
}
