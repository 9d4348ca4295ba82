import { existsSync } from 'node:fs';
import { type Home, PROGRAM } from './cli.js';
import { skipped } from './needs.js';

const SCRIPT = '/usr/bin/script';
export const needsTerminal = existsSync(SCRIPT)
  ? {}
  : skipped('script of util-linux, which makes a terminal, is not installed');

export interface TerminalOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** A line for the shell in place of the program and its words; `$PROGRAM` starts the program. */
  readonly line?: string;
}

/** Runs the program on a terminal of its own; both its outputs arrive as one. */
export function onTerminal(
  home: Home,
  words: readonly string[],
  input: string,
  { env = {}, line = `$PROGRAM ${words.join(' ')}` }: TerminalOptions = {},
) {
  // The words that follow `sh -c` are its parameters, which this one does not look at.
  const through = ['sh', '-c', `exec ${SCRIPT} -qec "$COMMAND" /dev/null`];
  const command = line.replaceAll('$PROGRAM', `${process.execPath} ${PROGRAM}`);
  return home.run([], { through, input, env: { TERM: 'xterm-256color', SHELL: '/bin/sh', COMMAND: command, ...env } });
}
