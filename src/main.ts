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
import { runCommandLine } from './surfaces/cli/program.js';

process.exitCode = await runCommandLine(process.argv, {
  compose,
  composeAudit,
  composeInventory,
  composeKey,
  composeRecords,
  composeLogins,
  glance,
  loadSettings,
  lookAround,
  readAccessToken,
});
