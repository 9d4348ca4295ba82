import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';
import type { Tool } from '../../domain/tool.js';
import type { ToolReply } from '../../domain/upstream.js';
import { limitOf, nextArgumentOf } from './paging-arguments.js';
import { type PartialMark, saysWhetherMore } from './partial-mark.js';

/**
 * Detects an answer with exactly as many rows as a page of its tool, or with fewer rows than the total it states. Many servers give
 * no other sign that there is more. Applies only if the program left the page size to the tool or asked for many rows.
 */
export function fullPageOf(tool: Tool, args: JsonObject, reply: ToolReply): PartialMark | undefined {
  const next = nextArgumentOf(tool);
  const limit = limitOf(tool, args);
  if ((next === undefined && limit.size === undefined) || (next !== undefined && args[next] !== undefined))
    return undefined;
  const value = dataIn(reply);
  const rows = value === undefined ? undefined : rowsIn(value);
  if (value === undefined || rows === undefined || rows === 0) return undefined;
  if (isJsonObject(value)) {
    if (saysWhetherMore(value)) return undefined;
    const total = totalIn(value);
    if (total !== undefined) return total.count > rows ? { field: `${total.name}: ${total.count}` } : undefined;
  }
  const isFull = limit.size === undefined ? USUAL_PAGES.has(rows) : rows === limit.size;
  if (!isFull || (limit.isGiven && rows < LEAST_GIVEN)) return undefined;
  return { field: `${rows} rows, a full page`, isGuess: true };
}

/**
 * A few rows that the program asked for, all of them, from the first: it has what it wanted, even if the server has more. Of a
 * large page, or a later one, that is not certain.
 */
export function isWhatWasAskedFor(tool: Tool, args: JsonObject, reply: ToolReply, mark: PartialMark): boolean {
  const next = nextArgumentOf(tool);
  const { size, isGiven } = limitOf(tool, args);
  if (!isGiven || size === undefined || size >= LEAST_GIVEN || !isFirst(next === undefined ? undefined : args[next]))
    return false;
  const value = mark.rows === undefined ? dataIn(reply) : undefined;
  const rows = mark.rows ?? (value === undefined ? undefined : rowsIn(value));
  return rows !== undefined && rows >= size;
}

/** Pages are counted from 0 or 1. */
function isFirst(start: JsonValue | undefined): boolean {
  return start === undefined || start === null || start === 0 || start === 1;
}

/** For tools that do not state their page size. */
const USUAL_PAGES: ReadonlySet<number> = new Set([10, 20, 25, 30, 50, 100, 200, 250, 500, 1_000]);
/** A program that asks for five rows wants five; one that asks for a hundred wants all. */
const LEAST_GIVEN = 50;
/** Longer texts are not parsed just for a warning. */
const MAX_PARSED_CHARACTERS = 200_000;

function dataIn({ structuredContent, content }: ToolReply): JsonValue | undefined {
  if (structuredContent !== undefined) return structuredContent;
  const [only, ...others] = content;
  if (only?.type !== 'text' || typeof only.text !== 'string' || others.length > 0) return undefined;
  const { text } = only;
  if (text.length > MAX_PARSED_CHARACTERS || !/^\s*[{[]/.test(text.slice(0, 100))) return undefined;
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

/** The length of the answer's only list, or of the answer if it is a list. */
function rowsIn(value: JsonValue): number | undefined {
  if (Array.isArray(value)) return value.length;
  if (!isJsonObject(value)) return undefined;
  const [only, ...others] = Object.values(value).filter(Array.isArray);
  return only === undefined || others.length > 0 ? undefined : only.length;
}

/** `total` alone may be an amount of money. */
const TOTAL_NAMES = /^total_?(?:count|results|items|hits|records|rows|matches)$/i;

function totalIn(value: JsonObject): { readonly name: string; readonly count: number } | undefined {
  for (const [name, held] of Object.entries(value))
    if (typeof held === 'number' && TOTAL_NAMES.test(name)) return { name, count: held };
  return undefined;
}
