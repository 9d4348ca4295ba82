/**
 * One line of a program by which a person knows it again in a list: the first that is neither an import nor a comment.
 * Imports are alike in most programs; what is done with them is not.
 *
 * This looks at lines and understands no language: the host never parses what an agent wrote. Where it is fooled, the
 * list shows a less useful line.
 */
export function programTitle(source: string): string {
  const beginning = source.slice(0, MAX_SEARCHED);
  const title = firstTelling(beginning) ?? beginning.trimStart().split('\n', 1)[0] ?? '';
  const text = title.trim().replace(/\s+/g, ' ');
  return text.length <= MAX_TITLE ? text : `${text.slice(0, MAX_TITLE - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** A program of megabytes is not searched: what it does shows near its beginning or not at all. */
const MAX_SEARCHED = 8_192;
/** Enough for a wide terminal; what is stored of every run stays small. */
const MAX_TITLE = 120;

const COMMENT = /^(\/\/|#)/;
/** `from x import y` is Python, `package main` is Go, and Python's imports look like ours without the quotes. */
const IMPORT = /^(import\b(?!\s*\()|from\s+\S+\s+import\b|package\s+\w+\s*$|["']use strict["'];?\s*$|export\s+\{\s*\})/;

/** A construct that spans the following lines, and what ends it. */
const BLOCKS: readonly (readonly [start: RegExp, end: RegExp])[] = [
  [/^\/\*/, /\*\//],
  [/^"""/, /"""/],
  [/^import\s*\(\s*$/, /^\)/],
  [/^import\s[^'"]*\{[^}]*$/, /\}/],
  [/^from\s+\S+\s+import\s*\([^)]*$/, /\)/],
];

/** Line by line, up to the first that tells something: every run passes here, and most say it in their first lines. */
function firstTelling(source: string): string | undefined {
  let until: RegExp | undefined;
  for (let start = 0; start < source.length; ) {
    const end = source.indexOf('\n', start);
    const stop = end === -1 ? source.length : end;
    const text = source.slice(start, stop).trim();
    start = stop + 1;
    if (until !== undefined) {
      if (until.test(text)) until = undefined;
      continue;
    }
    if (text === '') continue;
    const block = MAY_START_BLOCK.test(text) ? BLOCKS.find(([opening]) => opening.test(text)) : undefined;
    if (block !== undefined) {
      // It may end on the line on which it starts.
      if (!block[1].test(text.slice(2))) until = block[1];
      continue;
    }
    if (!COMMENT.test(text) && !IMPORT.test(text)) return text;
  }
  return undefined;
}

/** Most lines are none of these. */
const MAY_START_BLOCK = /^(\/\*|"""|import\b|from\b)/;
