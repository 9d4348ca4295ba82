import { safeSlice } from '../lib/text/safe-slice.js';

/** A list or an object that is open at a position of the text. */
interface Open {
  readonly closer: '}' | ']';
  /** Where the text may end within it: after its last complete item, or after its bracket. */
  end: number;
  hasItems: boolean;
}

/**
 * The beginning of a JSON text as valid JSON, in about `characters` characters. What does not fit is omitted whole: rows of a list,
 * keys of an object. Only a long string that comes first is shortened, with a mark. Only the used part of the text is validated.
 */
export function cutJson(json: string, characters: number): string {
  if (json.length <= characters) return json;
  const open: Open[] = [];
  let at = 0;
  while (at < characters) {
    const character = json[at] as string;
    if (character === '"') {
      const end = endOfString(json, at, characters);
      if (end === undefined) return cutAtString(json, at, characters, open);
      at = end;
      continue;
    }
    if (character === '{' || character === '[')
      open.push({ closer: character === '{' ? '}' : ']', end: at + 1, hasItems: false });
    else if (character === '}' || character === ']') {
      open.pop();
      itemEnded(open.at(-1), at + 1);
    } else if (character === ',') itemEnded(open.at(-1), at);
    at += 1;
  }
  return cutAtItem(json, open);
}

function itemEnded(level: Open | undefined, end: number): void {
  if (level === undefined) return;
  level.end = end;
  level.hasItems = true;
}

/** Omits the row that does not fit, in the outermost list with a complete row. If the first row does not fit, omits its last keys. */
function cutAtItem(json: string, open: readonly Open[]): string {
  const list = open.findIndex(({ closer, hasItems }) => closer === ']' && hasItems);
  const kept = list === -1 ? open : open.slice(0, list + 1);
  const last = kept.at(-1);
  return last === undefined ? 'null' : json.slice(0, last.end) + closersOf(kept);
}

function closersOf(open: readonly Open[]): string {
  return open
    .map(({ closer }) => closer)
    .toReversed()
    .join('');
}

/** The position after a string; undefined if that is beyond the limit. */
function endOfString(json: string, start: number, most: number): number | undefined {
  for (let at = start + 1; at < most; at += 1) {
    if (json[at] === '\\') at += 1;
    else if (json[at] === '"') return at + 1;
  }
  return undefined;
}

/** Shorter strings are names and states: a part of one reads as another value. */
const MIN_SHORTENED = 200;
const MIN_SHOWN = 40;

function cutAtString(json: string, start: number, most: number, open: readonly Open[]): string {
  const isKey = open.at(-1)?.closer === '}' && json[start - 1] !== ':';
  const isInRow = open.some(({ closer, hasItems }) => closer === ']' && hasItems);
  if (isKey || isInRow) return cutAtItem(json, open);
  const text = JSON.parse(json.slice(start, endOfString(json, start, json.length))) as string;
  const shown = safeSlice(text, most - start - 1);
  if (open.length > 0 && (text.length < MIN_SHORTENED || shown.length < MIN_SHOWN)) return cutAtItem(json, open);
  const marked = `${shown}… (${text.length - shown.length} more characters)`;
  return json.slice(0, start) + JSON.stringify(marked) + closersOf(open);
}
