import type { Composition } from './composed.js';

async function unused(): Promise<never> {
  throw new Error('help puts nothing together');
}

/** Never called: help, completion and the man page need no host. */
export const NOTHING_COMPOSED: Composition = {
  compose: unused,
  composeInventory: unused,
  composeRecords: unused,
  composeLogins: unused,
  composeAudit: unused,
  composeKey: unused,
  serveUnusable: unused,
  composeSharedStore: unused,
  copyStore: unused,
  stateSummary: unused,
  installChecker: unused,
  loadSettings: unused,
  findRuntimes: unused,
  readAccessToken: unused,
};
