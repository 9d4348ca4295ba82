import { useEffect, useMemo, useState } from 'preact/hooks';
import type { DeliveryView, ReplayedRun, RunCall, RunDetail } from '../../../../src/domain/console/runs.js';
import { messageOf, RequestError, request } from '../../api/request.js';
import { isOwner } from '../../api/session-state.js';
import { useResource } from '../../api/use-resource.js';
import { counted, sentence } from '../../lib/format.js';
import { linkTo, setOptions } from '../../lib/router.js';
import { CodeView } from '../../ui/code-view.js';
import { Foreign } from '../../ui/foreign.js';
import { Empty, Loading, PageHead, Panel, Problem, RunBadge } from '../../ui/parts.js';
import { CallDetail } from './call-detail.js';
import { Journal } from './journal.js';
import type { OpenedFile } from './opened-file.js';
import { ReplayButton, RunActions } from './run-actions.js';
import { RunFacts } from './run-facts.js';
import { diagnosticsOf, RunTabs } from './run-tabs.js';
import { Waterfall } from './waterfall.js';

/** Runs with more calls are replayed only on request. */
const MAX_AUTO_REPLAY_CALLS = 1_000;

export function RunScreen({ runId }: { runId: string }) {
  const run = useResource(
    runId,
    (signal) => request<RunDetail>('run', { path: { id: runId }, signal }),
    (event) =>
      (event.type === 'progress' && event.runIds.includes(runId)) ||
      (event.type === 'runs' && (event.hasMore || event.runs.some((each) => each.runId === runId))) ||
      event.type === 'approvals',
  );
  if (run.data === undefined) {
    if (run.error === undefined) return <Loading what="the run" />;
    return (
      <div class="panel">
        <Empty icon="runs" title="This run cannot be shown">
          {isGone(run.error) ? (
            <p>{sentence(messageOf(run.error))}</p>
          ) : (
            <Problem error={run.error} retry={run.reload} />
          )}
          <a class="button" href={linkTo(['runs'])}>
            Show all runs
          </a>
        </Empty>
      </div>
    );
  }
  return (
    <>
      <Problem error={run.error} retry={run.reload} />
      <RunView run={run.data} onChange={run.set} />
    </>
  );
}

/** A retry would not bring it back. */
function isGone(error: unknown): boolean {
  return error instanceof RequestError && (error.code === 'not_found' || error.code === 'gone');
}

export function FileRunScreen({ file }: { file: OpenedFile }) {
  return (
    <>
      <p class="note">
        From the file {file.name}. Nothing of it is stored here. <a href={linkTo(['runs'])}>Close the file</a>
      </p>
      <RunView run={file.run} deliveries={file.deliveries} onChange={() => {}} />
    </>
  );
}

