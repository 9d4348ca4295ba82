import type { Approval } from '../domain/approval.js';
import { safeSlice } from '../lib/safe-slice.js';
import { visibleJson, visibleLine, visibleSentence } from '../lib/visible-text.js';

/** Calls that are named one by one; the user sees the rest in the list. */
const MAX_NAMED = 5;
export const MAX_ARGUMENT_CHARACTERS = 160;

/**
 * What an agent is told of calls that wait for a person: which, with their arguments as the approval has them, redacted, that
 * they were not sent, and until when somebody can decide. Other calls of the same run may have been sent.
 */
export function waitingCalls(approvals: readonly Approval[]): string {
  const named = approvals
    .slice(0, MAX_NAMED)
    .map(
      ({ tool, arguments: given, reason }) =>
        `${visibleLine(`${tool.serverId}/${tool.toolName}`)} ${shown(given)} (${visibleSentence(reason)})`,
    );
  const more = approvals.length - named.length;
  const isOne = approvals.length === 1;
  const count = isOne ? 'a call' : `${approvals.length} calls`;
  const notSent = isOne ? 'This call was not sent yet' : 'These calls were not sent yet';
  const deadline = timeOf(Math.min(...approvals.map(({ expiresAtMs }) => expiresAtMs)));
  return `${count}: ${named.join('; ')}${more > 0 ? `; and ${more} more` : ''}. ${notSent}; without a decision by ${deadline} ${isOne ? 'it is' : 'they are'} refused`;
}

/** In UTC, to the second. */
export function timeOf(ms: number): string {
  return Number.isFinite(ms) ? new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z') : 'its end';
}

function shown(given: Approval['arguments']): string {
  const text = visibleJson(given);
  if (text.length <= MAX_ARGUMENT_CHARACTERS) return text;
  const begin = safeSlice(text, MAX_ARGUMENT_CHARACTERS);
  return `${begin}… (${text.length - begin.length} more characters)`;
}
