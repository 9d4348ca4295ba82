import { likenessToWords } from './letter-pairs.js';

/**
 * Whether a property name was chosen by a programmer and is not data: no id, date, address, token, person or path. Property names
 * are all that is kept of a result, so a doubtful name is rejected. A map with plain words as keys cannot be told from a record
 * here; `collapse` handles it.
 */
export function isFieldName(name: string): boolean {
  if (name.length > MAX_CHARACTERS || !FORM.test(name)) return false;
  if (LONG_NUMBER.test(name) || HEXADECIMAL.test(name) || MIXED_NUMBER.test(name)) return false;
  if ((name.match(/\d+/g)?.length ?? 0) > MAX_DIGIT_GROUPS) return false;
  return looksLikeWords(wordsOf(name));
}

const MAX_CHARACTERS = 40;
const MAX_DIGIT_GROUPS = 2;
const MAX_WORD_CHARACTERS = 18;

/** Letters, digits, `_` and `-`, after a prefix that formats use for their own names (`@type`, `$ref`, `#text`). */
const FORM = /^[@$#]?[A-Za-z_][A-Za-z0-9_-]*$/;
/** Years, counters, telephone numbers. */
const LONG_NUMBER = /\d{4}/;
const HEXADECIMAL = /^(?=.*\d)[0-9a-f]{6,}$|^[0-9a-f]{16,}$/i;
/** In names a number ends a word (`p95LatencyMs`, `base64Data`). In keys it can be anywhere (`AKIAIOSFODNN7EXAMPLE`). */
const MIXED_NUMBER = /[A-Za-z]{3}\d+[a-z]|[A-Z]\d+[A-Z]|\d[a-z]+\d/;

/** `userAgentID_raw` is user, Agent, ID, raw. */
function wordsOf(name: string): string[] {
  return name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g) ?? [];
}

/**
 * The minimum likeness to words, by number of letter pairs. A short name cannot be judged well, and is hardly a secret. Of 2,209
 * real names 12 fail. Of random letters and digits 92 in 100 of six fail, 98 of eight, 99.7 of twelve, and all but 1 in 2,500 of
 * sixteen.
 */
const LEAST_LIKENESS = [
  { pairs: 9, mean: 5.1 },
  { pairs: 6, mean: 4.7 },
  { pairs: 3, mean: 3.9 },
];

/** Random letters often change case, form long runs, or form unusual pairs. */
function looksLikeWords(words: readonly string[]): boolean {
  const letters = words.reduce((sum, word) => sum + word.length, 0);
  if (words.length >= 3 && letters / words.length < 2.6) return false;
  if (words.some((word) => word.length > MAX_WORD_CHARACTERS)) return false;
  const { mean, pairs } = likenessToWords(words);
  const least = LEAST_LIKENESS.find((row) => pairs >= row.pairs);
  return least === undefined || mean >= least.mean;
}
