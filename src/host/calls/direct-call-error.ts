import { GENERAL_HINTS } from '../../domain/general-hints.js';
import type { GuestError } from '../../domain/run.js';

/**
 * Call errors address a program: its functions, its timers, running it again. A client that calls a tool itself has none of these.
 * It can call again, later or with other arguments, and read the list of tools.
 */
export function toDirectCallError(error: GuestError): GuestError {
  return { ...error, message: said(error.message, MESSAGES), hint: said(error.hint, HINTS) };
}

type Words = readonly (readonly [RegExp, string])[];

const HINTS: Words = [
  [/^Run the program again to ask once more\.$/, 'Make the same call again to ask once more.'],
  [/^Run the program again: it gets the tool as it is now\.$/, 'Ask for tools/list, then make the call again.'],
  [
    /^Wait, then call again: await new Promise\(.*setTimeout\(resolve, (\d+)\)\)\.$/,
    'Wait $1 ms, then make the same call again.',
  ],
  [
    /^Look the tool up with getTool\(\) and correct the input\.$/,
    'Correct the arguments: tools/list has the input schema.',
  ],
  [/^Stop: further calls are refused too\. The request .*$/, 'Send the request again with a new token.'],
  [/^The run has ended or was cancelled\.$/, 'Make the call again if it is still needed.'],
  // The message already says this.
  [new RegExp(`^${GENERAL_HINTS.toolError}$`), ''],
  [new RegExp(`^${GENERAL_HINTS.serverError}$`), ''],
];

const MESSAGES: Words = [
  [/ Example: [^({]{0,200}\((\{[\s\S]*\})\)$/, ' Example arguments: $1'],
  [/^the authorization of this run has expired/, 'the authorization of this request has expired'],
];

function said(text: string, words: Words): string {
  return words.reduce((before, [from, to]) => before.replace(from, to), text);
}
