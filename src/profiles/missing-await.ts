import type { LostValues, Outcome, UnawaitedCalls } from '../domain/run.js';
import { omitUndefined } from '../lib/omit-undefined.js';
import type { ProgramWarning } from './warning.js';

/**
 * Warns about a promise in the result, calls whose promise nothing used, and a result that was set before the answers came, with
 * what to write.
 */
export function missingAwait(outcome: Outcome): ProgramWarning | undefined {
  const promises = outcome.status === 'completed' ? outcome.lost?.promises : undefined;
  const stillOpen = outcome.status === 'completed' && promises === undefined ? outcome.stillOpen : undefined;
  const { unawaited } = outcome;
  if (promises === undefined && unawaited === undefined && stillOpen === undefined) return undefined;
  const position = (unawaited ?? stillOpen)?.calls[0]?.position;
  const said = [
    promises && inResult(promises),
    unawaited && `not awaited: ${callsOf(unawaited)}`,
    stillOpen && `\`result\` was made before the answer of ${callsOf(stillOpen)}${waitedFor(stillOpen, unawaited)}`,
  ];
  return {
    code: 'MISSING_AWAIT',
    message: said.filter((each) => each !== undefined).join('; '),
    hint: hintFor(promises, unawaited, stillOpen),
    ...omitUndefined({ position }),
  };
}

function inResult({ count, places }: NonNullable<LostValues['promises']>): string {
  if (count === 1) return places[0] === '' ? '`result` is a promise' : `\`result\` has a promise at ${places[0]}`;
  return `\`result\` has ${count} promises (${places.join(', ')}${count > places.length ? ', ...' : ''})`;
}

function callsOf({ count, calls }: UnawaitedCalls): string {
  const told = calls.map(({ name, times, position }) => {
    const place = position === undefined ? '' : ` at line ${position.line}`;
    return `${name}(...)${place}${times === 1 ? '' : `, ${times} times`}`;
  });
  const more = count - calls.reduce((sum, { times }) => sum + times, 0);
  return `${told.join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
}

/** One open call may be the loser of a race that the program made itself. It cannot be distinguished from a forgotten `await`. */
function waitedFor(stillOpen: UnawaitedCalls, unawaited: UnawaitedCalls | undefined): string {
  return stillOpen.count === 1 && unawaited === undefined
    ? '; the run waited for it (not for losers of Promise.race and Promise.any)'
    : '';
}

function hintFor(
  promises: LostValues['promises'],
  unawaited: UnawaitedCalls | undefined,
  stillOpen: UnawaitedCalls | undefined,
): string {
  const [only, ...others] = unawaited?.calls ?? [];
  const isList = promises?.places.some((place) => /\/\d+$/.test(place)) === true || (only?.times ?? 1) > 1;
  // The call itself is awaited, but not the function around it: forEach and filter do not wait for an async function.
  if (stillOpen !== undefined && unawaited === undefined && stillOpen.count === 1)
    return 'Await it before the result is made.';
  if (stillOpen !== undefined && unawaited === undefined)
    return 'Await what makes the calls: await Promise.all(list.map(async (item) => ...)); forEach and filter do not wait.';
  if (isList) return 'Await the whole list: await Promise.all(list).';
  if (only === undefined || others.length > 0) return 'Write `await` in front of each call that gives a promise.';
  return `Write: await ${only.name}(...)`;
}
