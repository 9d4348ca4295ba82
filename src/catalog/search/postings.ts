import { RANKING } from './ranking.js';
import { forEachRun, termOf, wordsOfRun } from './tokenize.js';

/** One field of every document: the weight of its words, and the penalty for its length. */
export interface FieldWeight {
  readonly weight: number;
  readonly lengthPenalty: number;
}

/** One word of a query: alternative terms, each with its share. The best match counts. */
export interface QueryWord {
  readonly alternatives: readonly { readonly term: string; readonly share: number }[];
  readonly weight: number;
}

/** The scores that one word of a query adds to documents. */
export interface Match {
  readonly documents: readonly number[];
  readonly values: Float32Array;
}

/**
 * An inverted index with precomputed BM25F weights: for each term the documents that contain it and its score in each. Built once,
 * never changed.
 */
export class Postings {
  readonly #terms: ReadonlyMap<string, number>;
  readonly #wordTerms: ReadonlyMap<string, number>;
  readonly #offsets: Int32Array;
  readonly #documents: Int32Array;
  readonly #weights: Float32Array;
  readonly #documentCount: number;
  /** All zero between two calls. */
  readonly #best: Float32Array;

  /** `texts[document][field]`, the fields in the order of `fields`. */
  constructor(texts: readonly (readonly string[])[], fields: readonly FieldWeight[]) {
    const reader = new TermReader();
    for (const fieldTexts of texts) for (const text of fieldTexts) reader.read(text);
    const bags = weighTerms(reader, texts.length, fields);
    this.#documentCount = texts.length;
    this.#terms = reader.terms;
    this.#wordTerms = reader.wordTerms;
    this.#best = new Float32Array(texts.length);
    this.#offsets = new Int32Array(reader.terms.size + 1);
    for (const bag of bags) for (const term of bag.terms) this.#offsets[term + 1]! += 1;
    for (let term = 0; term < reader.terms.size; term += 1) this.#offsets[term + 1]! += this.#offsets[term]!;
    this.#documents = new Int32Array(this.#offsets[reader.terms.size]!);
    this.#weights = new Float32Array(this.#documents.length);
    const next = this.#offsets.slice();
    bags.forEach(({ terms, weights }, document) => {
      for (let position = 0; position < terms.length; position += 1) {
        const at = next[terms[position]!]!++;
        const weight = weights[position]!;
        this.#documents[at] = document;
        this.#weights[at] = weight / (RANKING.saturation + weight);
      }
    });
  }

  get termCount(): number {
    return this.#terms.size;
  }

  termId(term: string): number | undefined {
    return this.#terms.get(term);
  }

  /** Every indexed word, before stemming, with the number of documents that contain its stem. */
  *words(): Generator<{ word: string; documentCount: number }> {
    for (const [word, term] of this.#wordTerms) yield { word, documentCount: this.#countOf(term) };
  }

  /** How significant a term is: high if few documents contain it. */
  rarity(term: number): number {
    const count = this.#countOf(term);
    return Math.log(1 + (this.#documentCount - count + 0.5) / (count + 0.5));
  }

  match(word: QueryWord): Match {
    const documents: number[] = [];
    const best = this.#best;
    let ceiling = Number.POSITIVE_INFINITY;
    for (const { term, share } of word.alternatives) {
      const id = this.#terms.get(term);
      if (id === undefined) continue;
      const rarity = Math.min(ceiling, this.rarity(id));
      // A rare synonym of a common word is no more significant than the common word.
      if (share === 1) ceiling = rarity;
      const factor = word.weight * share * rarity;
      const end = this.#offsets[id + 1]!;
      for (let at = this.#offsets[id]!; at < end; at += 1) {
        const document = this.#documents[at]!;
        const value = factor * this.#weights[at]!;
        const before = best[document]!;
        if (before === 0) documents.push(document);
        if (value > before) best[document] = value;
      }
    }
    const values = new Float32Array(documents.length);
    documents.forEach((document, position) => {
      values[position] = best[document]!;
      best[document] = 0;
    });
    return { documents, values };
  }

  #countOf(term: number): number {
    return this.#offsets[term + 1]! - this.#offsets[term]!;
  }
}

interface WeighedBag {
  readonly terms: readonly number[];
  readonly weights: readonly number[];
}

/** Sums each term of each document over its fields. Each occurrence is divided by the relative length of its field. */
function weighTerms(reader: TermReader, documentCount: number, fields: readonly FieldWeight[]): WeighedBag[] {
  const averages = fields.map((_, field) => {
    let total = 0;
    for (let text = field; text < reader.textCount; text += fields.length) total += reader.lengthOf(text);
    return Math.max(1, total / Math.max(1, documentCount));
  });
  const sums = new Float32Array(reader.terms.size);
  return Array.from({ length: documentCount }, (_, document) => {
    const terms: number[] = [];
    fields.forEach(({ weight, lengthPenalty }, field) => {
      const text = document * fields.length + field;
      const each = weight / (1 - lengthPenalty + (lengthPenalty * reader.lengthOf(text)) / averages[field]!);
      reader.forEachTerm(text, (term) => {
        if (sums[term] === 0) terms.push(term);
        sums[term]! += each;
      });
    });
    const weights = terms.map((term) => sums[term]!);
    for (const term of terms) sums[term] = 0;
    return { terms, weights };
  });
}

/** Limits the memory of an index over hostile text in which no word repeats. 1,839 real tools have 10,400. */
const MAX_RUNS = 500_000;

/** Converts texts to term numbers, all in one array. A run of letters is split and stemmed once, however often it occurs. */
class TermReader {
  readonly terms = new Map<string, number>();
  readonly wordTerms = new Map<string, number>();
  readonly #runs = new Map<string, readonly number[]>();
  readonly #ends: number[] = [0];
  #found = new Int32Array(1 << 16);
  #length = 0;

  get textCount(): number {
    return this.#ends.length - 1;
  }

  lengthOf(text: number): number {
    return this.#ends[text + 1]! - this.#ends[text]!;
  }

  forEachTerm(text: number, visit: (term: number) => void): void {
    const end = this.#ends[text + 1]!;
    for (let at = this.#ends[text]!; at < end; at += 1) visit(this.#found[at]!);
  }

  read(text: string): void {
    forEachRun(text, (run) => {
      let terms = this.#runs.get(run);
      if (terms === undefined) {
        if (this.#runs.size >= MAX_RUNS) return;
        terms = wordsOfRun(run).map((word) => this.#termFor(word));
        this.#runs.set(run, terms);
      }
      for (const term of terms) this.#push(term);
    });
    this.#ends.push(this.#length);
  }

  #push(term: number): void {
    if (this.#length === this.#found.length) {
      const larger = new Int32Array(this.#length * 2);
      larger.set(this.#found);
      this.#found = larger;
    }
    this.#found[this.#length] = term;
    this.#length += 1;
  }

  #termFor(word: string): number {
    const term = termOf(word);
    const id = this.terms.get(term) ?? this.terms.size;
    this.terms.set(term, id);
    this.wordTerms.set(word, id);
    return id;
  }
}
