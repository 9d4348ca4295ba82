/**
 * One line of a program by which a person recognises it in a list: the first that awaits something, else the first that is neither
 * an import nor a comment. Imports and empty lists are alike in most programs; calls are not. Comments say what a program is meant
 * to do, but a person who decides about a call needs to read what it does.
 *
 * This works on lines and knows no language: the host never parses what an agent wrote. If it is fooled, the list shows a less
 * useful line.
 */
export function programTitle(source: string): string {
  const beginning = source.slice(0, MAX_SEARCHED);
  const title = firstTelling(beginning) ?? beginning.trimStart().split('\n', 1)[0] ?? '';
  const text = title.trim().replace(RESULT, '').replace(/\s+/g, ' ');
  return text.length <= MAX_TITLE ? text : `${text.slice(0, MAX_TITLE - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** A program of megabytes is not searched: its purpose shows near the beginning or not at all. */
const MAX_SEARCHED = 8_192;
/** Enough for a wide terminal, and small enough to store with every run. */
const MAX_TITLE = 120;

/** The assignment of the result is not informative. */
const RESULT = /^globalThis\.__codemode_result__\s*=\s*(?=\S)/;
const COMMENT = /^(\/\/|#)/;
const CALL = /\bawait\s+[\w$.]+\(/;
/** The number of lines after the first that are searched for an `await`. */
const MAX_LINES = 30;
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

/** Line by line, up to the first informative line: every run passes here, and most have it in their first lines. */
function firstTelling(source: string): string | undefined {
  let until: RegExp | undefined;
  let first: string | undefined;
  let lines = 0;
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
      // It may end on its first line.
      if (!block[1].test(text.slice(2))) until = block[1];
      continue;
    }
    if (COMMENT.test(text) || IMPORT.test(text)) continue;
    if (CALL.test(text)) return text;
    first ??= text;
    lines += 1;
    if (lines >= MAX_LINES) break;
  }
  return first;
}

/** Most lines match none of these. */
const MAY_START_BLOCK = /^(\/\*|"""|import\b|from\b)/;
