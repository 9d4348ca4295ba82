import type { PolicyGate } from '../broker/policy/gate.js';
import type { RunContext } from '../broker/run-context.js';
import { RunLedger } from '../broker/run-ledger.js';
import type { CatalogSnapshot } from '../catalog/snapshot.js';
import { HostError } from '../domain/errors.js';
import type { JsonValue } from '../domain/json.js';
import { isDiscovery } from './discovery.js';
import type { Sleeper } from './execution.js';
import { isResults } from './results.js';

/**
 * The context of a run that slept, with what the pipeline remembered of it. What it has received since it was last put
 * away, in a process that was killed, is found out from the calls that were written down. Throws `image_rejected`.
 */
export function reviveContext(
  stored: RunContext,
  { calls }: Sleeper,
  snapshot: CatalogSnapshot,
  gate: PolicyGate,
): RunContext {
  const ledger = readLedger(stored.ledger as unknown as JsonValue);
  for (const { call, isSent } of calls) {
    const found = snapshot.toolByTarget.get(call.target);
    if (isResults(call.target) || (isSent && found === undefined && !isDiscovery(call.target)))
      gate.receivedUnknown(ledger);
    else if (isSent && found !== undefined) gate.recall(found.tool, found.server.path, ledger);
  }
  // A person has decided about it since: what they approved is carried out, however old the token is by then.
  const { authorizedUntilMs: _, ...context } = stored;
  return { ...context, ledger };
}

function readLedger(value: JsonValue): RunLedger {
  try {
    return RunLedger.fromJSON(value);
  } catch (error) {
    const message = 'what was stored of this run does not say what it has received; start the run again';
    throw new HostError('image_rejected', message, { cause: error });
  }
}
