import type { SourcePosition } from '../domain/run.js';

/** What the author of a program should know although it ended. Each contract has its own field for it. */
export interface ProgramWarning {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  readonly position?: SourcePosition;
  /** The number of the call, if no line is known. */
  readonly call?: number;
}

/** On one line, for contracts that have log lines: `warning: not awaited: echo(...) at line 3. Write: await echo(...)`. */
export function warningLine({ message, hint, position, call }: ProgramWarning): string {
  const of = position === undefined ? (call === undefined ? '' : ` (call ${call})`) : ` (line ${position.line})`;
  const place = /at line \d/.test(message) ? '' : of;
  return `warning: ${message}${place}. ${hint}`;
}
