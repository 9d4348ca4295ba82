import type { ReplayedRun, RunDetail } from '../../../../src/domain/console/runs.js';
import { download, request } from '../../api/request.js';
import { isOwner } from '../../api/session-state.js';
import { goTo, linkTo } from '../../lib/router.js';
import { ActionButton } from '../../ui/parts.js';
import { say } from '../../ui/toasts.js';

/** What can be done with a run as it is now. */
export function RunActions({
  run,
  isFile,
  replayed,
  onReplay,
  onChange,
}: {
  run: RunDetail;
  isFile: boolean;
  replayed: ReplayedRun | undefined;
  onReplay: () => Promise<void>;
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
      {isOpen && (
        <ActionButton class="danger" run={cancel}>
          Cancel
        </ActionButton>
      )}
      {run.state === 'suspended' && <ActionButton run={resume}>Resume</ActionButton>}
      {!isOpen && run.program !== undefined && isOwner() && (
        <>
          {replayed === undefined && <ActionButton run={onReplay}>Replay</ActionButton>}
          <ActionButton run={async () => goTo(['playground'], { run: run.runId })}>Run again</ActionButton>
        </>
      )}
      <a class="button" href={linkTo(['runs'], { compare: run.runId })}>
        Compare
      </a>
      <ActionButton run={() => download('exportRun', { path }, `codemode-run-${run.runId}.json`)}>Export</ActionButton>
    </>
  );
}
