import { endOfString } from './json-values.js';

/**
 * How many different keys a text of JSON may have. V8 stores each different key once for the whole process, which takes about 3 µs: an
 * object of a million keys stops the event loop for seconds, while a million rows with the same keys do not.
 */
export const MAX_DIFFERENT_KEYS = 200_000;

/** `"x":1,`: a shorter text cannot have too many keys, so nearly no text is read. */
const SHORTEST_MEMBER = 6;

/**
 * Whether `JSON.parse` of this text would take too long because of its keys. Reads the text in one pass, without parsing it. The answer for
 * a text that is not JSON means nothing.
 */
export function hasTooManyKeys(json: string, most: number = MAX_DIFFERENT_KEYS): boolean {
  if (json.length <= most * SHORTEST_MEMBER) return false;
  const keys = new Set<string>();
  for (let start = json.indexOf('"'); start !== -1; ) {
    const end = endOfString(json, start);
    if (end === -1) return false;
    if (isColonAfter(json, end)) {
      keys.add(json.slice(start, end));
      if (keys.size > most) return true;
    }
    start = json.indexOf('"', end + 1);
  }
  return false;
}

function isColonAfter(json: string, end: number): boolean {
  let at = end + 1;
  while (isSpace(json.charCodeAt(at))) at++;
  return json.charCodeAt(at) === COLON;
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

const COLON = 0x3a;
