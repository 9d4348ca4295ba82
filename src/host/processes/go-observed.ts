import { observedResult } from '../../catalog/declarations/typescript/signature.js';

/** What the text of a tool without a declared output was seen to hold; undefined where that is just text. */
export function goObserved(observedType: string | undefined): string | undefined {
  const seen = observedResult(observedType);
  if (seen === undefined || observedType === 'string') return undefined;
  // Such functions give a string: of a structured value, its JSON.
  return observedType?.startsWith('/**') === true ? seen : `JSON text of: ${seen}`;
}
