import { ERRORS, type HostError } from '../../domain/errors.js';
import { plain } from './terminal/terminal.js';
import { noteOwnName } from './trust/own-name-note.js';

/** Says on stderr what happened. Returns the exit status. */
export function reportError(error: HostError): number {
  process.stderr.write(`codemode: ${plain(error.message)}\n`);
  noteOwnName(error.message);
  return ERRORS[error.code].exit;
}
