#!/usr/bin/env node
// The first file that runs, on any version of Node. Its build has no static import and no syntax that an old Node cannot parse.
// So it can say what is missing instead of failing with a SyntaxError in one of our files.

import { loadPart } from './start/load-parts.js';
import type { EarlySignals } from './surfaces/cli/early-signals.js';

const OLDEST_NODE = [20, 19] as const;
/** `required resource unavailable`, as in the error table, which an old Node could not load. */
const EXIT_UNAVAILABLE = 69;
const EXIT_BAD_INPUT = 2;

const [major, minor] = process.versions.node.split('.').map(Number) as [number, number];
if (major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1])) {
  process.stderr.write(
    `codemode: Node ${OLDEST_NODE.join('.')} or newer is needed, and this is Node ${process.versions.node} (${process.execPath}). ` +
      'Install a newer one from https://nodejs.org, or start codemode with it.\n',
  );
  process.exitCode = EXIT_UNAVAILABLE;
} else if (!hasCurrentFolder()) {
  process.stderr.write('codemode: the current folder no longer exists; go to another one with cd, then try again.\n');
  process.exitCode = EXIT_BAD_INPUT;
} else {
  // Loading the rest takes some tenths of a second. A signal during that time must not end the runner without its line of output.
  const early = process.argv.includes('runner') ? catchSignals() : undefined;
  void loadPart<typeof import('./main.js')>(import.meta.url, 'main.cjs').then(({ main }) => main(early));
}

function catchSignals(): EarlySignals {
  let caught: NodeJS.Signals | undefined;
  const note = (name: NodeJS.Signals) => {
    caught ??= name;
  };
  const names = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;
  for (const name of names) process.on(name, note);
  return {
    get caught() {
      return caught;
    },
    release() {
      for (const name of names) process.off(name, note);
    },
  };
}

/** Nearly everything reads the current folder, and Node throws if it was deleted. */
function hasCurrentFolder() {
  try {
    process.cwd();
    return true;
  } catch {
    return false;
  }
}
