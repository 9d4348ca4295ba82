import type { JsonObject, JsonValue } from '../../domain/json.js';
import type { Tool } from '../../domain/tool.js';
import { PLAIN_NAME } from './partial-mark.js';

/** A word of an argument's name that makes it say which part is wanted. */
const PAGING_WORDS: ReadonlySet<string> = new Set([
  ...['cursor', 'offset', 'page', 'token', 'skip', 'limit', 'range', 'marker', 'position', 'index', 'after', 'before'],
  ...['since', 'until', 'start', 'starting', 'from', 'end', 'head', 'tail', 'first', 'last', 'count', 'size', 'top'],
  ...['take', 'max', 'n', 'row', 'rows', 'line', 'lines'],
]);
/** An id names a thing (`page_id`), unless it is a position to continue from (`after_id`). */
const FROM_WORDS: ReadonlySet<string> = new Set(['after', 'before', 'since', 'start', 'starting', 'last']);

/** What is asked about, without the part of it that is wanted: the same for all pages. */
export function subjectOf(args: JsonObject): readonly (readonly [string, JsonValue])[] {
  return Object.entries(args)
    .filter(([name]) => !isPaging(name))
    .map(([name, value]) =>
      typeof value === 'string' && PAGED_TEXT.test(value) ? [name, withoutPage(value)] : [name, value],
    );
}

/** SQL and addresses have their pages inside. */
const PAGED_TEXT = /\b(?:limit|offset|fetch|page|rowid|id *>)/i;

function withoutPage(text: string): string {
  return text
    .replaceAll(/\boffset \d{1,12}/gi, '')
    .replaceAll(/\d{1,12}/g, '#')
    .trim();
}

/** Every call asks about the same few names. */
const known = new Map<string, boolean>();
const MAX_KNOWN = 1_000;

function isPaging(name: string): boolean {
  const before = known.get(name);
  if (before !== undefined) return before;
  const words = wordsOf(name);
  const isOne = words.some((word) => (words.at(-1) === 'id' ? FROM_WORDS : PAGING_WORDS).has(word));
  if (name.length > MAX_NAME_CHARACTERS) return isOne;
  if (known.size >= MAX_KNOWN) known.clear();
  known.set(name, isOne);
  return isOne;
}

/** The argument whose name is most like the field of an answer: `range` for `next_range`, `cursor` for `nextCursor`. */
export function argumentFor({ inputSchema }: Tool, field: string, isNext: boolean): string | undefined {
  const properties = inputSchema?.properties;
  if (properties === null || typeof properties !== 'object' || Array.isArray(properties)) return undefined;
  const names = Object.keys(properties)
    .slice(0, MAX_NAMES)
    .filter((name) => PLAIN_NAME.test(name));
  if (isNext) {
    const wanted = wordsOf(field.slice(field.lastIndexOf('.') + 1)).filter((word) => word !== 'next');
    const [last] = wanted.slice(-1);
    const alike = names.find((name) => wordsOf(name).join() === wanted.join());
    const close = alike ?? names.find((name) => last !== undefined && wordsOf(name).includes(last));
    if (close !== undefined) return close;
  }
  return names.find((name) => wordsOf(name).some((word) => GOING_ON.has(word))) ?? names.find(isPaging);
}

const MAX_NAMES = 100;
const GOING_ON: ReadonlySet<string> = new Set(['cursor', 'offset', 'skip', 'page', 'after', 'start', 'range']);
const MAX_NAME_CHARACTERS = 80;

/** `pageToken`, `page_token` and `page-token` are the same words. */
function wordsOf(name: string): string[] {
  return name
    .slice(0, MAX_NAME_CHARACTERS)
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((word) => word !== '');
}
