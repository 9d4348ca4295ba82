import type { CallVerdict } from '../../domain/audit.js';
import { isAdvice } from '../../domain/general-hints.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';
import type { GuestError } from '../../domain/run.js';
import type { ToolReply } from '../../domain/upstream.js';
import { fullResult } from '../../host/calls/unwrap.js';
import type { Presentation } from '../../host/runs/run-types.js';
import { RETRYABLE_TYPES } from '../../host/runs/self-correction.js';
import type { BrokerOutcome } from '../../host/session.js';
import { ifDefined, omitUndefined } from '../../lib/omit-undefined.js';
import { TOO_MANY_CALLS } from './errors.js';

/** The contract's wording for events of a run: calls return the MCP result or raise a `ToolError`. */
export const runnerPresentation: Presentation = {
  reply: (outcome) =>
    outcome.ok ? { ok: true, json: resultJson(outcome.reply) } : { ok: false, error: toolError(outcome) },
  seen: dataIn,
  // Programs on real interpreters cannot be suspended and respond with envelopes, so no client reads these.
  response: ({ runId }) => ({ run_id: runId }),
  suspended: ({ runId }) => ({ run_id: runId }),
};

/** The value that `data_of` returns: the structured content, else the text. */
function dataIn(answer: JsonValue): JsonValue {
  if (!isJsonObject(answer)) return answer;
  const { structuredContent, content } = answer;
  const [only, ...others] = Array.isArray(content) ? content : [];
  const text = others.length === 0 && isJsonObject(only) && only.type === 'text' ? only.text : undefined;
  return structuredContent ?? text ?? answer;
}

function resultJson(reply: ToolReply): string {
  const { structuredContent, structuredJson } = reply;
  const structured =
    structuredJson ?? (structuredContent === undefined ? undefined : JSON.stringify(structuredContent));
  const meta = omitUndefined({ _meta: reply.meta });
  const rest = JSON.stringify({ ...fullResult(reply), content: reply.content, ...meta });
  // The structured content may be large, and an earlier stage may have serialised it already: it is not serialised twice.
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
  // It may have taken effect: repeating it blindly is how things are paid twice.
  outcome_unknown: 'OutcomeUnknown',
  sent: 'OutcomeUnknown',
  cancelled: 'Cancelled',
  refused: 'ProtocolError',
  invalid_reply: 'ProtocolError',
  failed: 'ToolError',
  ok: 'ToolError',
} as const satisfies Record<CallVerdict, string>;

/** How a program on a real interpreter looks up a tool's schema. */
const GET_DEFINITION = 'Look the tool up with getToolDefinition (Python: get_tool_definition) and correct the input.';

function toolError(outcome: Extract<BrokerOutcome, { ok: false }>): GuestError {
  const { error, verdict, reply } = outcome;
  const type = typeOf(error, verdict);
  const retryable = RETRYABLE_TYPES.some((each) => each === type);
  const fields: Record<string, JsonValue> = {
    ...error.fields,
    retryable,
    ...omitUndefined({ result: ifDefined(reply, (reply) => JSON.parse(resultJson(reply)) as JsonObject) }),
  };
  const asked = type === 'ApprovalRequired' && typeof fields.approvalId === 'string' ? fields.approvalId : undefined;
  const said = isAdvice(error.hint) ? error.hint : '';
  const hint = hintOf(type, said);
  if (asked === undefined) return { ...error, errorClass: type, hint, fields };
  const next = `Ask the user to type: codemode approvals approve ${asked}. Then run the same program again, unchanged: it makes this call, once, and none of those already made`;
  return { errorClass: type, message: `${error.message}. ${next}`, hint: `${next}.`, fields };
}

function hintOf(type: string, said: string): string {
  if (type === 'CallLimit') return TOO_MANY_CALLS;
  return said.includes('getTool()') ? GET_DEFINITION : said;
}

function typeOf({ errorClass, fields }: GuestError, verdict: CallVerdict | undefined): string {
  if (fields?.limit === 'maxToolCalls') return 'CallLimit';
  if (fields?.authorizationExpired === true) return 'AuthenticationRequired';
  // The broker has checked: this call changes nothing, so repeating it after a lost answer is harmless.
  if (fields?.isSafeToRepeat === true) return 'TransientNetwork';
  return verdict === undefined ? errorClass : TYPES[verdict];
}
