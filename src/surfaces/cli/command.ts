import type { Command } from 'commander';
import type { LoadedConfig } from '../../config/load.js';
import type { Config } from '../../config/schema/schema.js';
import type { KeyKeeper } from '../../domain/key.js';
import type { CopiedRows, CopyDirection, SharedStoreAdmin } from '../../domain/shared-store.js';
import type { AuditLog } from '../../host/admin/audit-log.js';
import type { Logins } from '../../host/servers/logins.js';
import type { Machine } from '../../profiles/registry.js';
import type { Composed, ComposedInventory, ComposedRecords, HostSettings, StateSummary } from './composed.js';
import type { EarlySignals } from './early-signals.js';

/** What every command is given: access to the host, and a place for its exit status. */
export interface CommandContext {
  /** Composes the host from the global options and the command's own. The caller closes the host. */
  compose(own?: HostSettings): Promise<Composed>;
  /** Servers and tools only; works without a jail. The caller closes the inventory. */
  inventory(own?: HostSettings): Promise<ComposedInventory>;
  /** What the configured profile needs to know about the machine. */
  machine(config: Config): Promise<Machine>;
  /** Stored records only. The caller closes them. */
  records(): Promise<ComposedRecords>;
  /** Only the parts that log in to servers. */
  logins(): Promise<Logins>;
  /** The audit log. The caller closes it. */
  audit(): Promise<AuditLog>;
  /** An MCP server on stdio that only says why there is no host. */
  serveUnusable(reason: string, stop: AbortSignal): Promise<void>;
  /** The key of the state folder. */
  key(): Promise<KeyKeeper>;
  /** The database that hosts share; undefined without one. The caller closes it. */
  sharedStore(): Promise<SharedStoreAdmin | undefined>;
  /** Copies the portable data between the state folder and that database. */
  copyStore(direction: CopyDirection): Promise<CopiedRows>;
  /** Only the configuration. */
  config(own?: HostSettings): Promise<LoadedConfig>;
  /** The file that `--config` names. */
  configFile(): string | undefined;
  /** The folder that `--project-folder` names. */
  projectFolder(): string | undefined;
  /** A summary of the state folder, without its key and without changing anything. Never throws. */
  stateSummary(): Promise<StateSummary>;
  accessToken(): Promise<string>;
  /** Downloads the type checker. Throws `upstream_unavailable`. */
  installChecker(): Promise<{ readonly version: string; readonly folder: string }>;
  /** Signals that arrived before the command started. */
  readonly early: EarlySignals | undefined;
  exitWith(status: number): void;
}

/** Adds one command, with its options and its help, to the program. Each file of `commands/` exports one. */
export type Register = (program: Command, context: CommandContext) => void;

export const EXIT = { ok: 0, failed: 1, badInput: 2 } as const;

/** Uses the stored records, then closes them. */
export async function withRecords<Result>(
  context: CommandContext,
  act: (records: ComposedRecords) => Promise<Result>,
): Promise<Result> {
  const records = await context.records();
  try {
    return await act(records);
  } finally {
    await records.close();
  }
}
