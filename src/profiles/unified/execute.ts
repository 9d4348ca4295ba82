import { randomUUID } from 'node:crypto';
import type { CapabilitySet, GrantLimits } from '../../domain/capability.js';
import { type HostError, isHostError } from '../../domain/errors.js';
import type { LimitTable } from '../../domain/limits.js';
import type { LogEntry } from '../../domain/run.js';
import { grantsOf, mayCallServer } from '../../host/runs/capability-grants.js';
import type { OnBegin, RunAnswer, RunRequest } from '../../host/runs/run-types.js';
import { unknownGrants } from '../../host/runs/unknown-grants.js';
import type { Session } from '../../host/session.js';
import type { CallContext } from '../profile.js';
import { parseExecuteRequest, requestIdOf } from './contract.js';
import type { CodeModeError } from './errors.js';
import { runWithRecovery } from './recovery.js';
import { type ExecuteResponse, renderRefusal, renderResponse, renderStillRunning, renderSuspended } from './render.js';

/** Settings for every request of the contract, on every surface. */
export interface ExecuteSettings {
  readonly limits: LimitTable;
  /** The most that a request may be granted. */
  readonly bounds: CapabilitySet;
  /** Limits of every run with a grant. */
  readonly grantLimits: GrantLimits;
  /** Whether code that timed out is retried once with twice the timeout, if that repeats nothing unsafe. */
  readonly retriesTimeouts: boolean;
  /** Distinguishes `network:helpscout`, if that server is configured, from a host of that name. */
  readonly isServer: (name: string) => boolean;
}

export interface ExecuteContext extends CallContext {
  /** The bounds of the caller's token. */
  readonly ofCaller?: CapabilitySet | undefined;
  readonly onBegin?: OnBegin;
  readonly onLog?: (entry: LogEntry) => void;
}

export interface Executed {
  readonly response: ExecuteResponse;
  /** Absent if nothing has run. */
  readonly answer?: RunAnswer;
  /** Why nothing has run. */
  readonly refusal?: HostError;
}

/** Executes a request, or says why not. Only bugs of ours are thrown. */
export async function execute(
  session: Session,
  input: unknown,
  { limits: table, bounds, isServer, retriesTimeouts }: ExecuteSettings,
  { ofCaller, ...client }: ExecuteContext,
): Promise<Executed> {
  const requestId = requestIdOf(input) ?? randomUUID();
  try {
    const { code, isTypeScript, limits, capabilities, context } = parseExecuteRequest(input, table);
    const ofToken = ofCaller ?? session.bounds;
    // A server that the token may not call does not exist for it: an error would reveal it.
    const isKnown = (name: string) => isServer(name) && mayCallServer(name, ofToken === undefined ? [] : [ofToken]);
    const { grants, notes } = grantsOf(
      capabilities,
      { configured: bounds, ofCaller: ofToken },
      (name) => isKnown(name) || session.tools().forCode.servers.some(({ id }) => id === name),
    );
    const request: RunRequest = {
      source: code,
      label: requestId,
      language: isTypeScript ? 'typescript' : 'javascript',
      limits,
      context,
      grants,
      ...client,
    };
    const answer = retriesTimeouts
      ? await runWithRecovery(session, request, table.maximum.timeoutMs)
      : await session.run(request);
    const response = withPossibleHint(responseOf(answer, requestId), (error) =>
      isGrantable(requestFor(error, answer), { configured: bounds, ofCaller: ofToken }, isServer),
    );
    // Checked after the run: a server that was still starting may be known now.
    const unknown = unknownGrants(grants, session.tools().forCode, isKnown);
    const logs = [...response.logs, ...[...notes, ...unknown].map((note) => `warning: ${note}`)];
    return { answer, response: { ...response, logs } };
  } catch (error) {
    if (!isHostError(error)) throw error;
    return { refusal: error, response: renderRefusal(error, requestId) };
  }
}

/** Removes a hint to request a capability that would be refused. */
function withPossibleHint(response: ExecuteResponse, isPossible: (error: CodeModeError) => boolean): ExecuteResponse {
  const { error } = response;
  if (error?.code !== 'CAPABILITY_VIOLATION' || isPossible(error)) return response;
  const hint = 'Continue without it: neither the token nor the configuration of this host would grant it.';
  return { ...response, error: { ...error, details: { ...error.details, hint } } };
}

/** What a request would have to ask for instead. */
function requestFor({ message, details }: CodeModeError, answer: RunAnswer): unknown {
  const failed = 'summary' in answer && 'failures' in answer.summary ? answer.summary.failures.get(message) : undefined;
  return failed?.capabilities ?? [details?.violation];
}

/** Whether a request for these capabilities would be granted. What cannot be read as a request is not judged. */
function isGrantable(
  capabilities: unknown,
  within: { readonly configured: CapabilitySet; readonly ofCaller: CapabilitySet | undefined },
  isServer: (name: string) => boolean,
): boolean {
  try {
    grantsOf(capabilities, within, isServer);
    return true;
  } catch (error) {
    return !isHostError(error, 'capability_violation');
  }
}

function responseOf(answer: RunAnswer, requestId: string): ExecuteResponse {
  switch (answer.state) {
    case 'succeeded':
    case 'failed':
    case 'cancelled':
      return renderResponse(answer.summary, requestId);
    case 'suspended':
      return renderSuspended(answer.summary, requestId);
    case 'running':
      return renderStillRunning(answer.runId, requestId);
  }
}
