import type { BrokerOutcome } from '../../broker/broker.js';
import { SCRIPT_TOOLS } from '../../broker/capabilities/script-tools.js';
import type { CatalogSnapshot } from '../../catalog/snapshot.js';
import type { JsonValue } from '../../domain/json.js';
import type { StoredScript } from '../../domain/script.js';
import type { StopSignal } from '../../domain/stop-signal.js';
import type { DirectCallContext, DirectlyCalled } from '../calls/direct-call.js';
import type { AskPerson } from '../runs/run-client.js';
import { changedPins, changedQuestion, changedScript } from './script-pins.js';

/** What the session provides. */
export interface ConfirmingParts {
  /** The tools that a program with this source would see. */
  readonly snapshotFor: (source: string) => Promise<CatalogSnapshot>;
  readonly callDirect: (tool: DirectlyCalled, input: JsonValue, context: DirectCallContext) => Promise<BrokerOutcome>;
}

/** The client that waits for the script. */
export interface ConfirmingClient {
  readonly askPerson?: AskPerson | undefined;
  readonly signal?: StopSignal | undefined;
}

/**
 * Lets the policy decide about a directly run script whose tools have changed since it was stored. Throws `conflict` if it must not
 * run.
 */
export async function confirmScript(
  { snapshotFor, callDirect }: ConfirmingParts,
  script: StoredScript,
  { askPerson, signal }: ConfirmingClient,
): Promise<void> {
  if ((script.pins ?? []).length === 0) return;
  const changes = changedPins(script, await snapshotFor(script.source));
  if (changes.length === 0) return;
  const stop = new AbortController();
  const cancel = () => stop.abort();
  signal?.addEventListener('abort', cancel);
  try {
    const context = { signal: stop.signal, askPerson };
    const outcome = await callDirect({ tool: SCRIPT_TOOLS.run_changed }, changedQuestion(script, changes), context);
    if (!outcome.ok) throw changedScript(script, changes, outcome.error);
  } finally {
    signal?.removeEventListener('abort', cancel);
  }
}
