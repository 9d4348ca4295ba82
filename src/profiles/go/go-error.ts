import type { GuestError } from '../../domain/run.js';

/** What is shared by all contracts speaks of JavaScript where it shows a call. Here it is said for programs in Go. */
export function toGoError(error: GuestError): GuestError {
  const message = error.message.replace(EXAMPLE, '');
  const [, hint] = HINTS.find(([words]) => words.test(error.hint)) ?? [undefined, error.hint];
  return { ...error, message, hint };
}

/** `Example: get_user({"username":"text"}).`, the last sentence of what is wrong with an input. */
const EXAMPLE = /\.? Example: [\s\S]*$/;

const DESCRIBE = 'Print describeTools(ctx, "name") to see its types.';

const HINTS: readonly (readonly [RegExp, string])[] = [
  [/getTool\(\)|look the tool up/, `Change the input. ${DESCRIBE}`],
  [/@codemode\/discovery|searchTools\(\)/, 'Look for it with searchTools(ctx, "words").'],
  [/limits\.maxToolCalls/, 'Ask for more in one call (filters, larger pages).'],
  [/one object with/, `Pass the input struct of the function, or a map. ${DESCRIBE}`],
  [/\/workspace\//, 'Call tools through their functions, or callTool.'],
];
