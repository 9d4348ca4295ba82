import { isWordStart } from './characters.js';
import type { Span } from './span.js';

/** Every card number has at least 14 digits, so checking every fourteenth character hits each one. */
const STRIDE = 14;
const MAX_DIGITS = 16;
const MAX_CHARACTERS = MAX_DIGITS + 3;

/** Names of fields whose long numbers are not cards, regardless of their check digit. */
const NO_CARD = /(?:id|ids|key|sku|ean|gtin|upc|isbn|hash|serial|timestamp|time|_at|At|version|number_of.*|count)$/i;

export function mayHoldCard(fieldName: string | undefined): boolean {
  return fieldName === undefined || !NO_CARD.test(fieldName);
}

/**
 * Finds payment card numbers: digits alone or in printed groups, with an issuer's prefix, that issuer's length, and the right
 * check digit. About 2 in 100 random numbers of 16 digits pass all of that. So fields that are named as an id are skipped, and
 * JSON numbers too unless they are requested.
 */
export function findCards(text: string, found: (span: Span) => boolean, from = 0, to = text.length): number {
  const { length } = text;
  let at = from === 0 ? STRIDE - 1 : from;
  for (; at < to; at += STRIDE) {
    const code = text.charCodeAt(at);
    if (!isCardCharacter(code)) continue;
    if (!isAlong(text, at, 1) && !isAlong(text, at, -1)) continue;
    let start = at;
    while (start > 0 && at - start <= MAX_CHARACTERS && isCardCharacter(text.charCodeAt(start - 1))) start--;
    let end = at + 1;
    while (end < length && end - at <= MAX_CHARACTERS && isCardCharacter(text.charCodeAt(end))) end++;
    if (end - start <= STRIDE) continue;
    const span = cardWithin(text, start, end);
    if (span === undefined) continue;
    if (found(span)) return length;
    at = Math.max(at, span.end - 1);
  }
  return at;
}

/** Whether seven characters to one side of this one can belong to a card number too. Every second one is checked. */
function isAlong(text: string, at: number, step: 1 | -1): boolean {
  return (
    isCardCharacter(text.charCodeAt(at + 7 * step)) &&
    isCardCharacter(text.charCodeAt(at + 5 * step)) &&
    isCardCharacter(text.charCodeAt(at + 3 * step)) &&
    isCardCharacter(text.charCodeAt(at + step))
  );
}

const ZERO = 48;
const NINE = 57;
const SPACE = 32;
const DASH = 45;

function isCardCharacter(code: number): boolean {
  return (code >= ZERO && code <= NINE) || code === SPACE || code === DASH;
}

const WRITTEN = /(?<!\d)(?:\d{4}([ -])\d{4}\1\d{4}\1\d{4}|\d{4}([ -])\d{6}\2\d{5}|\d{15,16})(?!\d)/g;
/** American Express has 15 digits; Visa, Mastercard, Discover and JCB have 16. */
const ISSUER =
  /^(?:3[47]\d{13}|(?:4\d{3}|5[1-5]\d\d|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720|6011|64[4-9]\d|65\d\d|35[2-8]\d)\d{12})$/;

/** Finds a card in a stretch of digits, spaces and dashes, at most some forty characters long. */
function cardWithin(text: string, from: number, to: number): Span | undefined {
  for (const { 0: written, index } of text.slice(from, to).matchAll(WRITTEN)) {
    const start = from + index;
    const end = start + written.length;
    const digits = written.replace(/\D/g, '');
    if (ISSUER.test(digits) && hasCheckDigit(digits) && standsAlone(text, start, end))
      return { start, end, kind: 'card' };
  }
  return undefined;
}

/** Whether it is not part of a longer word or number, a decimal fraction or a version. */
function standsAlone(text: string, start: number, end: number): boolean {
  if (!isWordStart(text, start) || /[._]/.test(text[start - 1] ?? '')) return false;
  return !/^(?:\w|\.\d)/.test(text.slice(end, end + 2));
}

/** The Luhn checksum. */
function hasCheckDigit(digits: string): boolean {
  let sum = 0;
  for (let index = 0; index < digits.length; index++) {
    const digit = digits.charCodeAt(digits.length - 1 - index) - ZERO;
    sum += index % 2 === 0 ? digit : digit > 4 ? digit * 2 - 9 : digit * 2;
  }
  return sum % 10 === 0;
}
