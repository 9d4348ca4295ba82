import type { ReplayedRun, RunDetail } from '../../../../src/domain/console/runs.js';
import { download, request } from '../../api/request.js';
import { isOwner } from '../../api/session-state.js';
import { goTo, linkTo, place, setOptions } from '../../lib/router.js';
import { useStore } from '../../lib/store.js';
import { ActionButton, Badge } from '../../ui/parts.js';
import { say } from '../../ui/toasts.js';
import { KeepDialog } from './keep-dialog.js';
import { UndoDialog } from './undo-dialog.js';

/** The actions that the current state of a run allows. */
export function RunActions({
  run,
  isFile,
  onChange,
}: {
  run: RunDetail;
  isFile: boolean;
  onChange: (run: RunDetail) => void;
}) {
  const dialog = useStore(place).options.get('show');
  const show = (next: 'keep' | 'undo' | undefined) =>
    setOptions({ ...Object.fromEntries(place.get().options), show: next });
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
      {canBeKept(run) && isOwner() && (
        <button type="button" class="button" onClick={() => show('keep')}>
          Keep as tool
        </button>
      )}
      {canBeUndone(run) && isOwner() && (
        <button type="button" class="button" onClick={() => show('undo')}>
          Undo
        </button>
      )}
      {dialog === 'keep' && canBeKept(run) && <KeepDialog runId={run.runId} onClose={() => show(undefined)} />}
      {dialog === 'undo' && canBeUndone(run) && <UndoDialog runId={run.runId} onClose={() => show(undefined)} />}
      <a class="button" href={linkTo(['runs'], { compare: run.runId })}>
        Compare
      </a>
      <ActionButton run={() => download('exportRun', { path }, `codemode-run-${run.runId}.json`)}>Export</ActionButton>
    </>
  );
}

/** Only programs of these contracts can be kept. A failed run is not worth keeping. */
export function canBeKept({ state, profile, program }: Pick<RunDetail, 'state' | 'profile' | 'program'>): boolean {
  return state === 'succeeded' && program !== undefined && (profile === 'codemode' || profile === 'code_execution');
}

/** The run is over, and made a call that may have changed something. */
function canBeUndone({ state, program, calls }: RunDetail): boolean {
  const hasEnded = state === 'succeeded' || state === 'failed';
  return hasEnded && program !== undefined && calls.some(({ isTool, isReadOnly }) => isTool && isReadOnly !== true);
}

/** Replays the program from its journal, in a sandbox and without any call, and says whether the result is the same. */
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
