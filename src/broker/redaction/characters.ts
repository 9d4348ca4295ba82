/** The characters of a kind of token: a table, because it is looked up for every character of untrusted text. */
export type Alphabet = Uint8Array;

export function alphabet(characters: string): Alphabet {
  const table = new Uint8Array(128);
  for (const character of characters) table[character.charCodeAt(0)] = 1;
  return table;
}

const LOWER = 'abcdefghijklmnopqrstuvwxyz';
const UPPER = LOWER.toUpperCase();
const DIGITS = '0123456789';

export const CAPITALS = alphabet(UPPER + DIGITS);
export const WORD = alphabet(LOWER + UPPER + DIGITS);
export const WORD_AND_LINE = alphabet(`${LOWER}${UPPER}${DIGITS}_`);
export const WORD_AND_DASH = alphabet(`${LOWER}${UPPER}${DIGITS}-`);
export const BASE64URL = alphabet(`${LOWER}${UPPER}${DIGITS}_-`);
export const BASE64 = alphabet(`${LOWER}${UPPER}${DIGITS}+/=_-`);
export const STANDARD_BASE64 = alphabet(`${LOWER}${UPPER}${DIGITS}+/`);
/** Atlassian tokens have a checksum after `=`. */
export const ATLASSIAN = alphabet(`${LOWER}${UPPER}${DIGITS}_-=`);
export const HEX = alphabet(`abcdef${DIGITS}`);
export const BEARER = alphabet(`${LOWER}${UPPER}${DIGITS}-._~+/=`);
export const MAIL = alphabet(`${LOWER}${UPPER}${DIGITS}.!#$%&*+-/=?^_{|}~`);
export const HOST = alphabet(`${LOWER}${UPPER}${DIGITS}.-`);
/**
 * Base64 in lines, also with line ends written as `
 * `, and the headers of older keys.
 */
export const ARMOUR = alphabet(`${LOWER}${UPPER}${DIGITS}+/=\\ \r\n\t:,`);

export function isIn(table: Alphabet, text: string, at: number): boolean {
  return table[text.charCodeAt(at)] === 1;
}

/** The end of the run of such characters that begins at `from`. */
export function runEnd(table: Alphabet, text: string, from: number, most = Number.POSITIVE_INFINITY): number {
  const limit = Math.min(text.length, from + most);
  let at = from;
  while (at < limit && table[text.charCodeAt(at)] === 1) at++;
  return at;
}

/** The start of the run of such characters that ends before `before`. */
export function runStart(table: Alphabet, text: string, before: number): number {
  let at = before;
  while (at > 0 && table[text.charCodeAt(at - 1)] === 1) at--;
  return at;
}

/** Whether a word begins here. The `n` of a written `\n` is not a part of a word. */
export function isWordStart(text: string, at: number): boolean {
  return at === 0 || !isIn(WORD, text, at - 1) || (at > 1 && text.charCodeAt(at - 2) === BACKSLASH);
}

const BACKSLASH = 92;
