import { manPage } from '../src/surfaces/cli/man-page.js';
import { createProgram } from '../src/surfaces/cli/program.js';

/** Runs at build time: the man page, from the table of commands. */
export function makeManPage(date: string): string {
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
    glance: unused,
    loadSettings: unused,
    lookAround: unused,
    readAccessToken: unused,
  };
  return manPage(
    createProgram(composition, () => {}),
    date,
  );
}
