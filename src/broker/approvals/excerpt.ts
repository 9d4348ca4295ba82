import type { SourcePosition } from '../../domain/run.js';
import { safeSlice } from '../../lib/text/safe-slice.js';

const CONTEXT_LINES = 3;
const MAX_LINES = 40;
const MAX_LINE_CHARACTERS = 200;

/**
 * The part of a program that a person should see before approving, under a line that says how far it can be relied on.
 *
 * `places` are the positions from the stack of the call, marked with `>`. The program controls its own stack: it can choose
 * function names that look like other places. So every line that names the tool is shown too, marked or not: a false mark adds
 * a line and hides none. The person approves the arguments, not the code.
 *
 * Empty for a direct call, which has no program.
 */
export function excerptOf(source: string, exportName: string, places: readonly SourcePosition[] = []): string {
  if (source === '') return '';
  const lines = source.split('\n');
  const called = places.map(({ line }) => line - 1).filter((index) => index >= 0 && index < lines.length);
  const named = namedLines(lines, exportName);
  const shown = new Set<number>();
  // The places of the call come first, so that they are kept if there is not room for all.
  for (const index of [...called, ...named])
    for (let near = index - CONTEXT_LINES; near <= index + CONTEXT_LINES; near++)
      if (near >= 0 && near < lines.length && shown.size < MAX_LINES) shown.add(near);
  const hidden = named.filter((index) => !shown.has(index)).length;
  const width = String(lines.length).length;
  return [
    headOf(lines, exportName, called, named),
    ...[...shown]
      .sort((left, right) => left - right)
      .map((index) => {
        const mark = called.includes(index) ? '>' : ' ';
        return `${mark} ${String(index + 1).padStart(width)} | ${cut(lines[index] as string)}`;
      }),
    ...(hidden === 0 ? [] : [`  ${' '.repeat(width)} | ... and ${hidden} more lines that name it`]),
  ].join('\n');
}

function cut(line: string): string {
  if (line.length <= MAX_LINE_CHARACTERS) return line;
  const begin = safeSlice(line, MAX_LINE_CHARACTERS);
  return `${begin}… ${line.length - begin.length} more characters of this line`;
}

function headOf(
  lines: readonly string[],
  exportName: string,
  called: readonly number[],
  named: readonly number[],
): string {
  const [innermost] = called;
  if (innermost !== undefined) {
    const isNamed = wordOf(exportName).test(lines[innermost] as string);
    return `called at line ${innermost + 1}${isNamed ? '' : `, which does not name ${exportName}`}`;
  }
  if (named.length === 0) return `the call is not visible in the source under its name, ${exportName}`;
  if (named.length === 1) return `where it was called is not known; one line names ${exportName}`;
  return `where it was called is not known; ${named.length} lines name ${exportName}`;
}

/** Lines with the name as its own word. A line that only imports the name does not use it. */
function namedLines(lines: readonly string[], exportName: string): number[] {
  const word = wordOf(exportName);
  let isInList = false;
  return lines.flatMap((line, index) => {
    const text = line.trim();
    const isImport = isInList || IMPORT.test(text);
    isInList = isImport && !text.includes('}') && (isInList || text.endsWith('{'));
    return word.test(line) && !(isImport && isNothingElse(text)) ? [index] : [];
  });
}

/** Each part is tested separately: one regular expression over a whole untrusted line could take forever. */
const IMPORT = /^import\b/;

/** A line that only imports the name. With `as` it is shown, because a person finds the other name there. */
function isNothingElse(text: string): boolean {
  const end = text.indexOf(';');
  return (end < 0 || end === text.length - 1) && !text.includes('(') && !/\bas\b/.test(text);
}

function wordOf(name: string): RegExp {
  return new RegExp(`(?<![\\w$])${name.replace(/[^\w]/g, '\\$&')}(?![\\w$])`);
}
