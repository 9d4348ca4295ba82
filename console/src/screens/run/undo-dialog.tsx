import { useState } from 'preact/hooks';
import type { UndoAnswer, UndoPlan, UndoStepView } from '../../../../src/domain/console/scripts.js';
import { request } from '../../api/request.js';
import { useResource } from '../../api/use-resource.js';
import { counted, sentence } from '../../lib/format.js';
import { linkTo } from '../../lib/router.js';
import { Dialog } from '../../ui/dialog.js';
import { Foreign } from '../../ui/foreign.js';
import { JsonTree } from '../../ui/json-tree.js';
import { ActionButton, Badge, Loading, Problem, type Tone } from '../../ui/parts.js';

const STATES: Readonly<Record<UndoStepView['state'], readonly [word: string, tone: Tone]>> = {
  ready: ['can be undone', 'live'],
  undone: ['undone', 'good'],
  nothing: ['nothing to undo', 'calm'],
  impossible: ['cannot be undone', 'wait'],
};

/** Which calls of a run can be undone and which cannot, the last call first, and the button that undoes them. */
export function UndoDialog({ runId, onClose }: { runId: string; onClose: () => void }) {
  const path = { id: runId };
  const plan = useResource(runId, (signal) => request<UndoPlan>('undoPlan', { path, signal }));
  const [answer, setAnswer] = useState<UndoAnswer>();
  const steps = answer?.steps ?? plan.data?.steps;
  const ready = steps?.filter(({ state }) => state === 'ready') ?? [];
  const undo = async () => {
    const body = { calls: ready.map(({ call }) => call) };
    setAnswer(await request<UndoAnswer>('undoRun', { path, body }));
  };
  return (
    <Dialog title="Undo this run" onClose={onClose} isWide>
      {steps === undefined ? (
        plan.error === undefined ? (
          <Loading what="what can be undone" />
        ) : (
          <Problem error={plan.error} />
        )
      ) : (
        <div class="stack">
          {steps.length === 0 ? (
            <p>The run called no tools: there is nothing to undo.</p>
          ) : (
            <p class="muted">
              Each call is undone by another call, the last one first. It passes the policy like any other, and stops at
              the first that fails or waits.
            </p>
          )}
          {answer !== undefined && <Came answer={answer} />}
          <ol class="undo-steps">
            {steps.map((step) => (
              <li key={step.call}>
                <span class="num muted">{step.call}</span>
                <div class="grow">
                  <div class="row tight spread">
                    <span class="mono strong clip">
                      <Foreign text={step.tool} limit={120} />
                    </span>
                    <Badge tone={STATES[step.state][1]}>{STATES[step.state][0]}</Badge>
                  </div>
                  <p class="small muted">
                    {step.state === 'ready' ? 'It is undone ' : ''}
                    <Foreign text={step.state === 'ready' ? `${step.why}, with:` : sentence(step.why)} limit={300} />
                  </p>
                  {step.inverse !== undefined && (
                    <JsonTree
                      value={step.inverse.arguments}
                      label={`What would be sent for call ${step.call}`}
                      open={2}
                      bare
                    />
                  )}
                </div>
              </li>
            ))}
          </ol>
          {ready.length === 0 && steps.some(({ state }) => state === 'impossible') && (
            <p class="note">
              Say how a tool is undone in the configuration: <code>policy.undo</code>, for example{' '}
              <code>{'{ tool: "tracker/create_issue", with: "close_issue", arguments: { id: "$result.id" } }'}</code>.
            </p>
          )}
          <div class="row end-row">
            <button type="button" class="button" onClick={onClose}>
              Close
            </button>
            {ready.length > 0 && (
              <ActionButton class="danger" run={undo}>
                Undo {counted(ready.length, 'call')}
              </ActionButton>
            )}
          </div>
        </div>
      )}
    </Dialog>
  );
}

/** The outcome: undoing stops at the first call that was not undone. */
function Came({ answer: { done } }: { answer: UndoAnswer }) {
  const undone = done.filter(({ outcome }) => outcome === 'undone').length;
  const last = done.at(-1);
  if (last === undefined || last.outcome === 'undone')
    return <p class="note good">Undone: {counted(undone, 'call')}.</p>;
  const before = undone === 0 ? '' : `${counted(undone, 'call')} ${undone === 1 ? 'was' : 'were'} undone. `;
  if (last.outcome === 'waits') {
    return (
      <p class="note wait row spread">
        <span>
          {before}Undoing call {last.call} waits for a decision. Decide, then undo again: it continues there.
        </span>
        <a class="button small" href={linkTo(['inbox'])}>
          Decide in the inbox
        </a>
      </p>
    );
  }
  return (
    <p class="note bad">
      {before}Undoing call {last.call}{' '}
      {last.outcome === 'unknown'
        ? 'may have worked: the outcome is unknown. Check it yourself.'
        : `was not possible (${last.outcome}).`}{' '}
      <Foreign text={last.message ?? ''} limit={600} lines />
    </p>
  );
}
