import type { SourcePosition } from '../../domain/run.js';
import type { ReadScript } from '../transpiler/read-script.js';
import { positionIn } from '../transpiler/transpile.js';

type Script = Extract<ReadScript, { ok: true }>;

/**
 * The code that the engine evaluates. On the first line of a script the engine counts columns from 0 for some operations and from
 * 1 for others. On all other lines it counts correctly, so the first line is empty. `#!` is a comment on the first line only, and
 * takes all of it.
 */
export function codeOfScript({ code }: Script): string {
  return `${'\n'.repeat(linesBefore(code))}${code}`;
}

function linesBefore(code: string): 0 | 1 {
  return code.startsWith('#!') ? 0 : 1;
}

/** Maps a position in the evaluated code to the same position before the edits. */
export function placeInScript({ code, printed, edits }: Script, { line, column }: SourcePosition): SourcePosition {
  const lineStart = startOfLine(code, line - linesBefore(code));
  if (lineStart === undefined) return { line, column };
  // The engine counts bytes, and an editor counts characters.
  const bytes = Buffer.from(code.slice(lineStart, endOfLine(code, lineStart)), 'utf8');
  let offset = lineStart + bytes.subarray(0, column - 1).toString('utf8').length;
  for (const { at, removed, inserted, means } of edits) {
    // The text before this point is unchanged, so both count alike up to this edit.
    if (offset < at) break;
    if (offset < at + inserted.length) {
      offset = means;
      break;
    }
    offset += removed - inserted.length;
  }
  return positionIn(printed, Math.min(offset, printed.length));
}

function startOfLine(code: string, line: number): number | undefined {
  if (line < 1) return undefined;
  let start = 0;
  for (let at = 1; at < line; at++) {
    const end = code.indexOf('\n', start);
    if (end < 0) return undefined;
    start = end + 1;
  }
  return start;
}

function endOfLine(code: string, start: number): number {
  const end = code.indexOf('\n', start);
  return end < 0 ? code.length : end;
}
