import { CAPITALS, isIn, isWordStart, WORD } from './characters.js';
import type { Span } from './span.js';

/** The length of account numbers in each country, from the SWIFT registry. */
const LENGTHS: ReadonlyMap<string, number> = new Map(
  (
    'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 ' +
    'FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 ' +
    'LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 ' +
    'RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30'
  )
    .split(' ')
    .map((each) => [each.slice(0, 2), Number(each.slice(2))]),
);
/** In one piece, or in groups of four separated by spaces. */
const MAX_CHARACTERS = 33 + 8;
const START = /[A-Z]{2}\d{2}/g;

/**
 * Finds bank account numbers: a country, that country's length, and the right check digits (ISO 7064, mod 97). About one in a
 * hundred thousand random texts of that form passes, so a match is certain.
 */
export function findIbans(text: string, found: (span: Span) => boolean, from = 0, to = text.length): number {
  const part = from === 0 && to === text.length ? text : text.slice(from, to + MAX_CHARACTERS);
  let next = to;
  for (const { 0: start, index: at } of part.matchAll(START)) {
    const index = from + at;
    if (index >= to) break;
    const end = ibanEnd(text, index, LENGTHS.get(start.slice(0, 2)));
    if (end === undefined) continue;
    next = Math.max(next, end);
    if (found({ start: index, end, kind: 'iban' })) return text.length;
  }
  return next;
}

/** The end of the account number that begins here. */
function ibanEnd(text: string, start: number, length: number | undefined): number | undefined {
  if (length === undefined || !isWordStart(text, start)) return undefined;
  let digits = '';
  let end = start;
  for (; digits.length < length; end++) {
    if (text[end] === ' ' && digits.length % 4 === 0 && text[end - 1] !== ' ') continue;
    if (!isIn(CAPITALS, text, end)) return undefined;
    digits += text[end];
  }
  return !isIn(WORD, text, end) && hasCheckDigits(digits) ? end : undefined;
}

/** The first four characters move to the end, letters count from 10, and the whole number modulo 97 must be 1. */
function hasCheckDigits(iban: string): boolean {
  let rest = 0;
  for (const character of `${iban.slice(4)}${iban.slice(0, 4)}`) {
    const value = Number.parseInt(character, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}
