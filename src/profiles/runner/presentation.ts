import type { CallVerdict } from '../../domain/audit.js';
import type { GuestError } from '../../domain/execution.js';
import type { JsonObject, JsonValue } from '../../domain/json.js';
import type { ToolReply } from '../../domain/upstream.js';
import type { Presentation } from '../../host/run.js';
import { RETRYABLE_TYPES } from '../../host/self-correction.js';
import type { BrokerOutcome } from '../../host/session.js';
import { fullResult } from '../../host/unwrap.js';

/** The contract's words for what happens during a run: calls give the MCP result, or raise a `ToolError`. */
export const runnerPresentation: Presentation = {
  reply: (outcome) =>
    outcome.ok ? { ok: true, json: resultJson(outcome.reply) } : { ok: false, error: toolError(outcome) },
  // Programs on real interpreters are answered by envelopes, and cannot be put away: nobody is told these.
  response: ({ runId }) => ({ run_id: runId }),
  sleeping: ({ runId }) => ({ run_id: runId }),
};

function resultJson(reply: ToolReply): string {
  const { structuredContent, structuredJson } = reply;
  const structured =
    structuredJson ?? (structuredContent === undefined ? undefined : JSON.stringify(structuredContent));
  const meta = reply.meta === undefined ? {} : { _meta: reply.meta };
  const rest = JSON.stringify({ content: reply.content, ...fullResult(reply), ...meta });
  // Made text once, by whoever looked at it last; it may be large.
  return structured === undefined ? rest : `{"structuredContent":${structured},${rest.slice(1)}`;
}

const TYPES = {
  tool_error: 'ToolError',
  invalid_arguments: 'InvalidArguments',
  invalid_output: 'InvalidOutput',
  pending: 'ApprovalRequired',
  denied: 'Denied',
  limited: 'RateLimit',
  unauthorized: 'AuthenticationRequired',
  timeout: 'Timeout',
  not_sent: 'TransientNetwork',
  // It may have taken effect: blindly doing it again is how things are paid twice.
  outcome_unknown: 'OutcomeUnknown',
  sent: 'OutcomeUnknown',
  cancelled: 'Cancelled',
  refused: 'ProtocolError',
  invalid_reply: 'ProtocolError',
  failed: 'ToolError',
  ok: 'ToolError',
} as const satisfies Record<CallVerdict, string>;

/** What a program on a real interpreter asks for the schema of a tool. */
const GET_DEFINITION = 'Look the tool up with getToolDefinition (Python: get_tool_definition) and correct the input.';

function toolError(outcome: Extract<BrokerOutcome, { ok: false }>): GuestError {
  const { error, verdict, reply } = outcome;
  const type = typeOf(error, verdict);
  const retryable = RETRYABLE_TYPES.some((each) => each === type);
  const fields: Record<string, JsonValue> = {
    ...error.fields,
    retryable,
    ...(reply === undefined ? {} : { result: JSON.parse(resultJson(reply)) as JsonObject }),
  };
  const asked = type === 'ApprovalRequired' && typeof fields.approvalId === 'string' ? fields.approvalId : undefined;
  const hint = error.hint.includes('getTool()') ? GET_DEFINITION : error.hint;
  if (asked === undefined) return { ...error, errorClass: type, hint, fields };
  // Another run is another question, so the yes has to reach further than this one.
  const command = `codemode approvals approve ${asked} --scope hour`;
  const message = `${error.message}. Ask the user to type: ${command}`;
  return { errorClass: type, message, hint: `Ask the user to type: ${command}. Then run the program again.`, fields };
}

function typeOf({ errorClass, fields }: GuestError, verdict: CallVerdict | undefined): string {
  if (fields?.limit === 'maxToolCalls') return 'CallLimit';
  if (fields?.authorizationExpired === true) return 'AuthenticationRequired';
  // The broker has looked: this call changes nothing, so another one after a lost answer does no harm.
  if (fields?.isSafeToRepeat === true) return 'TransientNetwork';
  return verdict === undefined ? errorClass : TYPES[verdict];
}
