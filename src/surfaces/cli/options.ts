import { HostError } from '../../domain/errors.js';
import { nearest } from '../../lib/text/nearest.js';

/** A word from a fixed list. Throws `bad_input` with the list. */
export function oneOf<T extends string>(flag: string, given: string, allowed: readonly T[]): T {
  const found = allowed.find((each) => each === given);
  if (found !== undefined) return found;
  const [close] = nearest(given, allowed, 1);
  throw new HostError(
    'bad_input',
    `${flag} is ${JSON.stringify(given)}; use one of: ${allowed.join(', ')}${close === undefined ? '' : ` (did you mean ${close}?)`}`,
  );
}

/** A whole number, at least 1. Throws `bad_input`. */
export function countFrom1(flag: string, given: string): number {
  const value = Number(given);
  if (/^\d+$/.test(given) && Number.isSafeInteger(value) && value >= 1) return value;
  throw new HostError('bad_input', `${flag} is ${JSON.stringify(given)}; give a whole number, 1 or more`);
}
