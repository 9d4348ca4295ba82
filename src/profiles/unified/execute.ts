import { randomUUID } from 'node:crypto';
import type { CapabilitySet, GrantLimits } from '../../domain/capability.js';
import { type HostError, isHostError } from '../../domain/errors.js';
import type { LimitTable } from '../../domain/limits.js';
import type { LogEntry } from '../../domain/run.js';
import { grantsOf, mayCallServer } from '../../host/runs/capability-grants.js';
import type { RunAnswer, RunRequest } from '../../host/runs/run-types.js';
import type { Session } from '../../host/session.js';
import type { CallContext } from '../profile.js';
import { parseExecuteRequest, requestIdOf } from './contract.js';
import { runWithRecovery } from './recovery.js';
import { type ExecuteResponse, renderRefusal, renderResponse, renderStillRunning, renderSuspended } from './render.js';

/** What holds for every request of the contract, by whichever door it comes. */
export interface ExecuteSettings {
  readonly limits: LimitTable;
  /** The most that a request may be granted. */
  readonly bounds: CapabilitySet;
  /** What holds for every run with a grant. */
  readonly grantLimits: GrantLimits;
  /** Whether code that ran out of time is run once more with twice as much, where that repeats nothing unsafe. */
  readonly retriesTimeouts: boolean;
  /** Tells `network:helpscout`, where the configuration has such a server, from a host of that name. */
  readonly isServer: (name: string) => boolean;
}

export interface ExecuteContext extends CallContext {
  /** What the caller's token may ask for. */
  readonly ofCaller?: CapabilitySet | undefined;
  readonly onBegin?: (runId: string) => void;
  readonly onLog?: (entry: LogEntry) => void;
}

export interface Executed {
  readonly response: ExecuteResponse;
  /** Absent where nothing has run. */
  readonly answer?: RunAnswer;
  /** Why nothing has run. */
  readonly refusal?: HostError;
}

/** Executes a request, or says why not. Only mistakes of ours are thrown. */
export async function execute(
  session: Session,
  input: unknown,
  { limits: table, bounds, isServer, retriesTimeouts }: ExecuteSettings,
  { ofCaller, ...circumstances }: ExecuteContext,
): Promise<Executed> {
  const requestId = requestIdOf(input) ?? randomUUID();
  try {
    const { code, isTypeScript, limits, capabilities, context } = parseExecuteRequest(input, table);
    const ofToken = ofCaller ?? session.bounds;
    const { grants, notes } = grantsOf(
      capabilities,
      { configured: bounds, ofCaller: ofToken },
      // A server that the token may not call is no server to it: an error would say that it is there.
      (name) =>
        (isServer(name) && mayCallServer(name, ofToken === undefined ? [] : [ofToken])) ||
        session.tools().forCode.servers.some(({ id }) => id === name),
    );
    const request: RunRequest = {
      source: code,
      label: requestId,
      language: isTypeScript ? 'typescript' : 'javascript',
      limits,
      context,
      grants,
      ...circumstances,
    };
    const answer = retriesTimeouts
      ? await runWithRecovery(session, request, table.maximum.timeoutMs)
      : await session.run(request);
    const response = responseOf(answer, requestId);
    const logs = [...response.logs, ...notes.map((note) => `warning: ${note}`)];
    return { answer, response: { ...response, logs } };
  } catch (error) {
    if (!isHostError(error)) throw error;
    return { refusal: error, response: renderRefusal(error, requestId) };
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
