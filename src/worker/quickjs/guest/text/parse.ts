import { CodemodeError } from '../errors.js';
import { UnreadableText } from './failure.js';
import { readText } from './read-text.js';

/** `parse` of `@codemode/text`. Throws a `CodemodeError` with `line` and `column`. */
export function parse(text: unknown): unknown {
  try {
    return readText(text);
  } catch (error) {
    if (!(error instanceof UnreadableText)) throw error;
    const { message, hint, line, column } = error;
    const place = line === undefined ? {} : { line, column };
    throw Object.assign(new CodemodeError(message, { hint }), place);
  }
}
