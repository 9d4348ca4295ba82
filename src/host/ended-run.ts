import type { Approval, GrantScope } from '../domain/approval.js';
import { HostError } from '../domain/errors.js';
import type { RunView } from './sleeping-runs.js';

/**
 * A yes to a call of a run that has ended is used by nobody, unless it reaches further than the run. Throws `conflict` and says
 * so, before anything is decided. `show` is asked for the run, and rejects where none is stored.
 */
export async function refuseEndedRun(
  { id, runId }: Pick<Approval, 'id' | 'runId'>,
  scope: GrantScope,
  show: (runId: string) => Promise<Pick<RunView, 'state'>>,
): Promise<void> {
  if (scope === 'hour') return;
  const state = await show(runId).then(
    (run) => run.state,
    () => undefined,
  );
  // Not stored: it still runs, or the call is one that a client made itself.
  if (state === undefined || state === 'waiting' || state === 'running') return;
  throw new HostError(
    'conflict',
    `run ${runId} has ended (${state}), so approving this call changes nothing, and nothing was decided. To let the next runs call this tool for an hour: codemode approvals approve ${id} --scope hour`,
  );
}
