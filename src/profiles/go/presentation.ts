import type { GuestError } from '../../domain/run.js';
import { unwrapOutcome } from '../../host/calls/unwrap.js';
import type { Presentation } from '../../host/runs/run-types.js';
import type { BrokerOutcome } from '../../host/session.js';
import { toGoError } from './go-error.js';

/** The contract's wording for events of a run: a call returns the tool's value or an error value. */
export const goPresentation: Presentation = {
  reply: (outcome) => (outcome.ok ? unwrapOutcome(withText(outcome)) : { ok: false, error: toolError(outcome) }),
  // Go programs cannot be suspended and respond with their output, so no client reads these.
  response: ({ runId }) => ({ runId }),
  suspended: ({ runId }) => ({ runId }),
};

/** A tool without a declared output returns a string here, and null is not a string: its text is used if it has one. */
function withText(outcome: Extract<BrokerOutcome, { ok: true }>): BrokerOutcome {
  const { structuredContent, ...reply } = outcome.reply;
  const hasText = reply.content.some(({ type }) => type === 'text');
  return structuredContent === null && hasText ? { ...outcome, reply } : outcome;
}

function toolError({ error, verdict }: Extract<BrokerOutcome, { ok: false }>): GuestError {
  const { approvalId } = error.fields ?? {};
  // The error text is then the tool's own, as the contract requires.
  if (verdict === 'tool_error') return { ...error, hint: '' };
  if (verdict === 'pending' && typeof approvalId === 'string')
    return {
      ...error,
      hint: `Ask the user to type: codemode approvals approve ${approvalId}. Then run the same program again, unchanged: it makes this call, once, and none of those already made.`,
    };
  if (/^ToolNotFound/.test(error.errorClass) && !/^(?:Did you mean|Call the tool)/.test(error.hint))
    return { ...error, hint: 'Look for it with searchTools(ctx, "words").' };
  return toGoError(error);
}
