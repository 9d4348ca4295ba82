import { isJsonObject } from '../domain/json.js';

/**
 * What is wrong with a request without `code` whose program is in another argument: `code: is missing; source is not known: give
 * the program as code`. Undefined if no unknown argument is a text.
 */
export function misnamedCode(input: unknown, known: readonly string[]): string | undefined {
  if (!isJsonObject(input) || input.code !== undefined) return undefined;
  const given = Object.entries(input).find(([key, value]) => typeof value === 'string' && !known.includes(key));
  return given && `code: is missing; ${given[0].slice(0, MAX_KEY_CHARACTERS)} is not known: give the program as code`;
}

const MAX_KEY_CHARACTERS = 100;
