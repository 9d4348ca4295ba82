import type { Failure } from '../../domain/run.js';

/**
 * Explains a failure of the engine's parser in the author's terms. The parser that strips types knows more syntax than the engine,
 * which then stops at a token that says nothing about the reason.
 */
export function explainSyntax(failure: Failure, source: string, form: 'module' | 'script' | 'body'): Failure {
  const { kind, position } = failure;
  if (kind !== 'syntax' || position === undefined) return failure;
  const line = source.split('\n')[position.line - 1] ?? '';
  const here = line.slice(position.column - 1);
  // Outside a module the engine may stop at the token after the keyword.
  const ofModules = form !== 'module' && STATEMENT_OF_MODULES.test(line) ? OF_MODULES[form] : undefined;
  const found = ofModules ?? EXPLAINED.find(({ sign, of }) => sign.test(here) && (of === undefined || of === form));
  return found === undefined ? failure : { ...failure, message: found.message, hint: found.hint };
}

const OF_SCRIPTS = {
  message: 'import and export are not supported here',
  hint: 'Leave out the statement: tools are called through global functions. `import type` and `export type` are allowed.',
};

const EXPLAINED = [
  {
    sign: /^@/,
    of: undefined,
    message: 'decorators are not supported here',
    hint: 'Call the decorator as a function: const Service = decorate(class { ... }).',
  },
  { sign: /^(?:import|export)\b/, of: 'script', ...OF_SCRIPTS },
] as const;

const STATEMENT_OF_MODULES = /^\s*(?:import\b(?!\s*[(.])|export\b)/;

/** The message about `import` and `export` in a function body, whichever parser finds them. */
export const OF_BODIES = {
  message: 'import and export are not supported here',
  hint: 'This is the body of a function: it imports nothing. Tools are functions of `mcp`, and `return` gives the result.',
};

const OF_MODULES = { script: OF_SCRIPTS, body: OF_BODIES };
