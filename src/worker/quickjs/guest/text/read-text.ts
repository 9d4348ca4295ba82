import { readCsv } from './csv.js';
import { UnreadableText, unreadable } from './failure.js';
import { LiteralReader } from './literal-reader.js';
import { readMarkdownTable } from './markdown-table.js';

/**
 * The data in a tool's text: JSON, also under a heading (`Found 3:`), JSON lines, a Python literal, CSV or a Markdown table.
 * Tables become lists of objects whose values are texts. Of a whole MCP result it is the data of each block. Any other value that
 * is not text is already data, and is returned. Throws `UnreadableText`.
 *
 * It uses the program's own built-ins: a program that patches their prototypes changes only its own results.
 */
export function readText(text: unknown): unknown {
  if (typeof text !== 'string') return dataOf(text);
  const { from, to } = boundsOf(text);
  if (from >= to) throw unreadable(text, from, 'there is nothing in it', 'Check that the tool has answered with data.');
  const json = parsedJson(text.slice(from, to));
  if (json !== undefined) return json;
  if ('{[('.includes(text[from] as string))
    return linesOfJson(text, from, to) ?? new LiteralReader(text, from, to).readAll();
  const headed = jsonUnderHeading(text, from, to);
  if (headed !== undefined) return headed;
  return readMarkdownTable(text, from, to) ?? tableOrValue(text, from, to);
}

function dataOf(value: unknown): unknown {
  if (value === undefined) throw new UnreadableText('parse was given undefined', 'Pass what the tool returned.');
  if (value instanceof Promise)
    throw new UnreadableText('parse was given a promise', 'Write: parse(await tool({ ... })).');
  return isMcpResult(value) ? value.content.map(dataOfBlock) : value;
}

interface Block {
  readonly type: string;
  readonly text?: unknown;
}

/** A document made of nodes looks alike (`{ type: 'paragraph', content: [...] }`), but has a type of its own. */
function isMcpResult(value: unknown): value is { readonly content: readonly Block[] } {
  if (typeof value !== 'object' || value === null || 'type' in value) return false;
  const { content } = value as { content?: unknown };
  return Array.isArray(content) && content.length > 0 && content.every((block) => BLOCK_TYPES.includes(block?.type));
}

const BLOCK_TYPES: readonly unknown[] = ['text', 'image', 'audio', 'resource', 'resource_link'];

/** One block of several: words beside the data stay text. */
function dataOfBlock(block: Block): unknown {
  if (block.type !== 'text' || typeof block.text !== 'string') return block;
  try {
    return readText(block.text);
  } catch (error) {
    if (error instanceof UnreadableText) return block.text;
    throw error;
  }
}

/** Without surrounding spaces, and without the fence if the whole text is one code block. */
function boundsOf(text: string): { from: number; to: number } {
  const trimmed = trimmedBounds(text, 0, text.length);
  if (!text.startsWith('```', trimmed.from) || !text.startsWith('```', trimmed.to - 3)) return trimmed;
  const firstLine = text.indexOf('\n', trimmed.from);
  const isOne = text.indexOf('```', trimmed.from + 3) === trimmed.to - 3;
  return isOne && firstLine >= 0 ? trimmedBounds(text, firstLine, trimmed.to - 3) : trimmed;
}

function trimmedBounds(text: string, start: number, end: number): { from: number; to: number } {
  let from = start;
  let to = end;
  while (from < to && isSpace(text[from] as string)) from += 1;
  while (to > from && isSpace(text[to - 1] as string)) to -= 1;
  return { from, to };
}

function isSpace(character: string): boolean {
  return ' \t\r\n\ufeff'.includes(character);
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** One value per line, parsed by the engine's own parser: ten times as fast as ours. Undefined: the lines are something else. */
function linesOfJson(text: string, from: number, to: number): unknown[] | undefined {
  const values: unknown[] = [];
  for (let at = from; at < to; ) {
    const found = text.indexOf('\n', at);
    const end = found < 0 || found > to ? to : found;
    const line = text.slice(at, end).trim();
    at = end + 1;
    if (line === '') continue;
    const value = parsedJson(line);
    if (value === undefined) return undefined;
    values.push(value);
  }
  return values;
}

/** A longer heading is a text of its own. */
const MAX_HEADING_CHARACTERS = 1_000;

/**
 * `Found 2 issues:`, followed by one JSON value to the end, or in one code block. Only if nothing follows that value: it would be
 * lost silently.
 */
function jsonUnderHeading(text: string, from: number, to: number): unknown {
  const start = text.slice(from, Math.min(to, from + MAX_HEADING_CHARACTERS)).search(/\n[ \t]*(?:[{[]|```)/);
  if (start < 0) return undefined;
  const below = boundsOf(text.slice(from + start, to));
  const value = parsedJson(text.slice(from + start + below.from, from + start + below.to));
  return typeof value === 'object' && value !== null ? value : undefined;
}

function tableOrValue(text: string, from: number, to: number): unknown {
  const rows = readCsv(text, from, to);
  if (rows !== undefined) return rows;
  if (STARTS_LIKE_A_VALUE.test(text.slice(from, from + 10))) return new LiteralReader(text, from, to).readAll();
  throw unreadable(
    text,
    from,
    'this is neither JSON, JSON lines, a Python literal, CSV nor a Markdown table',
    hintFor(text, from, to),
  );
}

/** `None`, `'text'`, `b'text'`, `datetime.date(`: Python's output for a single value. */
const STARTS_LIKE_A_VALUE = /^(?:[bru]?['"]|None$|True$|False$|datetime\.|Decimal\(|UUID\()/;

function hintFor(text: string, from: number, to: number): string {
  for (const [start, last] of ['{}', '[]'] as const) {
    const at = text.indexOf(`\n${start}`, from) + 1;
    const end = text.lastIndexOf(last as string, to) + 1;
    if (at > 0 && at < end) return `There is text around the data: try parse(text.slice(${at}, ${end})).`;
  }
  return 'It is plain text: use string methods.';
}
