import { isWordStart } from './characters.js';
import type { Span } from './span.js';

/**
 * Social security numbers of the United States, as they are written: three, two and four digits with dashes. No area 000, 666
 * or from 900 on, no group 00 and no number 0000 was ever given out. Without the dashes they are told from no other number.
 */
const WRITTEN = /(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\w-]|\.\d)/g;
const LENGTH = 11;
/** What is checked behind a number. */
const BEHIND = 2;

export function findSocialSecurityNumbers(
  text: string,
  found: (span: Span) => boolean,
  from = 0,
  to = text.length,
): number {
  const part = from === 0 && to === text.length ? text : text.slice(from, to + LENGTH + BEHIND);
  let next = to;
  for (const { index: at } of part.matchAll(WRITTEN)) {
    const index = from + at;
    if (index >= to) break;
    next = Math.max(next, index + LENGTH);
    if (!standsAlone(text, index)) continue;
    if (found({ start: index, end: index + LENGTH, kind: 'ssn' })) return text.length;
  }
  return next;
}

/** Not the end of a longer number, a word or a version. */
function standsAlone(text: string, start: number): boolean {
  return isWordStart(text, start) && !/[.\-+_]/.test(text[start - 1] ?? '');
}
