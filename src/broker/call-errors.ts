import type { Approval } from '../domain/approval.js';
import { type HostError, isHostError } from '../domain/errors.js';
import { formatArguments, timeOf } from '../domain/format-approval.js';
import { GENERAL_HINTS } from '../domain/general-hints.js';
import type { JsonObject } from '../domain/json.js';
import type { GuestError } from '../domain/run.js';
import { isRepeatable } from '../domain/tool.js';
import type { HttpRefusal, ToolReply, UpstreamFailure } from '../domain/upstream.js';
import { omitUndefined } from '../lib/omit-undefined.js';
import { shellWord } from '../lib/text/shell-word.js';
import { clipText, visibleSentence } from '../lib/text/visible-text.js';
import type { BrokerCall, BrokerOutcome } from './call.js';
import { saysUnauthorized } from './detect-unauthorized.js';
import { nameOf, serverOf, toolCallError } from './refusals.js';

/** The errors of failed calls for the program: what happened, and the one thing to do next. */

export function errorOfRefusal(
  call: BrokerCall,
  state: 'DENIED' | 'EXPIRED',
  { id, reason, decision }: Approval,
): GuestError {
  const fields = { approvalId: id, approvalState: state };
  if (state === 'EXPIRED') {
    const hint = 'Run the program again to ask once more.';
    const message = `${nameOf(call)} was not called: nobody approved it in time (${reason})`;
    return toolCallError(call, message, hint, fields);
  }
  const why = decision?.reason === undefined ? '' : `: ${visibleSentence(decision.reason)}`;
  const hint = 'Continue without this call, and do not try to do the same another way.';
  return toolCallError(call, `${nameOf(call)} was not called: a person denied it${why}`, hint, fields);
}

export function errorOfNoAnswer(call: BrokerCall, asked: Approval | undefined, error: unknown): GuestError {
  const name = nameOf(call);
  if (asked !== undefined) {
    const hint = `Ask the user to type: codemode approvals approve ${asked.id}. Then make the same call again.`;
    const question = `asked with ${formatArguments(asked)}, to be decided by ${timeOf(asked.expiresAtMs)}`;
    const message = `${name} was not called: it needs a person's approval (${asked.reason}); ${question}`;
    return toolCallError(call, message, hint, { approvalId: asked.id, approvalState: 'PENDING' });
  }
  const why = isHostError(error) ? error.message : 'the approval could not be stored';
  return toolCallError(call, `${name} needs a person's approval, and could not ask for it: ${why}`, 'Tell the user.');
}

/** The database that hosts share did not answer before the call was sent. */
export function errorOfStore(call: BrokerCall, error: HostError): GuestError {
  const hint = 'Make the same call again later. If it fails again, tell the user.';
  return toolCallError(call, `${nameOf(call)} was not called: ${error.message}`, hint);
}

/** `credential`: the setting that holds the server's credential, if it does not come from a login. */
export function errorOfReply(call: BrokerCall, reply: ToolReply, credential?: string): GuestError {
  const text = reply.content.flatMap((block) => (typeof block.text === 'string' ? [block.text] : [])).join('\n');
  const message = text === '' ? failedWith(call, reply.structuredContent) : text;
  const hasMore = reply.content.some(({ type }) => type !== 'text');
  const isUnauthorized = saysUnauthorized(text, call.input, reply.refusal);
  const error = toolCallError(call, message, isUnauthorized ? loginHint(call, credential) : GENERAL_HINTS.toolError, {
    ...omitUndefined({ structuredContent: reply.structuredContent }),
    // The text is the message. Images and other blocks reach the program only in `content`.
    ...(hasMore ? { content: [...reply.content] } : {}),
    ...retryFields(call, reply.refusal),
  });
  return isUnauthorized ? { ...error, errorClass: AUTHENTICATION } : error;
}

const MAX_SHOWN_CHARACTERS = 1_000;

/** Some servers report an error only as structured data. */
function failedWith(call: BrokerCall, data: unknown): string {
  const name = nameOf(call);
  if (data === undefined || data === null) return `${name} failed without saying why`;
  return `${name} failed: ${clipText(JSON.stringify(data), MAX_SHOWN_CHARACTERS)}`;
}

const AUTHENTICATION = 'AuthenticationError';

function loginHint({ tool }: BrokerCall, credential: string | undefined): string {
  if (credential !== undefined)
    return `Ask the user to check the credential of this server${credential === '' ? '' : `: ${credential}`}`;
  return `Ask the user to type: codemode auth login ${shellWord(tool.serverId)}`;
}

