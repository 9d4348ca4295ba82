import type { GuestError } from '../../domain/run.js';

/** Rewords an error for Go programs: the shared errors show calls in JavaScript. */
export function toGoError(error: GuestError): GuestError {
  const message = error.message.replace(EXAMPLE, '');
  const [, hint] = HINTS.find(([words]) => words.test(error.hint)) ?? [undefined, error.hint];
  return { ...error, message, hint };
}

/** `Example: get_user({"username":"text"}).`, the last sentence of an input error. */
const EXAMPLE = /\.? Example: [\s\S]*$/;

const DESCRIBE = 'Print describeTools(ctx, "name") to see its types.';

const HINTS: readonly (readonly [RegExp, string])[] = [
  [/getTool\(\)|look the tool up/, `Change the input. ${DESCRIBE}`],
  [/@codemode\/discovery|searchTools\(\)/, 'Look for it with searchTools(ctx, "words").'],
  [/limits\.maxToolCalls/, 'Ask for more in one call (filters, larger pages).'],
  [/one object with/, `Pass the input struct of the function, or a map. ${DESCRIBE}`],
  [/\/workspace\//, 'Call tools through their functions, or callTool.'],
];
