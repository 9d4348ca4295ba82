import type { Failure } from '../../domain/execution.js';

/**
 * A failure of the engine's parser in the author's terms: types are stripped by a parser that knows more syntax than the
 * engine does, and the engine then stops at a sign that says nothing about why.
 */
export function explainSyntax(failure: Failure, source: string, isScript: boolean): Failure {
  const { kind, position } = failure;
  if (kind !== 'syntax' || position === undefined) return failure;
  const line = source.split('\n')[position.line - 1] ?? '';
  const here = line.slice(position.column - 1);
  const found = EXPLAINED.find(({ sign, isOfScripts }) => sign.test(here) && (isScript || !isOfScripts));
  return found === undefined ? failure : { ...failure, message: found.message, hint: found.hint };
}

const EXPLAINED = [
  {
    sign: /^@/,
    isOfScripts: false,
    message: 'decorators are not supported here',
    hint: 'Call the decorator as a function: const Service = decorate(class { ... }).',
  },
  {
    sign: /^(?:import|export)\b/,
    isOfScripts: true,
    message: 'import and export are not supported here',
    hint: 'Leave out the statement: tools are called through global functions. `import type` and `export type` are allowed.',
  },
] as const;
