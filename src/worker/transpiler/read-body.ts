import type { BodyForm, SourceLanguage, SourcePosition } from '../../domain/run.js';
import { transformSync } from './binding.js';
import { OF_BODIES } from './explain-syntax.js';
import { errorsOf, isTooDeep, mapOf, positionOf, syntaxFailure, TOO_DEEP, type Transpiled } from './transpile.js';

/**
 * Reads the body of an async function, in which `return` and `await` are both valid. It is read inside our own function, which
 * starts on a line above it, in a module that imports what it may use.
 *
 * An extra brace can end that function early. That gives the author nothing: the rest runs in the same module, with the same
 * names, and is the author's own code either way.
 */
export function readBody(
  source: string,
  language: SourceLanguage,
  { module, names }: Pick<BodyForm, 'module' | 'names'>,
): Transpiled {
  if (isTooDeep(source)) return { ok: false, failure: TOO_DEEP };
  const imports = names.length === 0 ? '' : `import { ${names.join(', ')} } from ${JSON.stringify(module)}; `;
  const before = `${imports}globalThis.__codemode_result__ = await (async () => {\n`;
  const whole = `${before}${source}\n})();`;
  const read = (lang: 'ts' | 'js') =>
    transformSync('main.ts', whole, {
      lang,
      sourceType: 'module',
      sourcemap: true,
      typescript: { onlyRemoveTypeImports: true },
    });
  const result = read(language === 'typescript' ? 'ts' : 'js');
  const error = errorsOf(result)[0];
  if (error === undefined)
    return { ok: true, code: result.code, mapJson: mapOf(result, { before: 1, count: source.split('\n').length }) };
  // The last of several labels is where the error was noticed. A label before the source is in our own code and says nothing.
  const label = error.labels.filter(({ start }) => start >= before.length).at(-1);
  const position = label === undefined ? undefined : placeIn(source, positionOf(whole, label.start));
  const isTypeScript = language === 'javascript' && errorsOf(read('ts')).length === 0;
  const hint = hintFor(error.message) ?? (isTypeScript ? TYPESCRIPT_HINT : undefined);
  return { ok: false, failure: syntaxFailure(error.message, source, position, hint) };
}

const TYPESCRIPT_HINT = 'This is TypeScript: leave out `typescript: false`.';

/** Something missing is reported at the end of the source, not on our line after it. */
function placeIn(source: string, { line, column }: SourcePosition): SourcePosition {
  const lines = source.split('\n');
  const last = lines.at(-1) ?? '';
  return line - 1 > lines.length ? { line: lines.length, column: last.length + 1 } : { line: line - 1, column };
}

function hintFor(message: string): string | undefined {
  return /\b(?:import|export)\b/.test(message) ? OF_BODIES.hint : undefined;
}