function RunView({
  run,
  deliveries,
  onChange,
}: {
  run: RunDetail;
  deliveries?: readonly DeliveryView[];
  onChange: (run: RunDetail) => void;
}) {
  const [replayed, setReplayed] = useState<ReplayedRun>();
  const [selected, setSelected] = useState<number>();
  const [line, setLine] = useState<number>();
  const [position, setPosition] = useState<number>();
  const isFile = deliveries !== undefined;
  const replay = async () => setReplayed(await request<ReplayedRun>('replay', { path: { id: run.runId } }));

  const isEnded = run.state === 'succeeded' || run.state === 'failed';
  const needsLines =
    isEnded && run.program !== undefined && run.calls.some(({ line, depth = 0 }) => line === undefined && depth === 0);
  useEffect(() => {
    if (!needsLines || isFile || !isOwner() || run.callCount > MAX_AUTO_REPLAY_CALLS) return;
    replay().catch(() => {});
  }, [needsLines, run.runId]);

  const calls = useMemo(() => withLines(run.calls, replayed), [run.calls, replayed]);
  const linked = useMemo(() => linesOf(calls), [calls]);
  const failedLine = run.outcome?.status === 'failed' ? run.outcome.position?.line : undefined;
  const call = selected === undefined ? undefined : calls[selected];
  const isAnswered = position === undefined ? undefined : (each: RunCall) => (each.answeredAt ?? -1) < position;

  const selectCall = (index: number) => {
    setSelected(index);
    setLine(calls[index]?.line);
  };
  const selectLine = (number: number) => {
    setLine(number);
    const index = calls.findIndex((each) => each.line === number);
    if (index !== -1) setSelected(index);
  };
  /** Also when the program is out of sight. */
  const goToLine = (number: number) => {
    selectLine(number);
    requestAnimationFrame(() =>
      document.querySelector(`.program li:nth-child(${number})`)?.scrollIntoView({ block: 'nearest' }),
    );
  };
  const goToPosition = (next: number | undefined) => {
    setPosition(next);
    const at = calls.findIndex((each) => next !== undefined && next > 0 && each.answeredAt === next - 1);
    if (at !== -1) selectCall(at);
  };
  const showAnswer = (at: number) => {
    goToPosition(at + 1);
    document.getElementById('journal')?.scrollIntoView({ block: 'center' });
  };

  return (
    <>
      <PageHead
        title={
          <span class="run-heading">
            <RunBadge state={run.state} /> <Foreign text={run.title ?? 'A run without a title'} limit={120} />
          </span>
        }
        lead={
          <code>
            <Foreign text={run.runId} limit={80} />
          </code>
        }
      >
        <RunActions run={run} isFile={isFile} onChange={onChange} />
      </PageHead>
      <div class="stack">
        <Outcome run={run} onLine={goToLine} />
        {run.pendingApprovals > 0 && !isFile && (
          <p class="note wait row spread">
            <span>
              {counted(run.pendingApprovals, 'call')} of this run {run.pendingApprovals === 1 ? 'waits' : 'wait'} for a
              decision.
            </span>
            <a class="button small" href={linkTo(['inbox'])}>
              Decide in the inbox
            </a>
          </p>
        )}
        {replayed !== undefined && !replayed.isSame && (
          <p class="note wait">
            The replay differs from the run: <Foreign text={replayed.difference ?? ''} limit={600} />
          </p>
        )}
        <RunFacts run={run} />
        {/* Above the parts that it changes, so that it does not move while it is used. */}
        {run.deliveryCount > 0 && (
          <section class="panel panel-body" id="journal" aria-label="Journal">
            <Journal
              runId={run.runId}
              calls={calls}
              total={run.deliveryCount}
              given={deliveries}
              position={position}
              onPosition={goToPosition}
            >
              {!isFile && isEnded && run.program !== undefined && isOwner() && (
                <ReplayButton replayed={replayed} onReplay={replay} />
              )}
            </Journal>
          </section>
        )}
        <div class="run-columns">
          <Panel title="Program" flush class="program">
            {run.program === undefined ? (
              <p class="panel-body muted">{run.recordingNote ?? 'The program of this run is not kept.'}</p>
            ) : (
              <CodeView
                source={run.program.source}
                language={run.program.language}
                label="Program"
                failed={failedLine}
                linkedLines={linked}
                active={line}
                onLine={selectLine}
              />
            )}
          </Panel>
          <Panel title={`Calls (${run.callCount})`} flush>
            {calls.length === 0 ? (
              <p class="panel-body muted">The program has made no calls.</p>
            ) : (
              <Waterfall
                calls={calls}
                callCount={run.callCount}
                selected={selected}
                activeLine={line}
                isAnswered={isAnswered}
                onSelect={selectCall}
              />
            )}
            {call !== undefined && (
              <CallDetail runId={run.runId} call={call} given={deliveries} onLine={goToLine} onAnswer={showAnswer} />
            )}
          </Panel>
        </div>
        <RunTabs
          run={run}
          calls={calls}
          logs={replayed?.logs ?? run.logs}
          onTab={(tab) => setOptions({ tab })}
          onLine={goToLine}
        />
      </div>
    </>
  );
}

/** Why the run failed, shown first. */
function Outcome({ run: { outcome, answer }, onLine }: { run: RunDetail; onLine: (line: number) => void }) {
  if (outcome?.status !== 'failed') return null;
  const { position, name, message, hint } = outcome;
  return (
    <div class="note bad failure" role="note">
      <p class="strong">
        <Foreign text={name} limit={80} />: <Foreign text={message} limit={600} lines />
      </p>
      {hint !== undefined && (
        <p>
          <Foreign text={hint} limit={600} lines />
        </p>
      )}
      {diagnosticsOf(answer)
        .filter(({ code, path }) => code === 'TYPE_WARNING' && path?.split(':')[1] === String(position?.line))
        .map(({ message }) => (
          <p key={message}>
            The type checker says of this line: <Foreign text={String(message ?? '')} limit={400} />
          </p>
        ))}
      {position !== undefined && (
        <button type="button" class="more" onClick={() => onLine(position.line)}>
          Go to line {position.line}
        </button>
      )}
    </div>
  );
}

function withLines(calls: readonly RunCall[], replayed: ReplayedRun | undefined): readonly RunCall[] {
  if (replayed === undefined) return calls;
  const lines = new Map(replayed.lines);
  return calls.map((call) => {
    const line = call.number === undefined ? undefined : lines.get(call.number);
    return line === undefined || call.line !== undefined ? call : { ...call, line };
  });
}

/** Each line that made calls, with its note. */
function linesOf(calls: readonly RunCall[]): ReadonlyMap<number, string> {
  const times = new Map<number, number>();
  for (const { line } of calls) if (line !== undefined) times.set(line, (times.get(line) ?? 0) + 1);
  return new Map([...times].map(([line, number]) => [line, counted(number, 'call')]));
}
