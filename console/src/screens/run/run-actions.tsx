import type { ReplayedRun, RunDetail } from '../../../../src/domain/console/runs.js';
import { download, request } from '../../api/request.js';
import { isOwner } from '../../api/session-state.js';
import { goTo, linkTo } from '../../lib/router.js';
import { ActionButton, Badge } from '../../ui/parts.js';
import { say } from '../../ui/toasts.js';

/** What can be done with a run as it is now. */
export function RunActions({
  run,
  isFile,
  onChange,
}: {
  run: RunDetail;
  isFile: boolean;
  onChange: (run: RunDetail) => void;
}) {
  if (isFile) return null;
  const path = { id: run.runId };
  const isOpen = run.state === 'queued' || run.state === 'running' || run.state === 'suspended';
  const cancel = async () => {
    onChange(await request<RunDetail>('cancelRun', { path }));
    say('The run is cancelled.');
  };
  const resume = async () => {
    onChange(await request<RunDetail>('resumeRun', { path }));
    say('The run is resumed.');
  };
  return (
    <>
      {isOpen && isOwner() && (
        <ActionButton class="danger" run={cancel}>
          Cancel
        </ActionButton>
      )}
      {run.state === 'suspended' && isOwner() && <ActionButton run={resume}>Resume</ActionButton>}
      {!isOpen && run.program !== undefined && isOwner() && (
        <ActionButton run={async () => goTo(['playground'], { run: run.runId })}>Run again</ActionButton>
      )}
      <a class="button" href={linkTo(['runs'], { compare: run.runId })}>
        Compare
      </a>
      <ActionButton run={() => download('exportRun', { path }, `codemode-run-${run.runId}.json`)}>Export</ActionButton>
    </>
  );
}

/** Runs the program again from its journal, in a sandbox and without any call, and says whether it comes out the same. */
export function ReplayButton({
  replayed,
  onReplay,
}: {
  replayed: ReplayedRun | undefined;
  onReplay: () => Promise<void>;
}) {
  if (replayed?.isSame === true) return <Badge tone="good">replayed: the same</Badge>;
  return (
    <ActionButton
      class="small"
      title="Runs the program again in a sandbox, answered from this journal: no call is made"
      run={onReplay}
    >
      Replay
    </ActionButton>
  );
}
