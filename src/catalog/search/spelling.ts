/**
 * Finds the known word closest to a misspelt one. Only used for words that the index does not have, so that a correct word is never
 * "corrected" into a more common one.
 */
export class Spelling {
  readonly #buckets = new Map<string, Entry[]>();

  constructor(words: Iterable<{ word: string; documentCount: number }>) {
    for (const { word, documentCount } of words) {
      if (word.length < SHORTEST_CORRECTED - 1) continue;
      const entry = { word, documentCount, letters: lettersOf(word) };
      const key = bucketOf(word, word.length);
      const bucket = this.#buckets.get(key);
      if (bucket === undefined) this.#buckets.set(key, [entry]);
      else if (bucket.length < MAX_BUCKET_WORDS) bucket.push(entry);
    }
  }

  /** The nearest known word. Of several, the one that most documents contain. */
  nearest(word: string): string | undefined {
    if (word.length < SHORTEST_CORRECTED || word.length > LONGEST_CORRECTED || /\d/.test(word)) return undefined;
    let limit = word.length >= SHORTEST_CORRECTED_TWICE ? 2 : 1;
    const letters = lettersOf(word);
    let nearest: Entry | undefined;
    for (const length of nearLengths(word.length, limit)) {
      for (const entry of this.#buckets.get(bucketOf(word, length)) ?? []) {
        // One edit changes at most two letters of the set. That alone rules out most words.
        if (bitCount(letters ^ entry.letters) > 2 * limit) continue;
        const distance = boundedDistance(word, entry.word, limit);
        if (distance > limit) continue;
        if (nearest !== undefined && distance === limit && entry.documentCount <= nearest.documentCount) continue;
        nearest = entry;
        limit = distance;
      }
    }
    return nearest?.word;
  }
}

interface Entry {
  readonly word: string;
  readonly documentCount: number;
  /** One bit for each letter of the word. */
  readonly letters: number;
}

const SHORTEST_CORRECTED = 4;
const SHORTEST_CORRECTED_TWICE = 8;
const LONGEST_CORRECTED = 24;
/** Limits the work for one word if a hostile catalog fills one bucket. */
const MAX_BUCKET_WORDS = 500;

/** A first letter is seldom mistyped, and requiring it leaves few candidates: at most 142 of a length in 1,839 real tools. */
function bucketOf(word: string, length: number): string {
  return `${word.charAt(0)}${length}`;
}

function nearLengths(length: number, limit: number): number[] {
  const near = [length];
  for (let step = 1; step <= limit; step += 1) near.push(length - step, length + step);
  return near;
}

function lettersOf(word: string): number {
  let letters = 0;
  for (let position = 0; position < word.length; position += 1) letters |= 1 << (word.charCodeAt(position) % 32);
  return letters;
}

function bitCount(bits: number): number {
  let count = 0;
  for (let left = bits; left !== 0; left &= left - 1) count += 1;
  return count;
}

/** Edit distance in which a swap of neighbours counts as one. Anything above `limit` is returned as `limit + 1`. */
function boundedDistance(from: string, to: string, limit: number): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    let smallest = row;
    for (let column = 1; column <= to.length; column += 1) {
      const change = from[row - 1] === to[column - 1] ? 0 : 1;
      let cost = Math.min(previous[column]! + 1, current[column - 1]! + 1, previous[column - 1]! + change);
      if (row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]) {
        cost = Math.min(cost, beforePrevious[column - 2]! + 1);
      }
      current.push(cost);
      if (cost < smallest) smallest = cost;
    }
    if (smallest > limit) return limit + 1;
    beforePrevious = previous;
    previous = current;
  }
  return Math.min(previous[to.length]!, limit + 1);
}
