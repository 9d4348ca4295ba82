import { plainLine } from '../terminal/terminal.js';
import { ownShellCommand } from './file-notes.js';

/**
 * Messages say `codemode COMMAND`. Where the shell does not find that, a person who reads one is told once what to type
 * instead. Only on a terminal: what programs read stays the same everywhere.
 */
export function noteOwnName(message: string): void {
  if (process.stderr.isTTY !== true || !/\bcodemode [a-z]/.test(message)) return;
  const own = ownShellCommand();
  if (own !== 'codemode') process.stderr.write(`codemode is not on your PATH; here it is: ${plainLine(own)}\n`);
}
