import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';
import type { ToolReply } from '../../domain/upstream.js';

/** The sign in an answer that there is more. */
export interface PartialMark {
  /** As the server writes it: `next_range`, `pagination.has_more: true`. For plain text, the quoted words. */
  readonly field: string;
  /** The value to pass to the next call, if the answer has it. */
  readonly next?: JsonValue;
  /** The number of rows in the answer, if plain text states it. */
  readonly rows?: number;
  /** The answer does not say so itself: it only looks partial. */
  readonly isGuess?: true;
}

/** The first sign in an answer that the server has more. It only leads to a warning, so a doubtful sign is ignored. */
export function partialMarkOf(reply: ToolReply): PartialMark | undefined {
  const { structuredContent, content, rest } = reply;
  if (structuredContent !== undefined) return isJsonObject(structuredContent) ? markIn(structuredContent) : undefined;
  const ofResult = rest === undefined ? undefined : markIn(rest);
  if (ofResult !== undefined) return ofResult;
  const [only, ...others] = content;
  if (only?.type !== 'text' || typeof only.text !== 'string' || others.length > 0) return undefined;
  return markInText(only.text);
}

/** Longer texts are not parsed just for a warning. */
const MAX_PARSED_CHARACTERS = 500_000;
/** Most JSON has none of these words and is not parsed. */
const LIKELY = /"(?:next|has|is_?truncated|truncated)/i;

function markInText(text: string): PartialMark | undefined {
  if (!/^\s*\{/.test(text.slice(0, 100))) return wordsIn(text);
  if (text.length > MAX_PARSED_CHARACTERS || !LIKELY.test(text)) return undefined;
  try {
    return markIn(JSON.parse(text) as JsonObject);
  } catch {
    return undefined;
  }
}

/** Names without case, hyphens and underscores. Their value is passed to the next call. */
const NEXT_NAMES: ReadonlySet<string> = new Set([
  ...['nextcursor', 'nextpagetoken', 'nexttoken', 'nextrange', 'nextpage', 'nextoffset', 'nextlink', 'nextmarker'],
  ...['continuationtoken', 'nextstart', 'nextstartat', 'nextpagecursor', 'nextpageurl', 'nexturl'],
]);
const MORE_NAMES: ReadonlySet<string> = new Set([
  ...['hasmore', 'hasnext', 'hasnextpage', 'hasmorepages', 'hasmoreresults', 'truncated', 'istruncated'],
]);

/** Paging fields are at the top level, in their own object (`pagination`), or in such an object inside `result`. */
const MAX_DEPTH = 3;
const MAX_KEYS = 60;

function markIn(value: JsonObject, depth = 1, path = ''): PartialMark | undefined {
  let more: PartialMark | undefined;
  let isWhole = false;
  const inner: [string, JsonObject][] = [];
  for (const key of Object.keys(value).slice(0, MAX_KEYS)) {
    const held = value[key] as JsonValue;
    const name = key.toLowerCase().replaceAll(/[-_]/g, '');
    const field = `${path}${PLAIN_NAME.test(key) ? key : '...'}`;
    if (MORE_NAMES.has(name)) {
      if (held === true) more ??= { field: `${field}: true` };
      else if (held === false) isWhole = true;
    } else if (NEXT_NAMES.has(name) && isGiven(held)) more = { field, next: held };
    else if (isJsonObject(held) && depth < MAX_DEPTH) inner.push([`${field}.`, held]);
  }
  if (more !== undefined) {
    // `truncated: false` does not rule out further pages, but a cursor beside `has_more: false` is only an echo.
    return isWhole ? undefined : more;
  }
  for (const [prefix, object] of inner) {
    const found = markIn(object, depth + 1, prefix);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Whether an answer has a field that states whether there is more. */
export function saysWhetherMore(value: JsonObject, depth = 1): boolean {
  return Object.entries(value)
    .slice(0, MAX_KEYS)
    .some(([key, held]) => {
      const name = key.toLowerCase().replaceAll(/[-_]/g, '');
      if (MORE_NAMES.has(name) || NEXT_NAMES.has(name)) return true;
      return isJsonObject(held) && depth < MAX_DEPTH && saysWhetherMore(held, depth + 1);
    });
}

/** Names come from the server and are shown to a model: other names are not repeated. */
export const PLAIN_NAME = /^[\w.-]{1,40}$/;

/** Servers use `""`, 0, false and null to mark the last page. */
function isGiven(value: JsonValue): boolean {
  if (typeof value === 'string') return value !== '';
  if (typeof value === 'number') return value > 0;
  return isJsonObject(value) && Object.keys(value).length > 0;
}

/** Servers put such notes in the first or the last lines; the lines between are data. */
const LOOKED_AT_CHARACTERS = 300;
const COUNT = String.raw`(\d{1,9}(?:,\d{3}){0,3})`;
const WORDS = new RegExp(
  String.raw`\b(?:showing|displaying|returning|listing|returned|shows|first|results|rows|items|entries|lines|matches) (?:the )?(?:first |results |rows |items |entries |lines )?${COUNT}(?: ?(?:-|–|to) ?${COUNT})?(?: [a-z]{1,12})? (?:of|out of) ${COUNT}\b`,
  'i',
);

function wordsIn(text: string): PartialMark | undefined {
  const ends =
    text.length <= 2 * LOOKED_AT_CHARACTERS
      ? [text]
      : [text.slice(0, LOOKED_AT_CHARACTERS), text.slice(-LOOKED_AT_CHARACTERS)];
  for (const end of ends) {
    const [words, from, to, all] = WORDS.exec(end) ?? [];
    if (words === undefined || numberOf(to ?? from) >= numberOf(all)) continue;
    const rows = to === undefined ? numberOf(from) : numberOf(to) - numberOf(from) + 1;
    return { field: JSON.stringify(words), rows };
  }
  return undefined;
}

function numberOf(digits: string | undefined): number {
  return Number((digits ?? '').replaceAll(',', ''));
}
