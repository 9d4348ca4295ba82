import { CodemodeError } from '../errors.js';

/** Why a text could not be read, and where: `line` and `column` count from one. */
export function unreadable(text: string, offset: number, what: string, hint: string): CodemodeError {
  const { line, column } = placeOf(text, offset);
  const near = JSON.stringify(text.slice(offset, offset + MAX_NEAR_CHARACTERS));
  const where = offset >= text.length ? 'at the end of the text' : `near ${near}`;
  const error = new CodemodeError(`cannot read the text at line ${line}, column ${column}: ${what}, ${where}`, {
    hint,
  });
  return Object.assign(error, { line, column });
}

const MAX_NEAR_CHARACTERS = 30;

function placeOf(text: string, offset: number): { line: number; column: number } {
  let line = 1;
  let start = 0;
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) {
    line += 1;
    start = at + 1;
  }
  return { line, column: offset - start + 1 };
}
