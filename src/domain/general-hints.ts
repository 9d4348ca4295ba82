/**
 * Every error of a contract has a hint. Where nothing is known that its message does not say, it is one of these, and the
 * answer leaves it out: a model pays for each word.
 */
export const GENERAL_HINTS = {
  error: 'Read the message, correct the program and run it again.',
  toolError: 'Read the message, change the input and call again.',
  serverError: 'Read the message: the input is perhaps not at fault.',
} as const;

/** Whether a hint says more than that something is to be corrected. */
export function isAdvice(hint: string | undefined): hint is string {
  return hint !== undefined && hint !== '' && !Object.values<string>(GENERAL_HINTS).includes(hint);
}
