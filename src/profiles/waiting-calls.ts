import type { Approval } from '../domain/approval.js';
import { formatArguments, timeOf } from '../domain/format-approval.js';
import { visibleLine, visibleSentence } from '../lib/text/visible-text.js';

/** The most calls listed by name. The user sees the rest in the list. */
const MAX_NAMED = 5;

/**
 * The message about calls that wait for a person: which calls, with their redacted arguments, that they were not sent, and until
 * when they can be decided. Other calls of the same run may have been sent.
 */
export function waitingCalls(approvals: readonly Approval[]): string {
  const named = approvals
    .slice(0, MAX_NAMED)
    .map(
      (approval) =>
        `${visibleLine(`${approval.tool.serverId}/${approval.tool.toolName}`)} ${formatArguments(approval)} (${visibleSentence(approval.reason)})`,
    );
  const more = approvals.length - named.length;
  const isOne = approvals.length === 1;
  const count = isOne ? 'a call' : `${approvals.length} calls`;
  const notSent = isOne ? 'This call was not sent yet' : 'These calls were not sent yet';
  const deadline = timeOf(Math.min(...approvals.map(({ expiresAtMs }) => expiresAtMs)));
  return `${count}: ${named.join('; ')}${more > 0 ? `; and ${more} more` : ''}. ${notSent}; without a decision by ${deadline} ${isOne ? 'it is' : 'they are'} refused`;
}
