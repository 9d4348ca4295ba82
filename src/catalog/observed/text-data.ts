import type { JsonObject, JsonValue } from '../../domain/json.js';

/** The format of a text, if programs have a way to parse it. Each is one letter of a stored shape. */
export const TEXT_KINDS = {
  j: 'JSON text',
  h: 'JSON under a heading',
  l: 'JSON lines',
  p: 'Python literal',
  c: 'CSV text',
  t: 'Markdown table',
  x: 'plain text',
} as const;
export type TextKind = keyof typeof TEXT_KINDS;

export interface TextData {
  readonly kind: TextKind;
  /** The data, as `parse` of `@codemode/text` reads it; only the beginning of a long text. Absent if not examined. */
  readonly value?: JsonValue;
  /** The text ends in the middle of its data. */
  readonly isCut?: true;
}

/** Longer texts are not examined. */
const MAX_CHARACTERS = 500_000;
/** Maximum number of lines or table rows to check: the others are like them. */
const MAX_LINES = 40;
const MAX_LINE_CHARACTERS = 20_000;
/** The names in a longer literal are not worth the time. */
const MAX_LITERAL_CHARACTERS = 50_000;

/** The data in an untrusted text. Nothing is executed, and the time is linear in its length. */
export function textDataOf(text: string): TextData {
  if (text.length > MAX_CHARACTERS) return PLAIN;
  const first = /^\s*([{[(])?/.exec(text.slice(0, 100))?.[1];
  if (first === undefined) return jsonUnderHeading(text) ?? tableIn(text) ?? PLAIN;
  const json = parsed(text);
  if (json !== undefined) return { kind: 'j', value: json };
  return jsonLines(text) ?? (isWhole(text, first) ? pythonLiteral(text) : cutText(text));
}

const PLAIN: TextData = { kind: 'x' };

function parsed(text: string): JsonValue | undefined {
  try {
    const value = JSON.parse(text) as JsonValue;
    return value !== null && typeof value === 'object' ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A longer heading is a text of its own. */
const MAX_HEADING_CHARACTERS = 1_000;

/** `Found 2 issues:`, followed by one JSON value to the end or in one code block. */
function jsonUnderHeading(text: string): TextData | undefined {
  const start = text.slice(0, MAX_HEADING_CHARACTERS).search(/\n[ \t]*(?:[{[]|```)/);
  if (start < 0) return undefined;
  const below = text.slice(start).trim();
  const isBlock = below.startsWith('```') && below.indexOf('```', 3) === below.length - 3;
  const value = parsed(isBlock ? below.slice(below.indexOf('\n'), -3) : below);
  return value === undefined ? undefined : { kind: 'h', value };
}

function jsonLines(text: string): TextData | undefined {
  const values: JsonValue[] = [];
  for (const line of linesOf(text)) {
    const value = parsed(line);
    if (value === undefined) return undefined;
    values.push(value);
  }
  return values.length < 2 ? undefined : { kind: 'l', value: values };
}

const CLOSING: Readonly<Record<string, string>> = { '{': '}', '[': ']', '(': ')' };

function isWhole(text: string, first: string): boolean {
  return text.trimEnd().endsWith(CLOSING[first] as string);
}

/** JSON that the server has cut starts like JSON: with a quoted name or with a value. */
function cutText(text: string): TextData {
  return /^\s*(?:\{\s*"[^"\n]{1,100}"\s*:|\[\s*(?:[{["\d-]))/.test(text.slice(0, 400))
    ? { kind: 'j', isCut: true }
    : PLAIN;
}

/** Brackets, then something that only Python writes. */
const PYTHON = /^\s*[[({][[({\s]*(?:[bru]?'|None\b|True\b|False\b|-?\d|datetime\.|Decimal\(|UUID\()/;

/** The output of `repr`. A simple one is converted to JSON for its names. Of others only the kind is known. */
function pythonLiteral(text: string): TextData {
  if (!PYTHON.test(text.slice(0, 400)) || !/'|\b(?:None|True|False)\b|^\s*\(/.test(text)) return PLAIN;
  if (text.length > MAX_LITERAL_CHARACTERS || /["\\]/.test(text)) return { kind: 'p' };
  const json = text
    .replaceAll("'", '"')
    .replaceAll(/\bNone\b/g, 'null')
    .replaceAll(/\bTrue\b/g, 'true')
    .replaceAll(/\bFalse\b/g, 'false')
    .replaceAll('(', '[')
    .replaceAll(/,?\)/g, ']');
  const value = parsed(json);
  return value === undefined ? { kind: 'p' } : { kind: 'p', value };
}

function tableIn(text: string): TextData | undefined {
  const lines = linesOf(text);
  const rule = lines.findIndex((line, index) => index > 0 && isRule(line));
  if (rule > 0) return markdownTable(lines, rule);
  return csv(lines);
}

/** `|---|:--:|`. Each test is linear in the length of the line. */
function isRule(line: string): boolean {
  return line.includes('|') && line.includes('--') && /^[-:|\s]+$/.test(line);
}

function markdownTable(lines: readonly string[], rule: number): TextData | undefined {
  const cellsOf = (line: string) =>
    line
      .replace(/^\|/, '')
      .replace(/\|$/, '')
      .split('|')
      .map((cell) => cell.trim());
  const header = cellsOf(lines[rule - 1] as string);
  if (header.length < 2 || header.length !== cellsOf(lines[rule] as string).length) return undefined;
  const records = lines
    .slice(rule + 1)
    .filter((line) => line.includes('|'))
    .map(cellsOf);
  // With two columns the line above the rule may be the first of many pairs: `| Name | Ann |`.
  return rowsWith('t', header, records, header.length > 2);
}

function csv(lines: readonly string[]): TextData | undefined {
  const [first = '', ...rest] = lines;
  const delimiter = [',', '\t', ';', '|']
    .map((each) => ({ each, count: first.split(each).length - 1 }))
    .sort((one, other) => other.count - one.count)[0];
  if (delimiter === undefined || delimiter.count === 0 || rest.length === 0) return undefined;
  const cellsOf = (line: string) => cellsIn(line, delimiter.each);
  const header = cellsOf(first);
  const records = rest.map(cellsOf);
  // A sentence with a comma is not a header.
  if (header.some((cell) => cell.length > 60 || /[.!?:]$/.test(cell) || cell.split(' ').length > 4)) return undefined;
  if (records.some(({ length }) => length !== header.length)) return undefined;
  const hasEvidence = isAboveNumbers(header, records);
  return hasEvidence || header.length > 2 || delimiter.each === '\t'
    ? rowsWith('c', header, records, false)
    : undefined;
}

/** Names are used only from a line that is certainly a header: a line of data contains data. */
function rowsWith(
  kind: TextKind,
  header: readonly string[],
  records: readonly (readonly string[])[],
  isHeader: boolean,
): TextData {
  if (!isHeader && !isAboveNumbers(header, records)) return { kind };
  return { kind, value: records.map((cells) => rowOf(header, cells)) };
}

/** Whether some column has only numbers below its first cell. From three lines on, text with a digit counts (`user-17`, `2025-01-31`). */
function isAboveNumbers(header: readonly string[], records: readonly (readonly string[])[]): boolean {
  const number = records.length < 3 ? /^-?\d+(?:\.\d+)?%?$/ : /\d/;
  return header.some(
    (cell, at) =>
      records.length > 0 && /^[A-Za-z_][^\d]*$/.test(cell) && records.every((cells) => number.test(cells[at] ?? '')),
  );
}

function rowOf(header: readonly string[], cells: readonly string[]): JsonObject {
  return Object.fromEntries(header.map((name, at) => [name, cells[at] ?? '']));
}

/** The cells of a line. A quoted line break splits a line in two, and then the text is not recognised as a table. */
function cellsIn(line: string, delimiter: string): string[] {
  const cells: string[] = [];
  let cell = '';
  let isQuoted = false;
  for (const character of line) {
    if (character === '"') isQuoted = !isQuoted;
    else if (character === delimiter && !isQuoted) {
      cells.push(cell.trim());
      cell = '';
    } else cell += character;
  }
  return [...cells, cell.trim()];
}

/** The first non-empty lines, without the last one if the text continues after it. */
function linesOf(text: string): string[] {
  const found: string[] = [];
  for (let at = 0; at < text.length && found.length < MAX_LINES; ) {
    const end = text.indexOf('\n', at);
    const line = text.slice(at, end < 0 ? text.length : end).trim();
    if (line !== '') found.push(line.slice(0, MAX_LINE_CHARACTERS));
    if (end < 0) break;
    at = end + 1;
  }
  return found;
}
