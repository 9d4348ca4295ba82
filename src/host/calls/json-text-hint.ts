import type { Outcome } from '../../domain/run.js';

/** The start of a JSON string that contains an object or a list. */
const JSON_TEXT = /^"(?:\\n|\s){0,10}[[{]/;
const PARSES = /\bJSON\s*\.\s*parse\b|@codemode\/text/;

/** Whether a program got text that looks like JSON and may have expected the parsed value. */
export function isJsonText(replyJson: string | Uint8Array): boolean {
  return typeof replyJson === 'string' && JSON_TEXT.test(replyJson.slice(0, 40));
}

/** A program that uses JSON text as if it were parsed fails with a TypeError. The hint names the tools and how to parse the text. */
export function withJsonTextHint(outcome: Outcome, source: string, tools: ReadonlySet<string>): Outcome {
  if (outcome.status !== 'failed' || tools.size === 0 || PARSES.test(source)) return outcome;
  const { failure } = outcome;
  if (failure.name !== 'TypeError' || failure.hint !== undefined) return outcome;
  const returns = tools.size === 1 ? 'returns' : 'return';
  const hint = `${[...tools].join(' and ')} ${returns} JSON text: parse it with: import { parse } from '@codemode/text'`;
  return { ...outcome, failure: { ...failure, hint } };
}

/** `listTools` gives a list, `searchTools` an object with one: agents take the second for the first. */
export function withSearchHint(outcome: Outcome, source: string): Outcome {
  if (outcome.status !== 'failed' || !/\bsearchTools\s*\(/.test(source)) return outcome;
  const { failure } = outcome;
  const isMeant = failure.name === 'TypeError' && failure.hint === undefined && LIST_METHOD.test(failure.message);
  if (!isMeant || /\bresults\b/.test(source)) return outcome;
  const hint = 'searchTools gives { query, results }: write (await searchTools(...)).results';
  return { ...outcome, failure: { ...failure, hint } };
}

const LIST_METHOD =
  /\b(?:map|filter|find|flatMap|slice|some|every|forEach|reduce|join|at)(?:'|`)? is not a function$|not iterable$/;
