import { randomBytes } from 'node:crypto';

/**
 * JSON carries integers of any length; JavaScript rounds those beyond 2^53. To read such a text and write it back
 * unchanged, read it with these numbers as marked strings, and restore the numbers in the text that is written.
 */

/** Nobody outside this process knows it, so no external string is taken for a number. */
const MARK = `\u0000whole-${randomBytes(12).toString('hex')}-`;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LONG = /(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/y;
/** Python refuses to read numbers of more than 4,300 digits, and nobody computes with them. They become null, as in plain JavaScript. */
const MAX_DIGITS = 1_000;
/** The number of digits of the shortest integer that may be rounded. */
const FEWEST_DIGITS = 16;

/** The same JSON with the integers that JavaScript would round as marked strings. */
export function withMarkedNumbers(json: string): string {
  return replaceRounded(json, (digits) => (digits.length > MAX_DIGITS ? digits : JSON.stringify(marked(digits))));
}

/** Restores the numbers that `withMarkedNumbers` replaced, even if the rest of the text has changed. */
export function withNumbers(json: string): string {
  return json.replace(MARKED_JSON, (_, letters: string) => digitsOf(letters));
}

/** The digits of a string that represents a number. */
export function markedNumber(text: string): string | undefined {
  return text.startsWith(MARK) ? digitsOf(text.slice(MARK.length)) : undefined;
}

/** The first integer of a JSON text that JavaScript would round. */
export function roundedNumber(json: string): string | undefined {
  let first: string | undefined;
  replaceRounded(json, (digits) => {
    first ??= digits;
    return digits;
  });
  return first;
}

/** In letters, so that redaction does not take the digits for a telephone number. */
function marked(digits: string): string {
  return MARK + digits.replace(/\d/g, (digit) => LETTERS[Number(digit)] as string);
}

const LETTERS = 'abcdefghij';
const MARKED_JSON = new RegExp(`${JSON.stringify(MARK).slice(0, -1).replace('\\', '\\\\')}([a-j-]+)"`, 'g');

function digitsOf(letters: string): string {
  return letters.replace(/[a-j]/g, (letter) => String(LETTERS.indexOf(letter)));
}

function replaceRounded(json: string, replace: (digits: string) => string): string {
  if (!hasLongDigits(json)) return json;
  const parts: string[] = [];
  let from = 0;
  for (let at = 0; at < json.length; at++) {
    const unit = json.charCodeAt(at);
    if (unit === QUOTE) {
      at = endOfString(json, at);
      continue;
    }
    LONG.lastIndex = at;
    const [digits] = isNumeral(unit) ? (LONG.exec(json) ?? []) : [];
    if (digits === undefined) continue;
    if (String(Number(digits)) !== digits) {
      parts.push(json.slice(from, at), replace(digits));
      from = at + digits.length;
    }
    at += digits.length - 1;
  }
  return parts.length === 0 ? json : parts.join('') + json.slice(from);
}

function isNumeral(unit: number): boolean {
  return unit === 0x2d || isDigit(unit);
}

function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39;
}

/** A fast check, as few texts have long numbers. Each would cover one of these positions: a tenth of the time of parsing the JSON. */
function hasLongDigits(json: string): boolean {
  for (let at = FEWEST_DIGITS - 1; at < json.length; at += FEWEST_DIGITS) {
    if (!isDigit(json.charCodeAt(at))) continue;
    let from = at;
    let to = at;
    while (at - from < FEWEST_DIGITS && isDigit(json.charCodeAt(from - 1))) from--;
    while (to - at < FEWEST_DIGITS && isDigit(json.charCodeAt(to + 1))) to++;
    if (to - from + 1 >= FEWEST_DIGITS) return true;
  }
  return false;
}

function endOfString(json: string, start: number): number {
  let at = start + 1;
  while (at < json.length && json.charCodeAt(at) !== QUOTE) at += json.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at;
}
