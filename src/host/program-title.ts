/**
 * One line of a program by which a person knows it again in a list: the first that is neither an import nor a comment.
 * Imports are alike in most programs; what is done with them is not.
 *
 * This looks at lines and understands no language: the host never parses what an agent wrote. Where it is fooled, the
 * list shows a less useful line.
 */
export function programTitle(source: string): string {
  // A program of megabytes is not searched: what it does shows near its beginning or not at all.
  const lines = source.slice(0, MAX_SEARCHED).split('\n', MAX_LINES);
  const title = firstTelling(lines) ?? lines.find((line) => line.trim() !== '') ?? '';
  const text = title.trim().replace(/\s+/g, ' ');
  return text.length <= MAX_TITLE ? text : `${text.slice(0, MAX_TITLE - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

const MAX_SEARCHED = 8_192;
const MAX_LINES = 200;
/** Enough for a wide terminal; what is stored of every run stays small. */
const MAX_TITLE = 120;

const COMMENT = /^(\/\/|#)/;
/** `from x import y` is Python, `package main` is Go, and Python's imports look like ours without the quotes. */
const IMPORT = /^(import\b(?!\s*\()|from\s+\S+\s+import\b|package\s+\w+\s*$|["']use strict["'];?\s*$|export\s+\{\s*\})/;

/** Something that goes on over the following lines, and what ends it. */
const BLOCKS: readonly (readonly [start: RegExp, end: RegExp])[] = [
  [/^\/\*/, /\*\//],
  [/^"""/, /"""/],
  [/^import\s*\(\s*$/, /^\)/],
  [/^import\s[^'"]*\{[^}]*$/, /\}/],
  [/^from\s+\S+\s+import\s*\([^)]*$/, /\)/],
];

function firstTelling(lines: readonly string[]): string | undefined {
  let until: RegExp | undefined;
  for (const line of lines) {
    const text = line.trim();
    if (until !== undefined) {
      if (until.test(text)) until = undefined;
      continue;
    }
    if (text === '') continue;
    const block = BLOCKS.find(([start]) => start.test(text));
    if (block !== undefined) {
      // It may end on the line on which it starts.
      if (!block[1].test(text.slice(2))) until = block[1];
      continue;
    }
    if (!COMMENT.test(text) && !IMPORT.test(text)) return text;
  }
  return undefined;
}
