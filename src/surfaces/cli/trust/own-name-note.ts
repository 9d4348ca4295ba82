import { plainLine } from '../terminal/terminal.js';
import { ownShellCommand } from './file-notes.js';

/**
 * Messages say `codemode COMMAND`. If the shell does not find that command, the user is told once what to type instead. Only on a
 * terminal: what programs read is the same everywhere.
 */
export function noteOwnName(message: string): void {
  if (process.stderr.isTTY !== true || !/\bcodemode [a-z]/.test(message)) return;
  const own = ownShellCommand();
  if (own !== 'codemode') process.stderr.write(`codemode is not on your PATH; here it is: ${plainLine(own)}\n`);
}
