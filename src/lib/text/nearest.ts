/** The candidates most similar to a misspelt name, best first. Empty if nothing is close. */
export function nearest(name: string, candidates: readonly string[], most: number): string[] {
  const wanted = normalise(name);
  // For a name of three letters, a distance of two would match almost any other.
  const furthest = wanted.length <= 3 ? 1 : Math.max(2, Math.floor(wanted.length / 3));
  const words = wordsOf(name);
  return candidates
    .slice(0, MAX_CANDIDATES)
    .map((candidate) => ({ candidate, distance: distanceTo(wanted, words, candidate) }))
    .filter(({ distance }) => distance <= furthest)
    .sort(
      (left, right) =>
        left.distance - right.distance ||
        lengthFrom(wanted, left.candidate) - lengthFrom(wanted, right.candidate) ||
        (left.candidate < right.candidate ? -1 : 1),
    )
    .slice(0, most)
    .map(({ candidate }) => candidate);
}

/** Comparing is quadratic in the length of a name, and names are untrusted. */
const MAX_CANDIDATES = 5_000;
const MAX_CHARACTERS = 96;

/** Case and separators are the most common mistakes; they cost nothing here. */
function normalise(name: string): string {
  return name
    .slice(0, MAX_CHARACTERS)
    .toLowerCase()
    .replace(/[_\-. ]/g, '');
}

/** `serverss` contains both `serve` and `servers`: the candidate closest in length was meant. */
function lengthFrom(wanted: string, candidate: string): number {
  return Math.abs(normalise(candidate).length - wanted.length);
}

/** The words of a name: `getUser_info` has three. A single letter is part of anything. */
function wordsOf(name: string): readonly string[] {
  const words = name
    .slice(0, MAX_CHARACTERS)
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu);
  return words?.every((word) => word.length > 1) === true ? words : [];
}

function distanceTo(wanted: string, words: readonly string[], candidate: string): number {
  const distance = editDistance(wanted, normalise(candidate));
  if (distance <= 1 || words.length === 0) return distance;
  // All its words are in the candidate: `log` of a server whose tools are `git_log`, `git_add`, or the words in another order.
  const known = wordsOf(candidate);
  return words.every((word) => known.includes(word)) ? 1 : distance;
}

function editDistance(left: string, right: string): number {
  if (left === right) return 0;
  // One contains the other. Names of up to three letters do not count, since they are part of anything.
  if (Math.min(left.length, right.length) > 3 && (right.includes(left) || left.includes(right))) return 1;
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    for (let column = 1; column <= right.length; column++) {
      const substitution = (previous[column - 1] as number) + (left[row - 1] === right[column - 1] ? 0 : 1);
      current.push(Math.min(substitution, (previous[column] as number) + 1, (current[column - 1] as number) + 1));
    }
    previous = current;
  }
  return previous[right.length] as number;
}
