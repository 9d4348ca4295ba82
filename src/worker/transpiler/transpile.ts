import { HARMLESS_SOURCE_BYTES } from '../../domain/limits.js';
import type { Failure, SourceLanguage, SourcePosition } from '../../domain/run.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { AUTHORS_LINES, type AuthorsLines } from './authors-lines.js';
import type { TransformError, TransformResult } from './binding.js';
import { transformSync } from './binding.js';
import { loadSecondParser } from './load-second-parser.js';
import { nestingOf } from './nesting.js';

export type Transpiled =
  | { readonly ok: true; readonly code: string; readonly mapJson: string }
  | { readonly ok: false; readonly failure: Failure };

const MAX_MESSAGE_CHARACTERS = 8_000;
const EXCERPT_CHARACTERS = 160;
/** No real program is nested this deeply. For the longest source it keeps the parser's output below some hundred megabytes. */
const MAX_NESTING = 1_000;

/**
 * Strips types and nothing else. TypeScript is assumed if it is allowed: trying plain JavaScript first is a trap, since
 * `f<number>(5)` is a comparison there. A source is read as JavaScript only if it is valid JavaScript and compares variables in a
 * way that TypeScript reads as a list of types.
 */
export function transpile(
  source: string,
  language: SourceLanguage,
  resultName = 'globalThis.__codemode_result__',
): Transpiled {
  if (isTooDeep(source)) return { ok: false, failure: TOO_DEEP };
  const isTypeScript = language === 'typescript' && !isPlainJavaScript(source);
  const result = transformSync('main.ts', source, {
    lang: isTypeScript ? 'ts' : 'js',
    sourceType: 'module',
    sourcemap: true,
    // Every written import is kept: dropping unused ones would hide a misspelt module.
    typescript: { onlyRemoveTypeImports: true },
  });
  const error = errorsOf(result)[0];
  if (error !== undefined) return { ok: false, failure: failureOf(error, source, hintFor(error.message, resultName)) };
  return { ok: true, code: result.code, mapJson: mapOf(result) };
}

/**
 * `a < b, c > (d)` or `a < b > (d)`, with brackets that do not nest: rare enough to parse such a source twice. `f<string>(x)` is not,
 * and nobody compares three values to one that is called `string`.
 */
const LOOKS_LIKE_TYPES =
  /[\w$)\]]\s*<(?:[^<>;{}=]{0,200},[^<>;{}=]{0,200}|(?!\s*(?:any|bigint|boolean|never|number|object|string|symbol|unknown|void)\b)[^<>;{}=,]{1,200})>\s*\(/;

function isPlainJavaScript(source: string): boolean {
  if (!LOOKS_LIKE_TYPES.test(source)) return false;
  const result = transformSync('main.ts', source, {
    lang: 'js',
    sourceType: 'module',
    sourcemap: false,
    typescript: { onlyRemoveTypeImports: true },
  });
  if (errorsOf(result).length > 0) return false;
  try {
    return loadSecondParser().comparesVariables(source);
  } catch {
    // The newest syntax, which the second parser does not know: the source is read as TypeScript.
    return false;
  }
}

/** Whether a source would crash a parser. A short one is not checked: the square of its length is small. */
export function isTooDeep(source: string): boolean {
  return source.length > HARMLESS_SOURCE_BYTES && nestingOf(source) > MAX_NESTING;
}

export function errorsOf({ errors }: TransformResult): TransformError[] {
  return errors.filter((each) => each.severity === 'Error');
}

/** The source map as stored with a program; empty if there is none. `lines`: the author's lines, if not all are. */
export function mapOf({ map }: TransformResult, lines?: AuthorsLines): string {
  if (map === undefined || map === null) return '';
  const ours = omitUndefined({ [AUTHORS_LINES]: lines });
  return JSON.stringify({ version: 3, sources: ['main.ts'], names: [], mappings: map.mappings, ...ours });
}

export const TOO_DEEP: Failure = {
  kind: 'syntax',
  name: 'SyntaxError',
  message: `the source is nested too deeply: at most ${MAX_NESTING} levels can be read`,
  hint: 'Flatten deeply nested parentheses, brackets or expressions.',
};

export function failureOf(error: TransformError, source: string, hint: string | undefined): Failure {
  const label = error.labels.at(-1);
  const position = label === undefined ? undefined : positionOf(source, label.start);
  return syntaxFailure(error.message, source, position, hint ?? error.helpMessage ?? undefined);
}

export function syntaxFailure(
  message: string,
  source: string,
  position: SourcePosition | undefined,
  hint?: string,
): Failure {
  const shown = `${message}${position === undefined ? '' : excerpt(source, position)}`;
  return {
    kind: 'syntax',
    name: 'SyntaxError',
    message: shown.slice(0, MAX_MESSAGE_CHARACTERS),
    ...omitUndefined({ position, hint }),
  };
}

function hintFor(message: string, resultName: string): string | undefined {
  if (/'return' statement/.test(message)) return `Assign the result to ${resultName} instead of returning it.`;
  return undefined;
}

/** The parser counts bytes; people and editors count characters. */
export function positionOf(source: string, byteOffset: number): SourcePosition {
  return positionIn(source, Buffer.from(source, 'utf8').subarray(0, byteOffset).toString('utf8').length);
}

export function positionIn(source: string, offset: number): SourcePosition {
  const before = source.slice(0, offset);
  return { line: before.split('\n').length, column: before.length - before.lastIndexOf('\n') };
}

/** The source line with a marker under the position. */
function excerpt(source: string, { line, column }: SourcePosition): string {
  const text = source.split('\n')[line - 1] ?? '';
  const start = Math.max(0, column - EXCERPT_CHARACTERS / 2);
  const shown = text.slice(start, start + EXCERPT_CHARACTERS).replaceAll('\t', ' ');
  return `\n${line} | ${shown}\n${' '.repeat(String(line).length)} | ${' '.repeat(column - 1 - start)}^`;
}
