import type { SourcePosition } from '../domain/execution.js';

/** What the author of a program should know although it came to its end: each contract has its own place for it. */
export interface ProgramWarning {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  readonly position?: SourcePosition;
}

/** On one line, for contracts that have lines of a log: `warning: not awaited: echo(...) at line 3. Write: await echo(...)`. */
export function warningLine({ message, hint, position }: ProgramWarning): string {
  const place = position === undefined || /at line \d/.test(message) ? '' : ` (line ${position.line})`;
  return `warning: ${message}${place}. ${hint}`;
}
