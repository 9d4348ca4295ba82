import type { Approval } from '../domain/approval.js';
import { formatArguments, timeOf } from '../domain/format-approval.js';
import { visibleLine, visibleSentence } from '../lib/text/visible-text.js';

/** Calls that are named one by one; the user sees the rest in the list. */
const MAX_NAMED = 5;

/**
 * What an agent is told of calls that wait for a person: which, with their arguments as the approval has them, redacted, that
 * they were not sent, and until when somebody can decide. Other calls of the same run may have been sent.
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
