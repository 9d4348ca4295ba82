import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';
import type { Tool } from '../../domain/tool.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { PLAIN_NAME } from './partial-mark.js';

/** Words in an argument's name that mark it as a paging argument. */
const PAGING_WORDS: ReadonlySet<string> = new Set([
  ...['cursor', 'offset', 'page', 'token', 'skip', 'limit', 'range', 'marker', 'position', 'index', 'after', 'before'],
  ...['since', 'until', 'start', 'starting', 'from', 'end', 'head', 'tail', 'first', 'last', 'count', 'size', 'top'],
  ...['take', 'max', 'n', 'row', 'rows', 'line', 'lines'],
]);
/** An id names an object (`page_id`), unless it is a position to continue from (`after_id`). */
const FROM_WORDS: ReadonlySet<string> = new Set(['after', 'before', 'since', 'start', 'starting', 'last']);

/** The arguments without paging: the same for all pages of one query. */
export function subjectOf(args: JsonObject): readonly (readonly [string, JsonValue])[] {
  return Object.entries(args)
    .filter(([name]) => !isPaging(name))
    .map(([name, value]) =>
      typeof value === 'string' && PAGED_TEXT.test(value) ? [name, withoutPage(value)] : [name, value],
    );
}

/** SQL and URLs contain their paging inside the text. */
const PAGED_TEXT = /\b(?:limit|offset|fetch|page|rowid|id *>)/i;

function withoutPage(text: string): string {
  return text
    .replaceAll(/\boffset \d{1,12}/gi, '')
    .replaceAll(/\d{1,12}/g, '#')
    .trim();
}

/** Cached: every call asks about the same few names. */
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

/** The argument whose name best matches a field of the answer: `range` for `next_range`, `cursor` for `nextCursor`. */
export function argumentFor(tool: Tool, field: string, isNext: boolean): string | undefined {
  const names = namesOf(tool);
  if (isNext) {
    const wanted = wordsOf(field.slice(field.lastIndexOf('.') + 1)).filter((word) => word !== 'next');
    const [last] = wanted.slice(-1);
    const alike = names.find((name) => wordsOf(name).join() === wanted.join());
    const close = alike ?? names.find((name) => last !== undefined && wordsOf(name).includes(last));
    if (close !== undefined) return close;
  }
  return nextArgumentOf(tool) ?? names.find(isPaging);
}

/** The paging arguments of a tool, and its default page size. */
interface PagingArguments {
  readonly next?: string;
  readonly limit?: string;
  readonly size?: number;
}

const pagingOfTools = new WeakMap<Tool, PagingArguments>();

/** Cached: every call of a tool needs it. */
function pagingOf(tool: Tool): PagingArguments {
  const before = pagingOfTools.get(tool);
  if (before !== undefined) return before;
  const names = namesOf(tool);
  const next = names.find(isNextName);
  const limit = names.find((name) => LIMIT_NAMES.has(wordsOf(name).join('')));
  const size = limit === undefined ? undefined : defaultOf(propertiesOf(tool)[limit]);
  const found = {
    ...omitUndefined({ next, limit, size }),
  };
  pagingOfTools.set(tool, found);
  return found;
}

/** The argument that requests the next part: a page, an offset, a cursor. */
export function nextArgumentOf(tool: Tool): string | undefined {
  return pagingOf(tool).next;
}

/** The number of rows a call asks for: the given limit, or else the tool's default. */
export function limitOf(tool: Tool, args: JsonObject): { readonly size?: number; readonly isGiven: boolean } {
  const { limit, size } = pagingOf(tool);
  const given = limit === undefined ? undefined : args[limit];
  if (given !== undefined) return typeof given === 'number' ? { size: given, isGiven: true } : { isGiven: true };
  return size === undefined ? { isGiven: false } : { size, isGiven: false };
}

/** `perPage`, `page_size` and `pageId` do not select a page. */
function isNextName(name: string): boolean {
  const words = wordsOf(name);
  return words.some((word) => GOING_ON.has(word)) && !words.some((word) => NO_PAGE.has(word));
}

function defaultOf(schema: JsonValue | undefined): number | undefined {
  const { default: byDefault, description } = isJsonObject(schema) ? schema : {};
  if (typeof byDefault === 'number') return byDefault;
  const inWords = typeof description === 'string' ? DEFAULT_IN_WORDS.exec(description.slice(0, 500))?.[1] : undefined;
  return inWords === undefined ? undefined : Number(inWords);
}

const LIMIT_NAMES: ReadonlySet<string> = new Set([
  ...['limit', 'perpage', 'pagesize', 'maxresults', 'maxcount', 'top', 'first', 'take', 'count', 'size', 'pagelength'],
  ...['maxitems', 'numresults', 'n'],
]);
/** As in signatures: `default: 10`, `defaults to 10`. */
const DEFAULT_IN_WORDS = /\bdefaults?(?: value)?(?: to| is| of)?\s?[:=]?\s?\(?(\d{1,6})\b(?![.,]?\d)/i;

function propertiesOf({ inputSchema }: Tool): JsonObject {
  const properties = inputSchema?.properties;
  return isJsonObject(properties) ? properties : {};
}

function namesOf(tool: Tool): string[] {
  return Object.keys(propertiesOf(tool))
    .slice(0, MAX_NAMES)
    .filter((name) => PLAIN_NAME.test(name));
}

const MAX_NAMES = 100;
const GOING_ON: ReadonlySet<string> = new Set(['cursor', 'offset', 'skip', 'page', 'after', 'start', 'range']);
const NO_PAGE: ReadonlySet<string> = new Set(['per', 'size', 'id', 'ids', 'date', 'time', 'limit', 'all', 'pages']);
const MAX_NAME_CHARACTERS = 80;

/** Splits a name into words: `pageToken`, `page_token` and `page-token` give the same words. */
function wordsOf(name: string): string[] {
  return name
    .slice(0, MAX_NAME_CHARACTERS)
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((word) => word !== '');
}
