import type { JsonObject } from '../domain/json.js';
import type { GuestError } from '../domain/run.js';
import type { Tool } from '../domain/tool.js';
import type { Busy } from './limits/call-limits.js';
import type { PolicyVerdict } from './policy/policy.js';

/** The part of a call that errors name. */
export interface NamedCall {
  readonly tool: Tool;
  readonly serverPath: string;
  readonly exportName: string;
  /** The program's name for the server; absent: its path. */
  readonly serverName?: string;
}

/** Base class of all errors of a call. */
export function toolCallError(call: NamedCall, message: string, hint: string, fields: JsonObject = {}): GuestError {
  return {
    errorClass: 'ToolCallError',
    message,
    hint,
    fields: { serverId: call.serverPath, toolName: call.tool.name, ...fields },
  };
}

/** The policy denies the call. Retrying or rewriting it does not help. */
export function denialError(call: NamedCall, verdict: PolicyVerdict): GuestError {
  return toolCallError(
    call,
    `the policy denies ${nameOf(call)}: ${verdict.reason}`,
    `Continue without this call; only the user can change the policy (${checkCommand(call)}).`,
    decided(verdict),
  );
}

/** The user's hook refuses the call, or could not be asked. */
export function vetoError(call: NamedCall, reason: string): GuestError {
  return toolCallError(
    call,
    `a hook refuses ${nameOf(call)}: ${reason}`,
    'Continue without this call, or change what the reason names; only the user can change hooks.',
    { decision: 'deny' },
  );
}

/** The definition of the tool that the run has is out of date. */
export function outdatedError(call: NamedCall, why: string): GuestError {
  return toolCallError(
    call,
    `${nameOf(call)} was not called: ${why}`,
    'Run the program again: it gets the tool as it is now.',
  );
}

/** The token that started the run is no longer accepted, so its calls are refused. */
export function expiredError(call: NamedCall): GuestError {
  return toolCallError(
    call,
    `the authorization of this run has expired, so ${nameOf(call)} was not called`,
    'Stop: further calls are refused too. The request has to be sent again with a new token.',
    { authorizationExpired: true },
  );
}

/** An earlier run of the program made this call and ended before its answer came. */
export function lostAnswerError(call: NamedCall): GuestError {
  return toolCallError(
    call,
    `the last run of this program made this call of ${nameOf(call)} and ended before the answer came: it may have taken effect`,
    'Find out what it did before you make it again.',
    { mayHaveRun: true },
  );
}

/** A rate limit or a concurrency limit was exceeded. */
export function busyError(call: NamedCall, { limit, retryAfterMs }: Busy): GuestError {
  const what =
    limit === 'rate' ? 'is called more often than its limit allows' : 'has as many calls in flight as its limit allows';
  return toolCallError(
    call,
    `${nameOf(call)} ${what}; wait ${retryAfterMs} ms`,
    `Wait, then call again: await new Promise((resolve) => setTimeout(resolve, ${retryAfterMs})).`,
    { limit, retryAfterMs },
  );
}

/** The call is approved, but its cost cannot be recorded. */
export function unpaidError(call: NamedCall): GuestError {
  return toolCallError(
    call,
    `${nameOf(call)} was not called, because what it costs could not be recorded`,
    'Ask the user to check the state folder: codemode doctor',
  );
}

function decided({ decision, rule }: PolicyVerdict): JsonObject {
  return { decision, rule: rule.text };
}

/** The name of the tool in the program. */
export function nameOf({ exportName, ...call }: NamedCall): string {
  return `${serverOf(call)}.${exportName}`;
}

export function serverOf({
  serverPath,
  serverName = serverPath,
}: Pick<NamedCall, 'serverPath' | 'serverName'>): string {
  return serverName;
}

function checkCommand({ serverPath, tool }: NamedCall): string {
  const name = `${serverPath}/${tool.name}`;
  return `codemode policy check ${/^[\w./-]+$/.test(name) ? name : 'SERVER/TOOL'}`;
}
