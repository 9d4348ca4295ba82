import { escapeCharacter } from './visible-text.js';

/**
 * A text that a database returns unchanged. SQLite ends a text at a NUL when it is read, and half a surrogate pair comes back as
 * another character: a tool called `look\0…` would be recorded as `look`, and the record would fail its authentication. Both are
 * written as escapes.
 */
export function storableText(text: string): string {
  return SUSPECT.test(text) ? text.replace(UNSTORABLE, escapeCharacter) : text;
}

const SUSPECT = /[\0\ud800-\udfff]/;
const UNSTORABLE = /[\0\p{Cs}]/gu;
