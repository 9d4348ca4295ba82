import type { Approval } from '../domain/approval.js';
import { isHostError } from '../domain/errors.js';
import type { GuestError } from '../domain/execution.js';
import { GENERAL_HINTS } from '../domain/general-hints.js';
import type { JsonObject } from '../domain/json.js';
import { isRepeatable } from '../domain/tool.js';
import type { HttpRefusal, ToolReply, UpstreamFailure } from '../domain/upstream.js';
import { shellWord } from '../lib/shell-word.js';
import type { BrokerCall, BrokerOutcome } from './call.js';
import { toolCallError } from './refusals.js';
import { saysUnauthorized } from './unauthorized-words.js';

/** What a program is told when a call came to nothing: what happened, and the one thing to do next. */

export function errorOfRefusal(
  call: BrokerCall,
  state: 'DENIED' | 'EXPIRED',
  { id, reason, decision }: Approval,
): GuestError {
  const { serverPath, exportName } = call;
  const fields = { approvalId: id, approvalState: state };
  if (state === 'EXPIRED') {
    const hint = 'Run the program again to ask once more.';
    const message = `${serverPath}.${exportName} was not called: nobody approved it in time (${reason})`;
    return toolCallError(call, message, hint, fields);
  }
  const why = decision?.reason === undefined ? '' : `: ${decision.reason}`;
  const hint = 'Go on without this call, and do not look for another way to do the same.';
  return toolCallError(call, `${serverPath}.${exportName} was not called: a person denied it${why}`, hint, fields);
}

export function errorOfNoAnswer(call: BrokerCall, asked: Approval | undefined, error: unknown): GuestError {
  const name = `${call.serverPath}.${call.exportName}`;
  if (asked !== undefined) {
    const hint = `Ask the user to type: codemode approvals approve ${asked.id}. Then make the same call again.`;
    return toolCallError(call, `${name} was not called: it needs a person's approval (${asked.reason})`, hint, {
      approvalId: asked.id,
      approvalState: 'PENDING',
    });
  }
  const why = isHostError(error) ? error.message : 'the question could not be written down';
  return toolCallError(call, `${name} needs a person's approval, and could not ask for it: ${why}`, 'Tell the user.');
}

/** `credential`: the setting that has it, where no login gets one. */
export function errorOfReply(call: BrokerCall, reply: ToolReply, credential?: string): GuestError {
  const text = reply.content.flatMap((block) => (typeof block.text === 'string' ? [block.text] : [])).join('\n');
  const message = text === '' ? `${call.serverPath}.${call.exportName} failed without saying why` : text;
  const hasMore = reply.content.some(({ type }) => type !== 'text');
  const isUnauthorized = saysUnauthorized(text, call.input, reply.refusal);
  const error = toolCallError(call, message, isUnauthorized ? loginHint(call, credential) : GENERAL_HINTS.toolError, {
    ...(reply.structuredContent === undefined ? {} : { structuredContent: reply.structuredContent }),
    // Text is the message. Images and other blocks have no other way to the program.
    ...(hasMore ? { content: [...reply.content] } : {}),
    ...retryFields(call, reply.refusal),
  });
  return isUnauthorized ? { ...error, errorClass: AUTHENTICATION } : error;
}

const AUTHENTICATION = 'AuthenticationError';

function loginHint({ tool }: BrokerCall, credential: string | undefined): string {
  if (credential !== undefined)
    return `Ask the user to check the credential of this server${credential === '' ? '' : `: ${credential}`}`;
  return `Ask the user to type: codemode auth login ${shellWord(tool.serverId)}`;
}

/** With these the server says that it is busy or away for a while, and not that the call was wrong. */
const TRANSIENT: ReadonlySet<number> = new Set([502, 503, 504]);

/** Whether the server says "too many requests". It has not taken the call on. */
export function isRateLimited(refusal: HttpRefusal | undefined): boolean {
  return refusal?.status === 429;
}

/** How long to wait, where the server says so, and whether a second call of this tool changes nothing. */
function retryFields({ tool }: BrokerCall, refusal: HttpRefusal | undefined): JsonObject {
  const { status = 0, retryAfterMs } = refusal ?? {};
  return {
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(TRANSIENT.has(status) && isRepeatable(tool) ? { isSafeToRepeat: true } : {}),
  };
}

/** What to do after a wait that the server asks for. */
function waitHint(retryAfterMs: number | undefined): string {
  const wait = retryAfterMs === undefined ? 'a while' : `${Math.ceil(retryAfterMs / 1_000)} s`;
  return `Wait ${wait}, then make the same call again.`;
}

const MAX_ERROR_CHARACTERS = 4_000;

/** After redaction: half a secret is not recognised, and gives half of it away. */
export function shortened(outcome: BrokerOutcome): BrokerOutcome {
  if (outcome.ok || outcome.error.message.length <= MAX_ERROR_CHARACTERS) return outcome;
  return { ...outcome, error: { ...outcome.error, message: outcome.error.message.slice(0, MAX_ERROR_CHARACTERS) } };
}

/** Where a second call changes nothing, nobody has to find out first what became of this one. */
function outcomeUnknown(call: BrokerCall, { message, refusal }: UpstreamFailure): GuestError {
  const { serverPath, tool } = call;
  const what =
    refusal === undefined
      ? `the connection to ${serverPath} was lost before the answer: ${message}`
      : `${serverPath} could not answer: ${message}`;
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

/** `timeoutKeys`: the settings that would have given it more time. `credential`: as of `errorOfReply`. */
export function errorOfFailure(
  call: BrokerCall,
  failure: UpstreamFailure,
  timeoutKeys: readonly string[] = [],
  credential?: string,
): GuestError {
  const { serverPath } = call;
  switch (failure.kind) {
    case 'unauthorized':
      return {
        ...toolCallError(call, `${serverPath} refused the call: ${failure.message}`, loginHint(call, credential)),
        errorClass: AUTHENTICATION,
      };
    case 'timeout':
      return toolCallError(
        call,
        `${serverPath}.${call.exportName}: ${failure.message}`,
        timeoutKeys.length === 0 ? 'Ask for less in one call.' : `Ask the user to raise ${timeoutKeys.join(' and ')}.`,
      );
    case 'cancelled':
      return toolCallError(call, 'the call was cancelled', 'The run has ended or was cancelled.');
    case 'outcome_unknown':
      return outcomeUnknown(call, failure);
    case 'not_sent':
      return toolCallError(
        call,
        `${serverPath} cannot be reached: ${failure.message}`,
        'Ask the user to check it with: codemode servers',
      );
    case 'refused':
      if (isRateLimited(failure.refusal))
        return toolCallError(
          call,
          `${serverPath} has too many requests: ${failure.message}`,
          waitHint(failure.refusal?.retryAfterMs),
          retryFields(call, failure.refusal),
        );
      return toolCallError(
        call,
        `${serverPath} refused the call: ${failure.message}`,
        'Look the tool up with getTool() and correct the input.',
      );
    case 'invalid_reply':
      return toolCallError(
        call,
        `${serverPath}.${call.exportName} answered with nonsense: ${failure.message}`,
        'Go on without this tool; its server is broken.',
      );
  }
}
