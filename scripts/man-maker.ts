import { allCommands } from '../src/surfaces/cli/commands.js';
import { manPage } from '../src/surfaces/cli/man-page.js';
import { createProgram } from '../src/surfaces/cli/program.js';

/** Runs at build time: the man page, from the table of commands. */
export async function makeManPage(date: string): Promise<string> {
  const unused = async (): Promise<never> => {
    throw new Error('a man page puts nothing together');
  };
  const composition = {
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
  return manPage(
    createProgram(await allCommands(), composition, () => {}),
    date,
  );
}
