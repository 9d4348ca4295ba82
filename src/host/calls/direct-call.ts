import { hash } from 'node:crypto';
import type { Broker, BrokerOutcome } from '../../broker/broker.js';
import type { ReceivedData } from '../../broker/policy/flow.js';
import { openRunContext } from '../../broker/run-context.js';
import { RunLedger } from '../../broker/run-ledger.js';
import type { CapabilitySet } from '../../domain/capability.js';
import type { JsonValue } from '../../domain/json.js';
import type { CallerId } from '../../domain/run.js';
import type { TraceContext } from '../../domain/trace.js';
import type { CallProgress } from '../../domain/upstream.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { canonicalJson } from '../../lib/text/canonical-json.js';
import type { RunClient } from '../runs/run-client.js';
import type { CalledTool } from './called-tool.js';
import { toDirectCallError } from './direct-call-error.js';

/** The caller of a direct call, and how long a person may take. */
export interface DirectCaller {
  readonly broker: Broker;
  readonly caller: CallerId;
  readonly profile: string;
  /** The capabilities granted to the client; absent: whatever the policy allows. */
  readonly bounds: CapabilitySet | undefined;
  readonly received: ReceivedData;
  readonly patienceMs: number;
}

/** What a surface knows about a client that calls a tool directly. */
export interface DirectCallContext extends Pick<RunClient, 'askPerson' | 'respondent'> {
  readonly signal: AbortSignal;
  readonly onProgress?: ((progress: CallProgress) => void) | undefined;
  /** When the request's token expires. No call starts after that. */
  readonly authorizedUntilMs?: number | undefined;
  /** The parent span. */
  readonly trace?: TraceContext | undefined;
}

/** The part of a tool that a direct call needs. */
export interface DirectlyCalled {
  readonly tool: Pick<CalledTool, 'tool' | 'server'>;
}

/** Calls a tool for the client itself, through the same pipeline as calls from code. */
export async function callDirect(
  { broker, caller, profile, bounds, received, patienceMs }: DirectCaller,
  { tool: { tool, server } }: DirectlyCalled,
  input: JsonValue,
  { signal, onProgress, askPerson, respondent, trace, authorizedUntilMs }: DirectCallContext,
): Promise<BrokerOutcome> {
  // A repeated call has the same identity: an approval that came too late for the first call applies to the second.
  const identity = canonicalJson([caller, tool.serverId, tool.name, input]);
  const runId = `direct-${hash('sha256', identity, 'hex').slice(0, 32)}`;
  const ledger = new RunLedger(received);
  const patience = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  try {
    const outcome = await broker.handle({
      run: openRunContext(runId, caller, profile, '', { ledger, grants: bounds, trace, authorizedUntilMs }),
      number: 0,
      tool,
      serverPath: server.path,
      // A direct client calls the tool by its name, not as a function.
      exportName: tool.name,
      input,
      signal: AbortSignal.any([signal, patience.signal]),
      delegate: {
        isReplayed: false,
        locate: async () => [],
        remainingMs: () => Number.POSITIVE_INFINITY,
        onPending: (approval) => {
          clearTimeout(timer);
          timer = setTimeout(() => patience.abort(), patienceMs);
          askPerson?.([approval], signal).catch(() => {});
        },
        onDecided: () => clearTimeout(timer),
        onSending: () => {},
      },
      ...omitUndefined({ onProgress, respondent }),
    });
    return outcome.ok ? outcome : { ...outcome, error: toDirectCallError(outcome.error) };
  } finally {
    clearTimeout(timer);
  }
}
