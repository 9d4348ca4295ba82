import type { SourcePosition } from '../domain/run.js';

/** What the author of a program should know although it ended: each contract has its own place for it. */
export interface ProgramWarning {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  readonly position?: SourcePosition;
  /** The number of the call that it is about, for where no line is known. */
  readonly call?: number;
}

/** On one line, for contracts that have lines of a log: `warning: not awaited: echo(...) at line 3. Write: await echo(...)`. */
export function warningLine({ message, hint, position, call }: ProgramWarning): string {
  const of = position === undefined ? (call === undefined ? '' : ` (call ${call})`) : ` (line ${position.line})`;
  const place = /at line \d/.test(message) ? '' : of;
  return `warning: ${message}${place}. ${hint}`;
}
