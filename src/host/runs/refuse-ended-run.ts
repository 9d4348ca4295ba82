import type { Approval, GrantScope } from '../../domain/approval.js';
import { HostError } from '../../domain/errors.js';
import type { RunView } from './run-view.js';

/**
 * Approving a call of an ended run has no effect, unless the scope reaches beyond the run, or the program could not be
 * suspended: then its next run makes the call. Throws `conflict` before anything is decided. `stateOf` rejects if the run is not
 * stored.
 */
export async function refuseEndedRun(
  { id, runId, program }: Pick<Approval, 'id' | 'runId' | 'program'>,
  scope: GrantScope,
  stateOf: (runId: string) => Promise<RunView['state']>,
): Promise<void> {
  if (scope === 'hour' || (program !== undefined && scope !== 'run')) return;
  const state = await stateOf(runId).catch(() => undefined);
  // Not stored: it still runs, or the call is one that a client made itself.
  if (state === undefined || state === 'suspended' || state === 'running') return;
  const once = program === undefined ? '' : ` To let the next run make this call: codemode approvals approve ${id}.`;
  throw new HostError(
    'conflict',
    `run ${runId} has ended (${state}), so approving this call${program === undefined ? '' : ' for the run'} changes nothing, and nothing was decided.${once} To let the next runs call this tool for an hour: codemode approvals approve ${id} --scope hour`,
  );
}
