/**
 * Cuts an English word to a stem that its forms share: `lists`, `listing`, `listed` -> `list`; `generate`, `generator`,
 * `generation` -> `generat`. Words of other alphabets are returned unchanged.
 * It cuts less than Porter's stemmer and is made for tools: it knows agent nouns (`searcher`, `pdf_merger`).
 */
export function stem(word: string): string {
  if (word.length < SHORTEST_STEMMED || !/^[a-z]+$/.test(word)) return word;
  const singular = NEVER_PLURAL.has(word) ? word : withoutPlural(word);
  if (KEPT.has(singular)) return singular;
  for (const { suffix, replacement, shortest } of SUFFIXES) {
    if (!singular.endsWith(suffix)) continue;
    const base = singular.slice(0, -suffix.length) + replacement;
    if (base.length >= shortest && /[aeiouy]/.test(base)) return tidy(base);
  }
  return tidy(singular);
}

const SHORTEST_STEMMED = 4;
const SHORTEST_STEM = 3;

/** `ation` and `ator` keep `at`, so that they match the stem of `-ate` verbs. `shortest` is the minimum length of the stem. */
const SUFFIXES: readonly { suffix: string; replacement: string; shortest: number }[] = [
  { suffix: 'ization', replacement: 'ize', shortest: 5 },
  { suffix: 'ation', replacement: 'at', shortest: 5 },
  { suffix: 'ator', replacement: 'at', shortest: 5 },
  { suffix: 'ction', replacement: 'ct', shortest: 6 },
  { suffix: 'version', replacement: 'vert', shortest: 6 },
  { suffix: 'ment', replacement: '', shortest: 6 },
  { suffix: 'ing', replacement: '', shortest: 3 },
  { suffix: 'ied', replacement: 'y', shortest: 3 },
  { suffix: 'ed', replacement: '', shortest: 3 },
  { suffix: 'er', replacement: '', shortest: 4 },
];

/** Words that would otherwise have the stem of another word: `customer` of `custom`, `directions` of `direct`. */
const KEPT: ReadonlySet<string> = new Set(
  'customer direction poster header counter number order letter paper speed feed string'.split(' '),
);

const NEVER_PLURAL: ReadonlySet<string> = new Set('news canvas series kubernetes'.split(' '));

function withoutPlural(word: string): string {
  if (word.endsWith('ies') && word.length > 4) return `${word.slice(0, -3)}y`;
  if (/(?:ss|sh|ch|x|z)es$/.test(word)) return word.slice(0, -2);
  if (word.endsWith('s') && !/(?:ss|us|is)$/.test(word)) return word.slice(0, -1);
  return word;
}

/** Makes the stems of `merge` and `merger`, and of `split` and `splitter`, equal. */
function tidy(base: string): string {
  if (base.length <= SHORTEST_STEM) return base;
  return base.endsWith('e') || /([bdfgmnprt])\1$/.test(base) ? base.slice(0, -1) : base;
}
