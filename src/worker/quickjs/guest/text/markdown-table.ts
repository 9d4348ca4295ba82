import { unreadable } from './failure.js';
import { rowsOf } from './rows.js';

interface Line {
  readonly text: string;
  readonly offset: number;
}

/** The rows of the only table in a text, whatever surrounds it. Undefined: there is no table. */
export function readMarkdownTable(text: string, from: number, to: number): Record<string, string>[] | undefined {
  const lines = linesOf(text, from, to);
  const starts = lines
    .flatMap((line, index) => (index > 0 && isRule(line.text) ? [index] : []))
    .filter((index) => {
      const header = cellsOf((lines[index - 1] as Line).text);
      return header.length > 1 && header.length === cellsOf((lines[index] as Line).text).length;
    });
  const [rule, second] = starts;
  if (rule === undefined) return undefined;
  if (second !== undefined) {
    const hint = 'Cut the text at an empty line between the tables, and parse each part.';
    throw unreadable(text, (lines[second - 1] as Line).offset, 'this is a second table', hint);
  }
  const header = cellsOf((lines[rule - 1] as Line).text);
  const records: string[][] = [];
  for (const { text: row, offset } of lines.slice(rule + 1)) {
    if (!row.includes('|')) break;
    const cells = cellsOf(row);
    if (cells.length > header.length)
      throw unreadable(
        text,
        offset,
        `the row has ${cells.length} cells, and the header ${header.length}`,
        'A | inside a cell has to be written as \\|: read this table with split, or ask the tool for another format.',
      );
    records.push(cells);
  }
  return rowsOf(header, records);
}

function linesOf(text: string, from: number, to: number): Line[] {
  const lines: Line[] = [];
  for (let offset = from; offset < to; ) {
    const found = text.indexOf('\n', offset);
    const end = found < 0 || found > to ? to : found;
    lines.push({ text: text.slice(offset, end).trim(), offset });
    offset = end + 1;
  }
  return lines;
}

/** `|---|:--:|`, the line under a header. */
function isRule(line: string): boolean {
  return line.includes('|') && line.includes('-') && /^[-:| \t]+$/.test(line);
}

function cellsOf(line: string): string[] {
  const cells: string[] = [];
  let cell = '';
  let at = line.startsWith('|') ? 1 : 0;
  let start = at;
  for (; at < line.length; at++) {
    if (line[at] === '\\' && line[at + 1] === '|') {
      cell += line.slice(start, at);
      start = at + 1;
      at += 1;
    } else if (line[at] === '|') {
      cells.push((cell + line.slice(start, at)).trim());
      cell = '';
      start = at + 1;
    }
  }
  const last = (cell + line.slice(start)).trim();
  // Nothing follows the last | of a line.
  if (start < line.length || cell !== '' || cells.length === 0) cells.push(last);
  return cells;
}
