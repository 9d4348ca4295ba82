import { observedResult } from '../../catalog/declarations/typescript/signature.js';

/** The observed content of a tool's text, for tools without a declared output; undefined if it is plain text. */
export function goObserved(observedType: string | undefined): string | undefined {
  const seen = observedResult(observedType);
  if (seen === undefined || observedType === 'string') return undefined;
  // These functions return a string: for a structured value, its JSON.
  return observedType?.startsWith('/**') === true ? seen : `JSON text of: ${seen}`;
}
