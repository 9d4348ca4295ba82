import { parse as parseToml } from 'smol-toml';

export interface TomlTable {
  readonly path: readonly string[];
  /** From the comments right above its header to the next table. */
  readonly start: number;
  readonly end: number;
}

/** The positions of the tables of a TOML text. A parser has already accepted the text. */
export function tablesOf(text: string): TomlTable[] {
  const headers = headersOf(text);
  return headers.map(({ start, path }, index) => ({ path, start, end: headers[index + 1]?.start ?? text.length }));
}

function headersOf(text: string): { start: number; path: string[] }[] {
  const headers: { start: number; path: string[] }[] = [];
  let depth = 0;
  let isLineStart = true;
  for (let at = 0; at < text.length; ) {
    if (isLineStart && depth === 0) {
      const header = /^[ \t\ufeff]*(\[[^\n]*)/.exec(text.slice(at, lineEnd(text, at)));
      if (header?.[1] !== undefined) {
        headers.push({ start: withCommentsAbove(text, at), path: pathOf(header[1]) });
        at = lineEnd(text, at);
        continue;
      }
    }
    const character = text[at] ?? '';
    isLineStart = character === '\n';
    if (character === '#') at = lineEnd(text, at);
    else if (character === '"' || character === "'") at = stringEnd(text, at, character);
    else {
      if (character === '[' || character === '{') depth++;
      if (character === ']' || character === '}') depth--;
      at++;
    }
  }
  return headers;
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end < 0 ? text.length : end;
}

function stringEnd(text: string, at: number, quote: string): number {
  const delimiter = text.startsWith(quote.repeat(3), at) ? quote.repeat(3) : quote;
  let end = at + delimiter.length;
  while (end < text.length && !text.startsWith(delimiter, end)) end += quote === '"' && text[end] === '\\' ? 2 : 1;
  end += delimiter.length;
  // Up to two quotes may precede the closing ones, as part of the string.
  while (delimiter.length === 3 && text[end] === quote) end++;
  return end;
}

function withCommentsAbove(text: string, at: number): number {
  let start = at;
  while (start > 0) {
    const above = text.lastIndexOf('\n', start - 2) + 1;
    if (!text.slice(above, start).trimStart().startsWith('#')) break;
    start = above;
  }
  return start;
}

/** The parser handles quoted names: `[a."b c"]` alone is a map in a map. */
function pathOf(header: string): string[] {
  const path: string[] = [];
  let table: unknown = parseToml(header);
  for (;;) {
    if (Array.isArray(table)) table = table[0];
    const [step] = Object.entries((table ?? {}) as Record<string, unknown>);
    if (step === undefined) return path;
    path.push(step[0]);
    table = step[1];
  }
}
