import type { PartialAnswer } from '../host/calls/partial-answers.js';
import { omitUndefined } from '../lib/omit-undefined.js';
import type { ProgramWarning } from './warning.js';

const MAX_NAMED_TOOLS = 3;

/** Warns about partial answers that the program used as complete: what said that there is more, and what to pass. */
export function partialResults(answers: readonly PartialAnswer[]): ProgramWarning[] {
  const found = answers.slice(0, MAX_NAMED_TOOLS).map(partialResult);
  const more = answers.length - found.length;
  const last = found.at(-1);
  if (more === 0 || last === undefined) return found;
  const others = `${last.message}; so did ${more} more tool${more === 1 ? '' : 's'}`;
  return [...found.slice(0, -1), { ...last, message: others }];
}

function partialResult(answer: PartialAnswer): ProgramWarning {
  const { tool, field, isNext, isGuess, argument, position, call, count } = answer;
  const said = isNext ? `gave a ${field}` : `said ${field}`;
  const often = count > 1 ? ` in ${count} answers` : '';
  const as = argument === undefined ? '' : ` as \`${argument}\``;
  return {
    code: 'PARTIAL_RESULT',
    message: isGuess
      ? `${tool} gave ${field}${often}: there may be more, and the program did not ask for it`
      : `${tool} ${said}${often}, and the program did not ask for the rest`,
    hint: hintFor(isNext, as, argument),
    call,
    ...omitUndefined({ position }),
  };
}

function hintFor(isNext: boolean, as: string, argument: string | undefined): string {
  if (isNext) return `Pass it${as} to get the rest, until there is none, or say that the result is a part.`;
  const next = argument === undefined ? 'Ask for the next part' : `Call it again with another \`${argument}\``;
  return `${next}, or say that the result is a part.`;
}
