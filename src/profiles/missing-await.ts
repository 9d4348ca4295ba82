import type { LostValues, Outcome, UnawaitedCalls } from '../domain/execution.js';
import type { ProgramWarning } from './warning.js';

/** A promise in the result, and calls whose promise nothing used, with what to write. */
export function missingAwait(outcome: Outcome): ProgramWarning | undefined {
  const promises = outcome.status === 'completed' ? outcome.lost?.promises : undefined;
  const { unawaited } = outcome;
  if (promises === undefined && unawaited === undefined) return undefined;
  const position = unawaited?.calls[0]?.position;
  const said = [promises && inResult(promises), unawaited && `not awaited: ${callsOf(unawaited)}`];
  return {
    code: 'MISSING_AWAIT',
    message: said.filter((each) => each !== undefined).join('; '),
    hint: hintFor(promises, unawaited),
    ...(position === undefined ? {} : { position }),
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

function hintFor(promises: LostValues['promises'], unawaited: UnawaitedCalls | undefined): string {
  const [only, ...others] = unawaited?.calls ?? [];
  const isList = promises?.places.some((place) => /\/\d+$/.test(place)) === true || (only?.times ?? 1) > 1;
  if (isList) return 'Await the whole list: await Promise.all(list).';
  if (only === undefined || others.length > 0) return 'Write `await` in front of each call that gives a promise.';
  return `Write: await ${only.name}(...)`;
}
