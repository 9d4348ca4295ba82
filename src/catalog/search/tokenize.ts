import { stem } from './stem.js';

/**
 * The words of a text, in order: identifiers split (`getUserByID`, `get_user`, `get-user`), lower case, accents removed, scripts
 * without spaces cut into pairs of characters. The caller limits the length of the text.
 */
export function wordsOf(text: string): string[] {
  const words: string[] = [];
  forEachRun(text, (run) => words.push(...wordsOfRun(run)));
  return words;
}

/** The form of a word in the index. */
export function termOf(word: string): string {
  return stem(word);
}

/**
 * Visits the runs of letters and digits of a text, as written. Separate from `wordsOfRun` so that the index can cache runs. A loop,
 * so that only runs with non-ASCII characters pay for normalising and the Unicode tables, not the whole of a text with one dash in
 * it; on plain ASCII a regular expression is as fast.
 */
export function forEachRun(text: string, visit: (run: string) => void): void {
  let start = -1;
  let isAscii = true;
  for (let at = 0; at <= text.length; at += 1) {
    const code = at < text.length ? text.charCodeAt(at) : 0;
    if (code >= FIRST_BEYOND_ASCII || isAsciiLetterOrDigit(code)) {
      if (start < 0) start = at;
      if (code >= FIRST_BEYOND_ASCII) isAscii = false;
      continue;
    }
    if (start < 0) continue;
    const run = text.slice(start, at);
    if (isAscii) visit(run);
    else for (const part of run.normalize('NFKD').replace(ACCENTS, '').normalize('NFC').match(RUN) ?? []) visit(part);
    start = -1;
    isAscii = true;
  }
}

/** The words of one run: one, or several if it is an identifier or has no spaces to split at. */
export function wordsOfRun(run: string): string[] {
  if (run.length > LONGEST_WORD_CHARS && !UNSPACED.test(run)) return [];
  if (UNSPACED.test(run)) return pairsOf(run);
  const whole = run.toLowerCase();
  if (!isHumped(run)) return [whole];
  const parts = run.replace(HUMPS, '$1 $2').replace(ACRONYM_END, '$1 $2').toLowerCase().split(' ');
  // `GitHub` and `OneDrive` are also searched for as one word.
  return [...parts, whole];
}

/** Whether a run consists of several words: `getUser`. `IDs` and `PRs` are plurals. If so, the whole run is the last of its words. */
export function isHumped(run: string): boolean {
  return run.toLowerCase() !== run && HUMP.test(run) && !ACRONYM_PLURAL.test(run);
}

/** A run longer than this is an encoded blob, not a word. */
const LONGEST_WORD_CHARS = 64;
const FIRST_BEYOND_ASCII = 0x80;
const ACCENTS = /[\u0300-\u036f]/g;
const NO_SPACES = '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Thai}';
const RUN = new RegExp(`[${NO_SPACES}]+|(?:(?![${NO_SPACES}])[\\p{L}\\p{M}\\p{N}])+`, 'gu');
const UNSPACED = new RegExp(`^[${NO_SPACES}]`, 'u');
const HUMP = /[\p{Ll}\p{N}]\p{Lu}|\p{Lu}\p{Lu}\p{Ll}/u;
const HUMPS = /([\p{Ll}\p{N}])(\p{Lu})/gu;
const ACRONYM_END = /(\p{Lu})(\p{Lu}\p{Ll})/gu;
const ACRONYM_PLURAL = /^\p{Lu}+s$/u;

function isAsciiLetterOrDigit(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57);
}

function pairsOf(run: string): string[] {
  const characters = Array.from(run);
  if (characters.length === 1) return [run];
  return characters.slice(1).map((character, position) => `${characters[position]}${character}`);
}
