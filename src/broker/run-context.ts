import { hash } from 'node:crypto';
import type { CapabilitySet } from '../domain/capability.js';
import type { JsonValue } from '../domain/json.js';
import type { CallerId } from '../domain/run.js';
import type { TraceContext } from '../domain/trace.js';
import { omitUndefined } from '../lib/omit-undefined.js';
import { RunLedger } from './run-ledger.js';

/** The context of all calls of one run, or of one client that calls a tool directly. */
export interface RunContext {
  readonly runId: string;
  /** When its request was accepted: the `createdAt` of every surface and of the store. */
  readonly createdAtMs: number;
  readonly caller: CallerId;
  /** The session of its client, if the protocol has sessions. Kept results belong to that session. */
  readonly sessionId?: string;
  /** The profile under which it runs. */
  readonly profile: string;
  /** The program's source; empty for a direct call. */
  readonly source: string;
  /** Digest of the program. */
  readonly codeDigest: string;
  /** What its request was granted; absent under contracts without capabilities. */
  readonly grants?: CapabilitySet;
  /** The timeout of calls to servers without a configured one. Absent: the server's default. */
  readonly callTimeoutMs?: number;
  /** No call starts later: the token of the request expires then. Absent: it does not expire. */
  readonly authorizedUntilMs?: number;
  /**
   * Set if the run cannot be suspended. A decision that comes after its end applies to the same call of the next run with the
   * same start.
   */
  readonly cannotSuspend?: RunStart;
  /** No stored run records its calls. So a decision allows one attempt of a call, and the next attempt asks again. */
  readonly usesDecisionsOnce?: boolean;
  /** The call that runs the stored script which makes these calls. Absent: the run's own program makes them. */
  readonly parentCall?: number;
  /** The parent span of its calls; absent if tracing is off. */
  readonly trace?: TraceContext;
  /** What the pipeline remembers between calls. */
  readonly ledger: RunLedger;
}

/** The optional parts of a run's context. */
export interface RunContextOptions {
  /** Default: now. */
  readonly createdAtMs?: number;
  readonly ledger?: RunLedger;
  readonly sessionId?: string | undefined;
  readonly grants?: CapabilitySet | undefined;
  readonly trace?: TraceContext | undefined;
  readonly callTimeoutMs?: number | undefined;
  readonly authorizedUntilMs?: number | undefined;
  readonly cannotSuspend?: RunStart | undefined;
  readonly usesDecisionsOnce?: boolean | undefined;
}

export function openRunContext(
  runId: string,
  caller: CallerId,
  profile: string,
  source: string,
  options: RunContextOptions = {},
): RunContext {
  const {
    ledger = new RunLedger(),
    createdAtMs = Date.now(),
    sessionId,
    grants,
    trace,
    callTimeoutMs,
    authorizedUntilMs,
    cannotSuspend,
    usesDecisionsOnce,
  } = options;
  const codeDigest = hash('sha256', source, 'hex');
  return {
    runId,
    createdAtMs,
    caller,
    profile,
    source,
    codeDigest,
    ledger,
    ...omitUndefined({ sessionId, grants, trace, callTimeoutMs, authorizedUntilMs, cannotSuspend, usesDecisionsOnce }),
  };
}

/** What a program starts with, besides its source. */
export interface RunStart {
  readonly language: string;
  readonly input?: JsonValue;
}
