/**
 * Every error of a contract has a hint. If there is nothing to add to the message, the hint is one of these, and the answer
 * omits it: a model pays for each word.
 */
export const GENERAL_HINTS = {
  error: 'Correct the program as the message says.',
  toolError: 'Change the input as the message says.',
  serverError: 'Read the message: the input may not be at fault.',
} as const;

/** Whether a hint is more than one of the general hints. */
export function isAdvice(hint: string | undefined): hint is string {
  return hint !== undefined && hint !== '' && !Object.values<string>(GENERAL_HINTS).includes(hint);
}
