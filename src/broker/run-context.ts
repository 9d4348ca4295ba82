import { hash } from 'node:crypto';
import type { CapabilitySet } from '../domain/capability.js';
import type { CallerId } from '../domain/execution.js';
import { RunLedger } from './run-ledger.js';

/** On whose behalf calls are made: one program, or one client that calls a tool directly. The same for all its calls. */
export interface RunContext {
  readonly runId: string;
  readonly caller: CallerId;
  /** The outward contract under which it runs. */
  readonly profile: string;
  /** The program; empty where there is none. */
  readonly source: string;
  /** Digest of the program. */
  readonly codeDigest: string;
  /** What its request was granted; absent under contracts that know no capabilities. */
  readonly grants?: CapabilitySet;
  /** What the pipeline remembers from one call to the next. */
  readonly ledger: RunLedger;
}

export function openRunContext(
  runId: string,
  caller: CallerId,
  profile: string,
  source: string,
  { ledger = new RunLedger(), grants }: { ledger?: RunLedger; grants?: CapabilitySet | undefined } = {},
): RunContext {
  const codeDigest = hash('sha256', source, 'hex');
  return { runId, caller, profile, source, codeDigest, ...(grants === undefined ? {} : { grants }), ledger };
}
