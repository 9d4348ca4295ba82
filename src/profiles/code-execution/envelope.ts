import type { BrokerOutcome } from '../../host/session.js';
import { unwrap } from '../../host/unwrap.js';
import type { CallReply, GuestError } from '../../domain/execution.js';

/** What `call_tool` returns: `{ok: true, result}` or `{ok: false, error: {message, code}}`. It never throws. */
export function envelopeOf(outcome: BrokerOutcome): CallReply {
  if (outcome.ok) return { ok: true, json: `{"ok":true,"result":${resultJson(outcome)}}` };
  return { ok: true, json: JSON.stringify({ ok: false, error: errorOf(outcome) }) };
}

/** The unwrapped result. A single text block that holds an object or a list arrives as one: scripts read its fields. */
function resultJson({ reply }: Extract<BrokerOutcome, { ok: true }>): string {
  if (reply.structuredJson !== undefined) return reply.structuredJson;
  const value = unwrap(reply);
  return (typeof value === 'string' ? jsonIn(value) : undefined) ?? JSON.stringify(value);
}

/** Written anew: what is handed on as text is made by us, with one meaning for every parser. */
function jsonIn(text: string): string | undefined {
  if (!/^\s*[{[]/.test(text)) return undefined;
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

type ErrorCode =
  | 'TOOL_ERROR'
  | 'INVALID_ARGS'
  | 'INVALID_OUTPUT'
  | 'SERVER_NOT_FOUND'
  | 'TOOL_NOT_FOUND'
  | 'APPROVAL_REQUIRED'
  | 'DENIED'
  | 'RATE_LIMITED'
  | 'AUTHENTICATION_REQUIRED'
  | 'TOOL_TIMEOUT'
  | 'OUTCOME_UNKNOWN'
  | 'CANCELLED'
  | 'CALL_FAILED';

function codeOf({ verdict, error }: Failed): ErrorCode {
  switch (verdict) {
    case 'tool_error':
      return 'TOOL_ERROR';
    case 'invalid_arguments':
      return 'INVALID_ARGS';
    case 'invalid_output':
      return 'INVALID_OUTPUT';
    case 'pending':
      return 'APPROVAL_REQUIRED';
    case 'denied':
      return 'DENIED';
    case 'limited':
      return 'RATE_LIMITED';
    case 'unauthorized':
      return 'AUTHENTICATION_REQUIRED';
    case 'timeout':
      return 'TOOL_TIMEOUT';
    case 'outcome_unknown':
      return 'OUTCOME_UNKNOWN';
    case 'cancelled':
      return 'CANCELLED';
    case 'not_sent':
    case 'refused':
    case 'invalid_reply':
    case 'failed':
    case 'ok':
    case undefined:
      if (error.errorClass === 'ServerNotFoundError') return 'SERVER_NOT_FOUND';
      return error.errorClass === 'ToolNotFoundError' ? 'TOOL_NOT_FOUND' : 'CALL_FAILED';
  }
}

/** The envelope has no place for a hint, so the one thing to do next ends the message; a tool's own words stay as they are. */
function messageOf(code: ErrorCode, { message, hint, fields }: GuestError): string {
  switch (code) {
    case 'TOOL_ERROR':
      return message;
    case 'RATE_LIMITED':
      return `${message}. Call it less often in one script, or run the rest of the work in a later one.`;
    case 'APPROVAL_REQUIRED':
      return typeof fields?.approvalId === 'string'
        ? `${message}. Ask the user to type: codemode approvals approve ${fields.approvalId} --scope hour. Then run the script again.`
        : `${message}. ${hint}`;
    case 'CALL_FAILED':
      // The general hint speaks of functions that scripts have not.
      return hint.includes('getTool()') ? `${message}. Change the arguments.` : `${message}. ${hint}`;
    default:
      return `${message}. ${hint}`;
  }
}
