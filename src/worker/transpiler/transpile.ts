import type { Failure, SourceLanguage, SourcePosition } from '../../domain/execution.js';
import { HARMLESS_SOURCE_BYTES } from '../../domain/limits.js';
import type { TransformError } from './binding.js';
import { transformSync } from './binding.js';
import { nestingOf } from './nesting.js';

export type Transpiled =
  | { readonly ok: true; readonly code: string; readonly mapJson: string }
  | { readonly ok: false; readonly failure: Failure };

const MAX_MESSAGE_CHARACTERS = 8_000;
const EXCERPT_CHARACTERS = 160;
/** No program is nested like this; at the longest source it keeps what the parser writes below some hundred megabytes. */
const MAX_NESTING = 1_000;

/**
 * Strips types and nothing else. TypeScript is always assumed where it is allowed: trying plain JavaScript first is a
 * trap, since `f<number>(5)` is a comparison there.
 */
export function transpile(
  source: string,
  language: SourceLanguage,
  resultName = 'globalThis.__codemode_result__',
): Transpiled {
  // A short source is not worth a look: the square of its length is small.
  if (source.length > HARMLESS_SOURCE_BYTES && nestingOf(source) > MAX_NESTING) return { ok: false, failure: TOO_DEEP };
  const result = transformSync('main.ts', source, {
    lang: language === 'typescript' ? 'ts' : 'js',
    sourceType: 'module',
    sourcemap: true,
    // An import that is written is an import that is made: dropping unused ones would hide a misspelt module.
    typescript: { onlyRemoveTypeImports: true },
  });
  const error = result.errors.find((each) => each.severity === 'Error');
  if (error !== undefined) return { ok: false, failure: failureOf(error, source, resultName) };
  const map = result.map;
  return {
    ok: true,
    code: result.code,
    mapJson:
      map === undefined || map === null
        ? ''
        : JSON.stringify({ version: 3, sources: ['main.ts'], names: [], mappings: map.mappings }),
  };
}

const TOO_DEEP: Failure = {
  kind: 'syntax',
  name: 'SyntaxError',
  message: `the source is nested too deeply: at most ${MAX_NESTING} levels can be read`,
  hint: 'Flatten deeply nested parentheses, brackets or expressions.',
};

function failureOf(error: TransformError, source: string, resultName: string): Failure {
  const label = error.labels.at(-1);
  const position = label === undefined ? undefined : positionOf(source, label.start);
  return {
    kind: 'syntax',
    name: 'SyntaxError',
    message: `${error.message}${position === undefined ? '' : excerpt(source, position)}`.slice(
      0,
      MAX_MESSAGE_CHARACTERS,
    ),
    ...(position === undefined ? {} : { position }),
    hint:
      hintFor(error.message, resultName) ?? error.helpMessage ?? 'Correct the source at this place and run it again.',
  };
}

function hintFor(message: string, resultName: string): string | undefined {
  if (/'return' statement/.test(message)) return `Assign the result to ${resultName} instead of returning it.`;
  return undefined;
}

/** The parser counts bytes; people and editors count characters. */
function positionOf(source: string, byteOffset: number): SourcePosition {
  const before = Buffer.from(source, 'utf8').subarray(0, byteOffset).toString('utf8');
  return { line: before.split('\n').length, column: before.length - before.lastIndexOf('\n') };
}

/** The line in question with a mark under the place. */
function excerpt(source: string, { line, column }: SourcePosition): string {
  const text = source.split('\n')[line - 1] ?? '';
  const start = Math.max(0, column - EXCERPT_CHARACTERS / 2);
  const shown = text.slice(start, start + EXCERPT_CHARACTERS).replaceAll('\t', ' ');
  return `\n${line} | ${shown}\n${' '.repeat(String(line).length)} | ${' '.repeat(column - 1 - start)}^`;
}
