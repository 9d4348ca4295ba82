import type { CallVerdict } from '../../domain/audit.js';
import { isAdvice } from '../../domain/general-hints.js';
import type { CallReply, GuestError } from '../../domain/run.js';
import { unwrap } from '../../host/calls/unwrap.js';
import type { BrokerOutcome } from '../../host/session.js';
import { excessOf } from '../../lib/text/json-excess.js';

/** What `call_tool` returns: `{ok: true, result}` or `{ok: false, error: {message, code}}`. It never throws. */
export function envelopeOf(outcome: BrokerOutcome): CallReply {
  if (outcome.ok) return { ok: true, json: `{"ok":true,"result":${resultJson(outcome)}}` };
  return { ok: true, json: JSON.stringify({ ok: false, error: errorOf(outcome) }) };
}

/** The unwrapped result. A single text block that contains a JSON object or list is parsed: scripts read its fields. */
function resultJson({ reply }: Extract<BrokerOutcome, { ok: true }>): string {
  if (reply.structuredJson !== undefined) return reply.structuredJson;
  const value = unwrap(reply);
  return (typeof value === 'string' ? jsonIn(value) : undefined) ?? JSON.stringify(value);
}

/** Parses and serialises again, so that the text means the same to every JSON parser. */
function jsonIn(text: string): string | undefined {
  // Counted again: in the message it was one string.
  if (!/^\s*[{[]/.test(text) || excessOf(text) !== undefined) return undefined;
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return undefined;
  }
}

type Failed = Extract<BrokerOutcome, { ok: false }>;

function errorOf(outcome: Failed): { message: string; code: string } {
  const code = codeOf(outcome);
  return { message: messageOf(code, outcome.error), code };
}

const CODES = {
  tool_error: 'TOOL_ERROR',
  invalid_arguments: 'INVALID_ARGS',
  invalid_output: 'INVALID_OUTPUT',
  pending: 'APPROVAL_REQUIRED',
  denied: 'DENIED',
  limited: 'RATE_LIMITED',
  unauthorized: 'AUTHENTICATION_REQUIRED',
  timeout: 'TOOL_TIMEOUT',
  outcome_unknown: 'OUTCOME_UNKNOWN',
  sent: 'OUTCOME_UNKNOWN',
  cancelled: 'CANCELLED',
  not_sent: 'CALL_FAILED',
  refused: 'CALL_FAILED',
  invalid_reply: 'CALL_FAILED',
  failed: 'CALL_FAILED',
  ok: 'CALL_FAILED',
} as const satisfies Record<CallVerdict, string>;

/** Codes for calls without a verdict, because the server or tool does not exist. */
const CODES_BY_CLASS: ReadonlyMap<string, 'SERVER_NOT_FOUND' | 'TOOL_NOT_FOUND'> = new Map([
  ['ServerNotFoundError', 'SERVER_NOT_FOUND'],
  ['ToolNotFoundError', 'TOOL_NOT_FOUND'],
]);

type ErrorCode = (typeof CODES)[CallVerdict] | 'SERVER_NOT_FOUND' | 'TOOL_NOT_FOUND';

function codeOf({ verdict, error }: Failed): ErrorCode {
  // A call that changes nothing has no outcome to check: its server was lost, and the call may be repeated.
  if (verdict === 'outcome_unknown' && error.fields?.isSafeToRepeat === true) return 'CALL_FAILED';
  if (verdict !== undefined) return CODES[verdict];
  return CODES_BY_CLASS.get(error.errorClass) ?? 'CALL_FAILED';
}

/** `Example: get_user({"username":"text"})`, which a script writes differently. */
const EXAMPLE = / Example: [^({]{0,200}\((\{[\s\S]*\})\)$/;

/** The envelope has no field for a hint, so the message ends with the next step. A tool's own message stays unchanged. */
function messageOf(code: ErrorCode, { message, hint, fields }: GuestError): string {
  switch (code) {
    case 'TOOL_ERROR':
      return message;
    case 'INVALID_ARGS':
      return `${message.replace(EXAMPLE, ' Example arguments: $1')}. ${hint}`;
    case 'RATE_LIMITED':
      return `${message}. Call it less often in one script, or run the rest of the work in a later one.`;
    case 'APPROVAL_REQUIRED':
      return typeof fields?.approvalId === 'string'
        ? `${message}. Ask the user to type: codemode approvals approve ${fields.approvalId}. Then run the same script again, unchanged: the call is made, once.`
        : `${message}. ${hint}`;
    case 'CALL_FAILED':
      // The general hint mentions functions that scripts do not have.
      if (hint.includes('getTool()')) return `${message}. Change the arguments.`;
      return isAdvice(hint) ? `${message}. ${hint}` : message;
    default:
      return `${message}. ${hint}`;
  }
}
