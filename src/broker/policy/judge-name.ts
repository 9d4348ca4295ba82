import { fold, foreignMeaning, gappedWord, seemingNames, wordsRunTogether } from './spellings.js';
import {
  ACTS,
  ALONE,
  ALWAYS,
  AT_THE_END,
  EXECUTION,
  HARMLESS,
  LOOKING,
  LOOKING_AT,
  LOOKING_TAIL,
  LOSSES,
  MAKING,
  NOUNS,
  PAIRS,
  THINGS,
  type WordPair,
} from './word-lists.js';

/**
 * Judges what a tool does by its name. Its server chose the name, so the name can only make the decision stricter, never
 * looser: a tool called `get_weather` may still do anything.
 */
export type NameJudgement =
  | { readonly isDangerous: false /** The name says that the tool only reads. */; readonly saysItReads?: true }
  | {
      readonly isDangerous: true;
      readonly reason: string;
      /** Nothing in the name is dangerous, but it has letters that are not understood here. */
      readonly isUnread?: true;
    };

/** No real name is nearly this long. A longer one hides something at its end. */
const MAX_NAME_CHARACTERS = 512;

export function judgeName(name: string): NameJudgement {
  if (name.length > MAX_NAME_CHARACTERS) return dangerous('its name is too long to be read');
  const folded = fold(name);
  const parts = partsOf(folded);
  if (parts.some(mixesAlphabets))
    return dangerous('its name mixes alphabets, so it may not be the name it seems to be');
  const clauses = clausesOf(parts.flatMap(humpsOf));
  const foreign = foreignMeaning(folded);
  const word =
    dangerousWord(parts, clauses) ??
    foreign?.act ??
    first(seemingNames(folded), (seeming) => {
      const others = partsOf(seeming);
      return dangerousWord(others, clausesOf(others.flatMap(humpsOf)));
    });
  if (word !== undefined) return dangerous(`its name says "${word}"`);
  const saysItReads = clauses.every((words) => words.some(isLooking));
  // Model APIs accept only Latin letters, so hardly any tool has such a name, and asking about one costs little.
  if (foreign !== undefined && !foreign.isLooking && !saysItReads)
    return {
      isDangerous: true,
      reason: 'its name is not in Latin letters, and does not say that it only reads',
      isUnread: true,
    };
  return { isDangerous: false, ...(saysItReads ? { saysItReads } : {}) };
}

function dangerous(reason: string): NameJudgement {
  return { isDangerous: true, reason };
}

function partsOf(folded: string): string[] {
  return folded.split(/[^\p{L}]+/u);
}

function dangerousWord(parts: readonly string[], clauses: readonly string[][]): string | undefined {
  return (
    first(clauses, actOf) ??
    // The whole part too, because mixed case can hide a word: dElEtEfIlE.
    first(parts, (part) => {
      const whole = part.toLowerCase();
      if (isAlways(whole)) return whole;
      const words = wordsRunTogether(whole);
      return words === undefined ? undefined : actOf(words);
    }) ??
    gappedWord(parts, isAlways)
  );
}

/** A Latin letter next to one of another alphabet: `dеlete` with a Cyrillic е. */
function mixesAlphabets(part: string): boolean {
  return /[a-z]/i.test(part) && /[^a-z]/i.test(part);
}

/** A word that is an action here: no verb before it says that it is only read or written about. */
function actOf(words: readonly string[]): string | undefined {
  const always = words.find(isAlways);
  if (always !== undefined) return always;
  const phrase = phraseOf(words);
  if (phrase !== undefined) return phrase;
  const endsInLooking = LOOKING_TAIL.has(words.at(-1) ?? '');
  let isMade = false;
  for (const [index, word] of words.entries()) {
    if (isLooking(word)) return undefined;
    const next = words[index + 1] ?? '';
    const isNoun = index === 0 && NOUNS.has(word) && (isLooking(next) || (MAKING.has(next) && !THINGS.has(word)));
    const isAct = THINGS.has(word) || (ACTS.has(word) && !isMade);
    const isOnlyShown = endsInLooking && !LOSSES.has(word);
    if (isAct && !isNoun && !isOnlyShown && !isHarmless(words, index)) return word;
    isMade ||= MAKING.has(word);
  }
  return undefined;
}

function isHarmless(words: readonly string[], index: number): boolean {
  const { before, after, any } = HARMLESS[words[index] as string] ?? {};
  const isOf = (list: string | undefined, word: string | undefined) =>
    list !== undefined && word !== undefined && list.split(' ').includes(word);
  return isOf(before, words[index - 1]) || isOf(after, words[index + 1]) || words.some((word) => isOf(any, word));
}

function phraseOf(words: readonly string[]): string | undefined {
  const [only] = words;
  if (words.length === 1 && only !== undefined && ALONE.has(only)) return only;
  const found = first(PAIRS, (pair) => pairIn(words, pair));
  if (found !== undefined) return found;
  const last = words.at(-1);
  const isExcused = words.some((word) => LOOKING_AT.has(word) || MAKING.has(word));
  return !isExcused && last !== undefined && AT_THE_END.has(last) ? last : undefined;
}

function pairIn(words: readonly string[], { verbs, objects, excuse }: WordPair): string | undefined {
  const at = words.findIndex((word) => verbs.has(word));
  const object = at < 0 ? undefined : words.slice(at + 1).find((word) => objects.has(word));
  if (object === undefined) return undefined;
  const isExcused =
    excuse === 'looked at'
      ? words.slice(0, at).some((word) => LOOKING_AT.has(word))
      : words.some(isLooking) ||
        LOOKING_TAIL.has(words.at(-1) ?? '') ||
        (excuse === 'looking or making' && words.some((word) => MAKING.has(word)));
  return isExcused ? undefined : `${words[at]} ${object}`;
}

function isLooking(word: string): boolean {
  return LOOKING.has(word);
}

function isAlways(word: string): boolean {
  return ALWAYS.has(word) || EXECUTION.has(word) || isRunOn(word);
}

/** `deletefile`, `dElEtEfIlE`: names without separators. Not `deleted`, `sender`, `removing`: those are not commands. */
function isRunOn(word: string): boolean {
  return /^(delete|remove|destroy|erase|purge|send|terminate|uninstall|overwrite)(?!ing|ers)[a-z]{3,}/.test(word);
}

/** The words of a camelCase name, in lower case. */
function humpsOf(part: string): string[] {
  if (part === '') return [];
  return part
    .replace(/(\p{Ll})(\p{Lu})|(\p{Lu})(?=\p{Lu}\p{Ll})/gu, '$1$3 $2')
    .toLowerCase()
    .split(' ');
}

/** `get_and_execute` has two clauses. */
function clausesOf(words: readonly string[]): readonly string[][] {
  const clauses: string[][] = [[]];
  for (const word of words) {
    if (word === 'and' || word === 'then') clauses.push([]);
    else clauses.at(-1)?.push(word);
  }
  return clauses.filter(({ length }) => length > 0);
}

function first<Item, Found>(items: readonly Item[], find: (item: Item) => Found | undefined): Found | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
