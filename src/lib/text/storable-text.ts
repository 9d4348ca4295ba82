import { escapeCharacter } from './visible-text.js';

/**
 * A text that a database gives back as it was written. SQLite ends a text at a NUL when it is read, and half a surrogate pair comes
 * back as another character: a tool called `look\0…` would be recorded as `look`, and what vouches for the record would not fit it.
 * Both are written as escapes.
 */
export function storableText(text: string): string {
  return SUSPECT.test(text) ? text.replace(UNSTORABLE, escapeCharacter) : text;
}

const SUSPECT = /[\0\ud800-\udfff]/;
const UNSTORABLE = /[\0\p{Cs}]/gu;
