import type { GuestError } from '../domain/execution.js';
import type { JsonObject } from '../domain/json.js';
import type { Tool } from '../domain/tool.js';
import type { Busy } from './limits/call-limits.js';
import type { Verdict } from './policy/policy.js';

/** A call, as far as an error has to name it. */
export interface NamedCall {
  readonly tool: Tool;
  readonly serverPath: string;
  readonly exportName: string;
}

/** Everything that goes wrong in one call is of this class or one below it. */
export function toolCallError(call: NamedCall, message: string, hint: string, fields: JsonObject = {}): GuestError {
  return {
    errorClass: 'ToolCallError',
    message,
    hint,
    fields: { serverId: call.serverPath, toolName: call.tool.name, ...fields },
  };
}

/** The policy says no. Trying again changes nothing, and neither does writing it otherwise. */
export function denialError(call: NamedCall, verdict: Verdict): GuestError {
  return toolCallError(
    call,
    `the policy denies ${nameOf(call)}: ${verdict.reason}`,
    `Do without this call; only the user can change the policy (${checkCommand(call)}).`,
    decided(verdict),
  );
}

/** The token that let the run in is not accepted any more, so neither are its calls. */
export function expiredError(call: NamedCall): GuestError {
  return toolCallError(
    call,
    `the authorization of this run has expired, so ${nameOf(call)} was not called`,
    'Stop: further calls are refused too. The request has to be sent again with a new token.',
    { authorizationExpired: true },
  );
}

/** Too often or too many at once. */
export function busyError(call: NamedCall, { limit, retryAfterMs }: Busy): GuestError {
  const what =
    limit === 'rate' ? 'is called more often than its limit allows' : 'has as many calls under way as it may';
  return toolCallError(
    call,
    `${nameOf(call)} ${what}; wait ${retryAfterMs} ms`,
    `Wait, then call again: await new Promise((resolve) => setTimeout(resolve, ${retryAfterMs})).`,
    { limit, retryAfterMs },
  );
}

/** Approved, but what it costs can't be recorded. */
export function unpaidError(call: NamedCall): GuestError {
  return toolCallError(
    call,
    `${nameOf(call)} was not called, because what it costs could not be recorded`,
    'Ask the user to look at the state folder of codemode: codemode doctor',
  );
}

function decided({ decision, rule }: Verdict): JsonObject {
  return { decision, rule: rule.text };
}

function nameOf({ serverPath, exportName }: NamedCall): string {
  return `${serverPath}.${exportName}`;
}

function checkCommand({ serverPath, tool }: NamedCall): string {
  const name = `${serverPath}/${tool.name}`;
  return `codemode policy check ${/^[\w./-]+$/.test(name) ? name : 'SERVER/TOOL'}`;
}
