import type { PolicyGate } from '../../broker/policy/gate.js';
import type { RunContext } from '../../broker/run-context.js';
import { RunLedger } from '../../broker/run-ledger.js';
import type { CatalogSnapshot } from '../../catalog/snapshot.js';
import type { CapabilitySet } from '../../domain/capability.js';
import { HostError } from '../../domain/errors.js';
import type { JsonValue } from '../../domain/json.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { isDiscovery } from '../tools/discovery.js';
import { isResults } from './kept-results.js';
import type { ResumedRun } from './resumed-run.js';
import type { RunFacts } from './run-types.js';

/**
 * The context of a suspended run, with its ledger. The data that it has received since then, in a process that was killed,
 * is derived from the recorded calls. Throws `image_rejected`.
 */
export function restoreContext(
  stored: RunContext,
  resumed: Omit<ResumedRun, 'context' | 'signal'>,
  snapshot: CatalogSnapshot,
  gate: PolicyGate,
): RunContext {
  mustBeOf(resumed, stored);
  const ledger = readLedger(stored.ledger as unknown as JsonValue);
  for (const { call, isSent } of resumed.stored.calls) {
    const found = snapshot.toolByTarget.get(call.target);
    if (isResults(call.target) || (isSent && found === undefined && !isDiscovery(call.target)))
      gate.receivedUnknown(ledger);
    else if (isSent && found !== undefined) gate.countEarlierCall(found.tool, found.server.path, ledger);
  }
  // A person has decided about the call since: an approved call is made even if the token has expired in the meantime.
  const { authorizedUntilMs: _, ...context } = stored;
  // The column, because a context of an earlier version does not have it.
  return { ...context, createdAtMs: resumed.createdAtMs, ledger };
}

/**
 * The context is sealed, the columns beside it are not: a client of the database must not choose the contract, and with it the
 * session, under which a run goes on.
 */
function mustBeOf(
  { id, caller, profile, codeDigest }: Omit<ResumedRun, 'context' | 'signal'>,
  stored: RunContext,
): void {
  const known = [stored.runId, stored.caller, stored.profile, stored.codeDigest];
  if ([id, caller, profile, codeDigest].every((value, index) => value === known[index])) return;
  throw new HostError('image_rejected', 'the stored state of this run was modified; start the run again');
}

/** The capabilities of a suspended run's token: a resumed run sees no more. */
export function boundsOf({ context }: ResumedRun): { readonly bounds?: CapabilitySet } {
  const { bounds } = (context as unknown as { readonly facts: RunFacts }).facts;
  return omitUndefined({ bounds });
}

function readLedger(value: JsonValue): RunLedger {
  try {
    return RunLedger.fromJSON(value);
  } catch (error) {
    const message = 'the stored state of this run does not say which data it has received; start the run again';
    throw new HostError('image_rejected', message, { cause: error });
  }
}
