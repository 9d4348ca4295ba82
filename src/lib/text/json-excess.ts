import { hasTooManyKeys, MAX_DIFFERENT_KEYS } from './json-keys.js';
import { countValues, MAX_VALUES } from './json-values.js';

export const TOO_MANY_VALUES = `more than ${MAX_VALUES} values`;
export const TOO_MANY_KEYS = `more than ${MAX_DIFFERENT_KEYS} different keys`;

/** What a text has too much of to be parsed: that would stop the host for everybody. Undefined if it may be parsed. */
export function excessOf(json: string): string | undefined {
  // A shorter text cannot have too many values, so nearly no text is read.
  if (json.length > MAX_VALUES && countValues(json) > MAX_VALUES) return TOO_MANY_VALUES;
  return hasTooManyKeys(json) ? TOO_MANY_KEYS : undefined;
}
