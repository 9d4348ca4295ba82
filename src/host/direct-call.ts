import { hash } from 'node:crypto';
import type { Broker, BrokerOutcome } from '../broker/broker.js';
import type { ReceivedData } from '../broker/policy/flow.js';
import { openRunContext } from '../broker/run-context.js';
import { RunLedger } from '../broker/run-ledger.js';
import type { CapabilitySet } from '../domain/capability.js';
import type { CallerId } from '../domain/execution.js';
import type { JsonValue } from '../domain/json.js';
import type { Respondent } from '../domain/question.js';
import type { TraceContext } from '../domain/trace.js';
import type { CallProgress } from '../domain/upstream.js';
import { canonicalJson } from '../lib/canonical-json.js';
import type { AskPerson } from './execution-options.js';
import type { DirectTool } from './tool-view.js';

/** On whose behalf, and how long a person may take. */
export interface DirectCaller {
  readonly broker: Broker;
  readonly caller: CallerId;
  readonly profile: string;
  /** What the client was granted; absent: whatever the policy lets it do. */
  readonly bounds: CapabilitySet | undefined;
  readonly received: ReceivedData;
  readonly patienceMs: number;
}

/** What a surface knows about a client that calls a tool directly. */
export interface DirectCircumstances {
  readonly signal: AbortSignal;
  readonly onProgress?: ((progress: CallProgress) => void) | undefined;
  readonly askPerson?: AskPerson | undefined;
  /** When the token that the request came with expires: no call begins later. */
  readonly authorizedUntilMs?: number | undefined;
  /** Who answers what the server asks meanwhile. */
  readonly respondent?: Respondent | undefined;
  /** The step of a trace that the call is a part of. */
  readonly trace?: TraceContext | undefined;
}

/** A tool called by the client itself, through the same pipeline as calls from code. */
export async function callDirect(
  { broker, caller, profile, bounds, received, patienceMs }: DirectCaller,
  { tool: { tool, server, exportName } }: Pick<DirectTool, 'tool'>,
  input: JsonValue,
  { signal, onProgress, askPerson, respondent, trace, authorizedUntilMs }: DirectCircumstances,
): Promise<BrokerOutcome> {
  // The same call made again is the same question: a yes that came too late for the first is there for the second.
  const identity = canonicalJson([caller, tool.serverId, tool.name, input]);
  const runId = `direct-${hash('sha256', identity, 'hex').slice(0, 32)}`;
  const ledger = new RunLedger(received);
  const patience = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  try {
    return await broker.handle({
      run: openRunContext(runId, caller, profile, '', { ledger, grants: bounds, trace, authorizedUntilMs }),
      number: 0,
      tool,
      serverPath: server.path,
      exportName,
      input,
      signal: AbortSignal.any([signal, patience.signal]),
      onPending: (approval) => {
        clearTimeout(timer);
        timer = setTimeout(() => patience.abort(), patienceMs);
        askPerson?.([approval], signal).catch(() => {});
      },
      onDecided: () => clearTimeout(timer),
      ...(onProgress === undefined ? {} : { onProgress }),
      ...(respondent === undefined ? {} : { respondent }),
    });
  } finally {
    clearTimeout(timer);
  }
}
