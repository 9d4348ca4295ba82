import {
  compose,
  composeAudit,
  composeInventory,
  composeKey,
  composeLogins,
  composeRecords,
  loadSettings,
  readAccessToken,
} from './compose.js';
import { glance } from './compose-glance.js';
import { lookAround } from './compose-machine.js';
import type { EarlySignals } from './surfaces/cli/early-signals.js';
import { runCommandLine } from './surfaces/cli/program.js';

/** Runs the command line. `early`: signals that came while this was being loaded. */
export async function main(early: EarlySignals | undefined): Promise<void> {
  const composition = {
    ...{ compose, composeAudit, composeInventory, composeKey, composeRecords, composeLogins },
    ...{ glance, loadSettings, lookAround, readAccessToken },
  };
  process.exitCode = await runCommandLine(process.argv, composition, early);
}
