import type { QueryWord } from './postings.js';
import { RANKING } from './ranking.js';
import { extensionOf, impliedSteps, splitSteps } from './steps.js';
import { termOf, wordsOf } from './tokenize.js';
import { acronymOf, alternativesTo, isStopWord, longFormOf } from './vocabulary.js';

/** The words of the index. A query is read against it. */
export interface KnownWords {
  hasTerm(term: string): boolean;
  /** The known word closest to a misspelt one. */
  nearest(word: string): string | undefined;
}

/** One step of a query. */
export interface QueryStep {
  readonly words: readonly QueryWord[];
  /** The weight of the step's best tool, relative to a step that the query names. */
  readonly pull: number;
}

/** The steps of a query, in order, the implied ones last. Empty if the index knows no word of the query. */
export function readQuery(query: string, known: KnownWords): QueryStep[] {
  const text = readableOf(query);
  const reader = new QueryReader(known, isStopWord);
  const named = splitSteps(text).map((step) => ({ words: reader.read(step), pull: 1 }));
  const implied = impliedSteps(text).map((step) => ({ words: reader.read(step), pull: RANKING.implied }));
  const steps = [...named, ...implied].filter((step) => step.words.length > 0);
  if (steps.length > 0) return steps;
  // Only stop words: searching for those is better than for nothing.
  const words = new QueryReader(known, () => false).read(text);
  return words.length > 0 ? [{ words, pull: 1 }] : [];
}

/** Whether a query is empty: it has no letter and no digit. */
export function isBlank(query: string): boolean {
  return !/[\p{L}\p{N}]/u.test(readableOf(query));
}

/** A query longer than a page is cut: its first page says what it is about. */
const MAX_QUERY_CHARS = 4_000;
/** Limits the work of one query. */
const MAX_QUERY_WORDS = 96;
const MAX_CORRECTIONS = 12;
const SHORTEST_HALF = 4;

function readableOf(query: string): string {
  return query.trimStart().slice(0, MAX_QUERY_CHARS);
}

/** Text that describes an argument of the call, not the tool: addresses, paths and file names, quoted values. */
const ARGUMENTS = new RegExp(
  [
    '(?<url>https?://\\S+|(?<![\\w@/.-])(?:[a-z0-9-]+\\.)+(?:com|org|net|io|dev|gov|edu|cn|de|uk|co|ai)(?![\\w-])(?:/\\S*)?)',
    '(?<email>(?<![\\w.+-])[\\w.+-]+@[\\w-]+\\.[\\w.]+)',
    '(?<path>(?<![\\w/])(?:~|\\.{1,2})?/[^\\s,;\'"]+|(?<![\\w.-])[\\w-]+\\.(?:pdf|docx?|xlsx?|pptx?|csv|txt|md|html?|json|' +
      'xml|ya?ml|png|jpe?g|gif|svg|mp[34]|wav|zip|py|js|ts|log)(?!\\w))',
    '(?<quoted>"[^"\\n]{1,200}"|(?<!\\w)\'[^\'\\n]{1,200}\'(?!\\w))',
  ].join('|'),
  'giu',
);

class QueryReader {
  readonly #known: KnownWords;
  readonly #isSkipped: (word: string) => boolean;
  #wordsLeft = MAX_QUERY_WORDS;
  #correctionsLeft = MAX_CORRECTIONS;

  constructor(known: KnownWords, isSkipped: (word: string) => boolean) {
    this.#known = known;
    this.#isSkipped = isSkipped;
  }

  read(step: string): QueryWord[] {
    const found: QueryWord[] = [];
    let at = 0;
    for (const match of step.matchAll(ARGUMENTS)) {
      found.push(...this.#readText(step.slice(at, match.index), 1));
      found.push(...this.#readText(wordsForArgument(match), RANKING.argument));
      at = match.index + match[0].length;
    }
    found.push(...this.#readText(step.slice(at), 1));
    const words = withoutRepeats(found).slice(0, this.#wordsLeft);
    this.#wordsLeft -= words.length;
    return words;
  }

  #readText(text: string, weight: number): QueryWord[] {
    const words = wordsOf(text);
    return words.flatMap((word, position) => {
      const next = words[position + 1] ?? '';
      const joined = this.#isCompound(word, next) ? [withSynonyms(word + next, weight)] : [];
      if (this.#isSkipped(word)) return joined;
      const own = /^\d+$/.test(word) ? weight * RANKING.number : weight;
      const long = longFormOf(word);
      if (long.length > 0) return [...joined, ...long.map((part) => withSynonyms(part, own, word))];
      const acronym = acronymOf(word, next);
      if (acronym !== undefined) return [...joined, withSynonyms(word, own, acronym)];
      return [...joined, ...this.#readWord(word, own)];
    });
  }

  /** `screen shot` means `screenshot` if the index has it. */
  #isCompound(word: string, next: string): boolean {
    return word.length > 2 && next.length > 2 && this.#known.hasTerm(termOf(word + next));
  }

  #readWord(word: string, weight: number): QueryWord[] {
    const term = termOf(word);
    const isKnown = this.#known.hasTerm(term) || alternativesTo(term).some((other) => this.#known.hasTerm(other.term));
    if (isKnown) return [withSynonyms(word, weight)];
    const halves = this.#halvesOf(word);
    if (halves.length > 0) return halves.map((half) => withSynonyms(half, weight * RANKING.typo));
    if (this.#correctionsLeft === 0) return [];
    this.#correctionsLeft -= 1;
    const nearest = this.#known.nearest(word);
    return nearest === undefined ? [] : [withSynonyms(nearest, weight * RANKING.typo)];
  }

  /** `flowchart` in a catalog that says `flow chart`. */
  #halvesOf(word: string): string[] {
    for (let cut = word.length - SHORTEST_HALF; cut >= SHORTEST_HALF; cut -= 1) {
      const halves = [word.slice(0, cut), word.slice(cut)];
      if (halves.every((half) => this.#known.hasTerm(termOf(half)))) return halves;
    }
    return [];
  }
}

/** `/reports/a.pdf` hints at files and at PDF, `/home/me/music` at a folder, an address at the web and at its host. */
function wordsForArgument(match: RegExpMatchArray): string {
  const { url, email, path, quoted } = match.groups ?? {};
  if (url !== undefined) {
    const host = url.replace(/^https?:\/\/(?:www\.)?/i, '').split(/[/?#]/, 1)[0] ?? '';
    return `url webpage ${host.split('.').slice(0, -1).join(' ')}`;
  }
  if (email !== undefined) return 'email';
  if (path === undefined) return quoted ?? '';
  const extension = extensionOf(path);
  if (extension === undefined) return 'directory';
  // Without a folder it may not be a file: `Node.js`.
  return path.includes('/') ? `file ${extension}` : `file ${path}`;
}

/** `acronym` is an alternative to the word. It is not a separate word: a text with `pull request (PR)` counts once. */
function withSynonyms(word: string, weight: number, acronym?: string): QueryWord {
  const term = termOf(word);
  const alternatives = [{ term, share: 1 }, ...alternativesTo(term)];
  if (acronym !== undefined) alternatives.push({ term: termOf(acronym), share: RANKING.abbreviation });
  return { alternatives, weight };
}

/** A repeated word in one step counts once. */
function withoutRepeats(words: readonly QueryWord[]): QueryWord[] {
  const byTerm = new Map<string, QueryWord>();
  for (const word of words) {
    const term = word.alternatives[0]?.term ?? '';
    const other = byTerm.get(term);
    if (other === undefined || other.weight < word.weight) byTerm.set(term, word);
  }
  return [...byTerm.values()];
}
