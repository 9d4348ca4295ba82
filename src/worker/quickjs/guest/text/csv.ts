import { unreadable } from './failure.js';
import { rowsOf } from './rows.js';

const DELIMITERS = [',', '\t', ';', '|'] as const;

interface CsvRecord {
  readonly cells: readonly string[];
  readonly offset: number;
}

/** Rows under a header, with cells separated by commas, tabs, semicolons or bars. Undefined: the first line is not a header. */
export function readCsv(text: string, from: number, to: number): Record<string, string>[] | undefined {
  const delimiter = delimiterOf(text, from, to);
  if (delimiter === undefined) return undefined;
  const [header, ...records] = recordsOf(text, from, to, delimiter);
  if (header === undefined || records.length === 0 || !isHeader(header.cells)) return undefined;
  const odd = records.find(({ cells }) => cells.length !== header.cells.length);
  if (odd !== undefined) {
    const counts = `the row has ${odd.cells.length} cells, and the header ${header.cells.length}`;
    const hint = 'If this is a table, correct the row before you parse it; if it is plain text, use string methods.';
    throw unreadable(text, odd.offset, counts, hint);
  }
  const rows = records.map(({ cells }) => cells);
  return rowsOf(header.cells, rows);
}

/** The most frequent delimiter of the first line, outside quotes. Undefined: it has none, is too long, or is the only line. */
function delimiterOf(text: string, from: number, to: number): string | undefined {
  const counts = new Map<string, number>();
  const last = Math.min(to, from + MAX_HEADER_CHARACTERS);
  let isQuoted = false;
  let at = from;
  for (; at < last; at++) {
    const character = text[at] as string;
    if (character === '"') isQuoted = !isQuoted;
    else if (isQuoted) continue;
    else if (character === '\n') break;
    else counts.set(character, (counts.get(character) ?? 0) + 1);
  }
  if (at === last) return undefined;
  const found = DELIMITERS.filter((each) => counts.has(each));
  return found.sort((first, second) => (counts.get(second) as number) - (counts.get(first) as number))[0];
}

const MAX_HEADER_CHARACTERS = 20_000;
const MAX_NAME_CHARACTERS = 80;
const MAX_NAME_WORDS = 6;

function isHeader(cells: readonly string[]): boolean {
  return cells.every(isName) && cells.filter((cell) => cell !== '').length * 2 > cells.length;
}

/** A sentence with a comma is not a header. */
function isName(cell: string): boolean {
  const name = cell.trim();
  return name.length <= MAX_NAME_CHARACTERS && !/[.!?:]$/.test(name) && name.split(' ').length <= MAX_NAME_WORDS;
}

function recordsOf(text: string, from: number, to: number, delimiter: string): CsvRecord[] {
  const records: CsvRecord[] = [];
  let at = from;
  while (at < to) {
    const offset = at;
    const cells: string[] = [];
    for (;;) {
      const cell = text[at] === '"' ? quotedCell(text, at, to) : plainCell(text, at, to, delimiter);
      cells.push(cell.value);
      at = cell.end;
      if (text[at] === '\r') at += 1;
      if (at >= to || text[at] === '\n') break;
      if (text[at] !== delimiter)
        throw unreadable(text, at, 'something follows after the closing quote', 'Write a quote inside quotes twice.');
      at += 1;
    }
    at += 1;
    if (cells.length > 1 || cells[0] !== '') records.push({ cells, offset });
  }
  return records;
}

function plainCell(text: string, from: number, to: number, delimiter: string): { value: string; end: number } {
  let end = from;
  while (end < to && text[end] !== delimiter && text[end] !== '\n') end += 1;
  const hasReturn = text[end] === '\n' && text[end - 1] === '\r' && end > from;
  return { value: text.slice(from, hasReturn ? end - 1 : end), end };
}

function quotedCell(text: string, from: number, to: number): { value: string; end: number } {
  const parts: string[] = [];
  let at = from + 1;
  for (;;) {
    const quote = text.indexOf('"', at);
    if (quote < 0 || quote >= to)
      throw unreadable(
        text,
        from,
        'the quote is never closed',
        'The server has probably cut its answer: ask it for less at once.',
      );
    parts.push(text.slice(at, quote));
    if (text[quote + 1] !== '"') return { value: parts.join(''), end: quote + 1 };
    parts.push('"');
    at = quote + 2;
  }
}
