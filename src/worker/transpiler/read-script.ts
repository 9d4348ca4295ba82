import type { Failure, SourceLanguage } from '../../domain/run.js';
import { transformSync } from './binding.js';
import { explainSyntax } from './explain-syntax.js';
import { loadSecondParser } from './load-second-parser.js';
import type { Edit } from './top-level-returns.js';
import { errorsOf, failureOf, isTooDeep, mapOf, positionIn, syntaxFailure, TOO_DEEP } from './transpile.js';

/** A script as the engine gets it. `mapJson` maps `printed`; `edits` lead from there to `code`. */
export type ReadScript =
  | {
      readonly ok: true;
      readonly code: string;
      readonly printed: string;
      readonly edits: readonly Edit[];
      readonly mapJson: string;
    }
  | { readonly ok: false; readonly failure: Failure };

/**
 * Reads a classic script. JavaScript runs exactly as its author wrote it; the parser only checks that it is valid. Its value is
 * the engine's completion value, so only a `return` at the top level is changed.
 */
export function readScript(source: string, language: SourceLanguage): ReadScript {
  if (isTooDeep(source)) return { ok: false, failure: TOO_DEEP };
  const isTypeScript = language === 'typescript';
  const result = transformSync('main.ts', source, {
    lang: isTypeScript ? 'ts' : 'js',
    sourceType: isFullOfReturns(source) ? 'commonjs' : 'script',
    sourcemap: isTypeScript,
    typescript: { onlyRemoveTypeImports: true },
  });
  const errors = errorsOf(result);
  const error = errors.find(({ message }) => message !== RETURN_AT_THE_TOP);
  if (error !== undefined) {
    if (!isTypeScript && isTypeScriptOnly(source))
      return { ok: false, failure: failureOf(error, source, TYPESCRIPT_HINT) };
    return { ok: false, failure: explainSyntax(failureOf(error, source, hintFor(error.message)), source, 'script') };
  }
  const printed = isTypeScript ? withoutModuleMark(result.code) : source;
  const mapJson = mapOf(result);
  if (errors.length === 0 && !isFullOfReturns(source)) return { ok: true, code: printed, printed, edits: [], mapJson };
  try {
    return { ok: true, ...loadSecondParser().withoutTopLevelReturns(printed), printed, mapJson };
  } catch (thrown) {
    return { ok: false, failure: failureOfSecondParser(thrown, source, isTypeScript) };
  }
}

/**
 * Decided by the same parser: types are the reason more often than a mistake. Without its types, the source must be a script: an
 * `import` of more than types is not allowed in a script in either language.
 */
function isTypeScriptOnly(source: string): boolean {
  if (isFullOfReturns(source)) return false;
  const read = (text: string, lang: 'ts' | 'js') => {
    const typescript = { onlyRemoveTypeImports: true };
    const result = transformSync('main.ts', text, { lang, sourceType: 'script', sourcemap: false, typescript });
    return errorsOf(result).every(({ message }) => message === RETURN_AT_THE_TOP) ? result.code : undefined;
  };
  const withoutTypes = read(source, 'ts');
  return withoutTypes !== undefined && read(withoutModuleMark(withoutTypes), 'js') !== undefined;
}

const TYPESCRIPT_HINT = 'This is TypeScript: set `language` to "typescript".';

/** Removes the module marker that the parser adds if the only imports and exports were of types. It is not valid in a script. */
function withoutModuleMark(code: string): string {
  return code.replace(/(?:^|\n)export \{\};\n?$/, '\n');
}

/** The message of the pinned parser; a test checks it. */
const RETURN_AT_THE_TOP = "A 'return' statement can only be used within a function body.";

/**
 * The parser prints the line of each `return` that it reports: for thirty thousand on one line it writes gigabytes. A source with
 * this many is read with top-level returns allowed, and the second parser finds them.
 */
const MANY_RETURNS = 64;

function isFullOfReturns(source: string): boolean {
  let at = -1;
  for (let seen = 0; seen <= MANY_RETURNS; seen++) {
    at = source.indexOf('return', at + 1);
    if (at < 0) return false;
  }
  return true;
}

/** The second parser only gets sources that the first one has accepted: they differ on the newest syntax, and on depth. */
function failureOfSecondParser(thrown: unknown, source: string, isTypeScript: boolean): Failure {
  if (thrown instanceof RangeError) return TOO_DEEP;
  const { message, pos } = thrown as { message?: unknown; pos?: unknown };
  const position = typeof pos === 'number' && !isTypeScript ? positionIn(source, pos) : undefined;
  const said = typeof message === 'string' ? message.replace(/ \(\d+:\d+\)$/, '') : 'the source could not be parsed';
  return syntaxFailure(said, source, position, 'Put the code into a function, or remove the top-level `return`.');
}

function hintFor(message: string): string | undefined {
  if (/^`?(?:for )?await`? /.test(message))
    return 'Leave `await` out: calls of tools block until they are answered. Promises of your own need an async function; one that is the value is awaited.';
  if (/\b(?:import|export)\b/.test(message)) return 'A script has no modules: call tools through its global functions.';
  return undefined;
}
