import { isWordStart } from './characters.js';
import type { Span } from './span.js';

/**
 * US social security numbers as written: three, two and four digits with dashes. Areas 000, 666 and from 900 on, group 00 and
 * number 0000 were never issued. Without the dashes they look like any other number.
 */
const WRITTEN = /(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\w-]|\.\d)/g;
const LENGTH = 11;
/** Characters that are checked after a number. */
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

/** Whether it is not the end of a longer number, a word or a version. */
function standsAlone(text: string, start: number): boolean {
  return isWordStart(text, start) && !/[.\-+_]/.test(text[start - 1] ?? '');
}
