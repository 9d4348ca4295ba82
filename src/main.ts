import type { Composition } from './surfaces/cli/composed.js';
import type { EarlySignals } from './surfaces/cli/early-signals.js';
import { runCommandLine } from './surfaces/cli/program.js';

const state = () => import('./compose/state.js');

/** Each part is loaded when a command needs it. Most commands need only one. */
const COMPOSITION: Composition = {
  compose: async (settings) => (await import('./compose/compose.js')).compose(settings),
  composeInventory: async (settings) => (await import('./compose/inventory.js')).composeInventory(settings),
  composeAudit: async (settings) => (await state()).composeAudit(settings),
  composeKey: async (settings) => (await state()).composeKey(settings),
  composeLogins: async (settings) => (await state()).composeLogins(settings),
  composeRecords: async (settings) => (await state()).composeRecords(settings),
  composeSharedStore: async (settings) => (await import('./compose/shared-store.js')).composeSharedStore(settings),
  copyStore: async (settings, direction) => (await import('./compose/shared-store.js')).copyStore(settings, direction),
  readAccessToken: async (settings) => (await state()).readAccessToken(settings),
  serveUnusable: async (reason, stop) => (await import('./surfaces/mcp/unusable-stdio.js')).serveUnusable(reason, stop),
  loadSettings: async (settings) => (await import('./compose/settings.js')).loadSettings(settings),
  installChecker: async () => (await import('./compose/install-checker.js')).installChecker(),
  stateSummary: async () => (await import('./compose/state-summary.js')).stateSummary(),
  findRuntimes: async (config) => (await import('./compose/machine.js')).findRuntimes(config),
};

/** Runs the command line. `early`: signals that arrived while this module was loading. */
export async function main(early: EarlySignals | undefined): Promise<void> {
  process.exitCode = await runCommandLine(process.argv, COMPOSITION, early);
}
