import type { LostValues, Outcome } from '../domain/run.js';
import type { ProgramWarning } from './warning.js';

/** Values in a result that JSON cannot represent, with their paths. */
export interface LostInResult extends ProgramWarning {
  /** Only `undefined`, which most programs mean to omit. */
  readonly isUsual: boolean;
}

/** JSON writes these as null, as {}, or omits them. */
export function lostInResult(outcome: Outcome): LostInResult | undefined {
  const lost: LostValues | undefined = outcome.status === 'completed' ? outcome.lost : undefined;
  if (lost === undefined || lost.count === 0) return undefined;
  const { count, places } = lost;
  const more = count - places.length;
  return {
    code: 'RESULT_NOT_JSON',
    message: `\`result\` had what JSON cannot hold: ${places.join(', ')}${more > 0 ? ` and ${more} more` : ''}; sent as null or {}, or left out`,
    hint: 'Return a string, a number or null there.',
    isUsual: places.every((place) => place.startsWith('undefined ')),
  };
}
