#!/usr/bin/env node
// The first file that runs, on whatever Node there is. What is built of it has no static import and nothing that an old
// Node cannot parse, so that it can say what is missing instead of failing with a SyntaxError in some file of ours.

import { loadPart } from './start/load-parts.js';
import type { EarlySignals } from './surfaces/cli/early-signals.js';

const OLDEST_NODE = [20, 19] as const;
/** `required resource unavailable`, as in the table of errors, which an old Node could not load. */
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
  // The rest takes some tenths of a second to load: a signal must not end the runner meanwhile without its line.
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

/** Nearly everything asks for it, and Node fails where somebody has deleted it. */
function hasCurrentFolder() {
  try {
    process.cwd();
    return true;
  } catch {
    return false;
  }
}
