import { isWordStart } from './characters.js';
import type { Span } from './span.js';

/**
 * Telephone numbers as people write them: with `+` and a country code, in North American groups, or with a national leading 0
 * and at least one separator. Digits in a row without any of these are more often an id.
 */
const WRITTEN =
  /\+[1-9](?:[ ./-]?\(?\d\)?){6,14}(?!\d)|(?:1[ .-])?(?:\(\d{3}\) ?|\d{3}[.-])\d{3}[ .-]\d{4}(?![\w-])|\(?0[1-9]\d{0,4}\)?[ /-]\d{3,8}(?:[ -]\d{2,6}){0,3}(?![\w-])/g;

/** Longer than any match and what is checked after it. */
const LONGEST_WRITTEN = 100;
const MIN_NATIONAL_DIGITS = 9;
const MAX_NATIONAL_DIGITS = 12;

export function findPhones(text: string, found: (span: Span) => boolean, from = 0, to = text.length): number {
  const part = to === text.length && from === 0 ? text : text.slice(from, to + LONGEST_WRITTEN);
  let next = to;
  for (const { 0: written, index: at } of part.matchAll(WRITTEN)) {
    const index = from + at;
    if (index >= to) break;
    next = Math.max(to, index + written.length);
    const digits = written.replace(/\D/g, '').length;
    const isInternational = written.startsWith('+');
    const isLong = isInternational || (digits >= MIN_NATIONAL_DIGITS && digits <= MAX_NATIONAL_DIGITS);
    if (!isLong || !standsAlone(text, index)) continue;
    if (found({ start: index, end: index + written.length, kind: 'phone' })) return text.length;
  }
  return next;
}

/** Whether it is not the end of a word, a number, a version or an exponent. */
function standsAlone(text: string, start: number): boolean {
  return isWordStart(text, start) && !/[.\-/_]/.test(text[start - 1] ?? '');
}
