import { endOfString } from './json-values.js';

/** Levels of arrays and objects in a value that the host walks: in redaction, in records, in `JSON.stringify`. Nobody writes deeper data. */
export const MAX_LEVELS = 1_000;

/**
 * Whether arrays and objects in a text of JSON are nested deeper than this, without parsing it. Code that walks such a value overflows
 * its stack, `JSON.stringify` at about 4,000 levels. The answer for a text that is not JSON means nothing.
 */
export function isDeeperThan(json: string, most: number): boolean {
  // Every level has an opening and a closing bracket, so nearly no text is read.
  if (json.length <= 2 * most) return false;
  let depth = 0;
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      if (++depth > most) return true;
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth--;
    else if (code === QUOTE) {
      at = endOfString(json, at);
      if (at === -1) return false;
    }
  }
  return false;
}

const QUOTE = 0x22;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