/** Statuses that mean the server is busy or down for a while, not that the call was wrong. */
const TRANSIENT: ReadonlySet<number> = new Set([502, 503, 504]);

/** Whether the server says "too many requests", so it has not executed the call. */
export function isRateLimited(refusal: HttpRefusal | undefined): boolean {
  return refusal?.status === 429;
}

/** How long to wait, if the server says so, and whether repeating the call is safe. */
function retryFields({ tool }: BrokerCall, refusal: HttpRefusal | undefined): JsonObject {
  const { status = 0, retryAfterMs } = refusal ?? {};
  return {
    ...omitUndefined({ retryAfterMs }),
    ...(TRANSIENT.has(status) && isRepeatable(tool) ? { isSafeToRepeat: true } : {}),
  };
}

/** The hint when the server asks to wait. */
function waitHint(retryAfterMs: number | undefined): string {
  const wait = retryAfterMs === undefined ? 'a while' : `${Math.ceil(retryAfterMs / 1_000)} s`;
  return `Wait ${wait}, then make the same call again.`;
}

const MAX_ERROR_CHARACTERS = 4_000;

/** Runs after redaction: half a secret would not be recognised, and would leak. */
export function shortened(outcome: BrokerOutcome): BrokerOutcome {
  if (outcome.ok || outcome.error.message.length <= MAX_ERROR_CHARACTERS) return outcome;
  return { ...outcome, error: { ...outcome.error, message: outcome.error.message.slice(0, MAX_ERROR_CHARACTERS) } };
}

/** If repeating the call is safe, its outcome need not be checked first. */
function outcomeUnknown(call: BrokerCall, { message, refusal }: UpstreamFailure): GuestError {
  const { tool } = call;
  const serverName = serverOf(call);
  const what =
    refusal === undefined
      ? `the connection to ${serverName} was lost before the answer: ${message}`
      : `${serverName} could not answer: ${message}`;
  if (!isRepeatable(tool))
    return toolCallError(
      call,
      `${what}. The call may have taken effect`,
      'Check whether it has taken effect before calling it again.',
      retryFields(call, refusal),
    );
  const fields = { ...retryFields(call, refusal), isSafeToRepeat: true };
  return toolCallError(call, what, `This call changes nothing. ${waitHint(refusal?.retryAfterMs)}`, fields);
}

const INVALID_PARAMS = -32_602;

/**
 * Whether the server says that the input was wrong. Servers use the other JSON-RPC codes freely, often -32603 for any
 * exception. Then correcting the input may be the wrong advice, and only the message is reliable.
 */
function isAboutInput({ code }: UpstreamFailure): boolean {
  return code === undefined || code === INVALID_PARAMS;
}

/** `timeoutKeys`: the settings that would give the call more time. `credential`: see `errorOfReply`. */
export function errorOfFailure(
  call: BrokerCall,
  failure: UpstreamFailure,
  timeoutKeys: readonly string[] = [],
  credential?: string,
): GuestError {
  const serverName = serverOf(call);
  switch (failure.kind) {
    case 'unauthorized':
      return {
        ...toolCallError(call, `${serverName} refused the call: ${failure.message}`, loginHint(call, credential)),
        errorClass: AUTHENTICATION,
      };
    case 'timeout':
      return toolCallError(
        call,
        `${nameOf(call)}: ${failure.message}`,
        timeoutKeys.length === 0 ? 'Ask for less in one call.' : `Ask the user to raise ${timeoutKeys.join(' and ')}.`,
      );
    case 'cancelled':
      return toolCallError(call, 'the call was cancelled', 'The run has ended or was cancelled.');
    case 'outcome_unknown':
      return outcomeUnknown(call, failure);
    case 'not_sent':
      return toolCallError(
        call,
        `${serverName} cannot be reached: ${failure.message}`,
        'Ask the user to check it with: codemode servers',
      );
    case 'refused':
      if (isRateLimited(failure.refusal))
        return toolCallError(
          call,
          `${serverName} gets too many requests: ${failure.message}`,
          waitHint(failure.refusal?.retryAfterMs),
          retryFields(call, failure.refusal),
        );
      if (!isAboutInput(failure))
        return toolCallError(
          call,
          `${serverName} answered with an error: ${failure.message}`,
          GENERAL_HINTS.serverError,
        );
      return toolCallError(
        call,
        `${serverName} refused the call: ${failure.message}`,
        'Look the tool up with getTool() and correct the input.',
      );
    case 'invalid_reply':
      return toolCallError(
        call,
        `${nameOf(call)} sent an invalid answer: ${failure.message}`,
        'Continue without this tool; its server is broken.',
      );
  }
}
