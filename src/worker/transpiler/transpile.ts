import { transformSync } from './binding.js';
import type { Failure, SourceLanguage } from '../../domain/execution.js';

export type Transpiled =
  | { readonly ok: true; readonly code: string; readonly mapJson: string }
  | { readonly ok: false; readonly failure: Failure };

const MAX_MESSAGE_CHARACTERS = 8_000;

/**
 * Strips types and nothing else. TypeScript is always assumed where it is allowed: trying plain JavaScript first is a
 * trap, since `f<number>(5)` is a comparison there.
 */
export function transpile(source: string, language: SourceLanguage): Transpiled {
  const result = transformSync('main.ts', source, {
    lang: language === 'typescript' ? 'ts' : 'js',
    sourceType: 'module',
    sourcemap: true,
    // An import that is written is an import that is made: dropping unused ones would hide a misspelt module.
    typescript: { onlyRemoveTypeImports: true },
  });
  const error = result.errors.find((each) => each.severity === 'Error');
  if (error !== undefined) {
    const label = error.labels.at(-1);
    const position = label === undefined ? undefined : positionOf(source, label.start);
    const frame = error.codeframe?.trim();
    return {
      ok: false,
      failure: {
        kind: 'syntax',
        name: 'SyntaxError',
        message: `${error.message}${frame === undefined || frame === '' ? '' : `\n${frame}`}`.slice(0, MAX_MESSAGE_CHARACTERS),
        ...(position === undefined ? {} : { position }),
        hint: hintFor(error.message) ?? error.helpMessage ?? 'Correct the source at this place and run it again.',
      },
    };
  }
  const map = result.map;
  return { ok: true, code: result.code, mapJson: map === undefined || map === null ? '' : JSON.stringify({ version: 3, sources: ['main.ts'], names: [], mappings: map.mappings }) };
}

function hintFor(message: string): string | undefined {
  if (/'return' statement/.test(message)) return 'Assign the result to globalThis.__codemode_result__ instead of returning it.';
  return undefined;
}

function positionOf(source: string, offset: number): { line: number; column: number } {
  const before = source.slice(0, offset);
  const lineStart = before.lastIndexOf('\n') + 1;
  return { line: before.split('\n').length, column: offset - lineStart + 1 };
}
