import { hash } from 'node:crypto';
import type { CapabilitySet } from '../domain/capability.js';
import type { CallerId } from '../domain/execution.js';
import type { TraceContext } from '../domain/trace.js';
import { RunLedger } from './run-ledger.js';

/** On whose behalf calls are made: one program, or one client that calls a tool directly. The same for all its calls. */
export interface RunContext {
  readonly runId: string;
  readonly caller: CallerId;
  /** The session of its client, where the protocol has any. What is kept for it is handed to that session. */
  readonly sessionId?: string;
  /** The outward contract under which it runs. */
  readonly profile: string;
  /** The program; empty where there is none. */
  readonly source: string;
  /** Digest of the program. */
  readonly codeDigest: string;
  /** What its request was granted; absent under contracts that know no capabilities. */
  readonly grants?: CapabilitySet;
  /** How long a call may take to a server whose configuration says nothing of it. Absent: the server's default. */
  readonly callTimeoutMs?: number;
  /** No call begins later: the token that let it in expires then. Absent: it does not expire. */
  readonly authorizedUntilMs?: number;
  /** The step of a trace that its calls are parts of; absent where nobody wants traces. */
  readonly trace?: TraceContext;
  /** What the pipeline remembers from one call to the next. */
  readonly ledger: RunLedger;
}

/** What a run may have beside its program. */
export interface RunContextOptions {
  readonly ledger?: RunLedger;
  readonly sessionId?: string | undefined;
  readonly grants?: CapabilitySet | undefined;
  readonly trace?: TraceContext | undefined;
  readonly callTimeoutMs?: number | undefined;
  readonly authorizedUntilMs?: number | undefined;
}

export function openRunContext(
  runId: string,
  caller: CallerId,
  profile: string,
  source: string,
  { ledger = new RunLedger(), sessionId, grants, trace, callTimeoutMs, authorizedUntilMs }: RunContextOptions = {},
): RunContext {
  const codeDigest = hash('sha256', source, 'hex');
  return {
    runId,
    caller,
    profile,
    source,
    codeDigest,
    ledger,
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(grants === undefined ? {} : { grants }),
    ...(trace === undefined ? {} : { trace }),
    ...(callTimeoutMs === undefined ? {} : { callTimeoutMs }),
    ...(authorizedUntilMs === undefined ? {} : { authorizedUntilMs }),
  };
}
