import type { ComponentChildren } from 'preact';
import type { RunDetail } from '../../../../src/domain/console/runs.js';
import { request } from '../../api/request.js';
import { useResource } from '../../api/use-resource.js';
import { bytes, count, duration, time } from '../../lib/format.js';
import { linkTo } from '../../lib/router.js';
import { Foreign, foreignLabel } from '../../ui/foreign.js';
import { JsonTree } from '../../ui/json-tree.js';
import { Loading, PageHead, Panel, Problem, RunBadge } from '../../ui/parts.js';
import { diffLines } from './line-diff.js';

/** Two runs side by side: what differs in their programs, their calls and their results. */
export function CompareScreen({ left, right }: { left: string; right: string }) {
  const runs = useResource(`${left} ${right}`, (signal) =>
    Promise.all([left, right].map((id) => request<RunDetail>('run', { path: { id }, signal }))),
  );
  const [first, second] = runs.data ?? [];
  if (first === undefined || second === undefined) {
    return runs.error === undefined ? <Loading what="the runs" /> : <Problem error={runs.error} retry={runs.reload} />;
  }
  return (
    <>
      <PageHead title="Compare two runs" lead="The first run is on the left, the second on the right." />
      <div class="stack">
        <Panel title="Summary" flush>
          <div class="table-wrap">
            <table class="table side-by-side">
              <thead>
                <tr>
                  <th scope="col">Run</th>
                  {[first, second].map((run) => (
                    <th scope="col" key={run.runId}>
                      <a class="mono" href={linkTo(['runs', run.runId])}>
                        {foreignLabel(run.title ?? run.runId, 80)}
                      </a>
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                <Line what="State" runs={[first, second]} show={(run) => <RunBadge state={run.state} />} />
                <Line what="Started" runs={[first, second]} show={(run) => time(run.createdAtMs)} />
                <Line
                  what="Duration"
                  runs={[first, second]}
                  show={(run) => (run.durationMs === undefined ? '–' : duration(run.durationMs))}
                />
                <Line what="Profile" runs={[first, second]} show={(run) => <Foreign text={run.profile} limit={40} />} />
                <Line what="Calls" runs={[first, second]} show={(run) => count(run.callCount)} />
                <Line
                  what="CPU"
                  runs={[first, second]}
                  show={(run) => (run.usage?.cpuMs === undefined ? 'not recorded' : duration(run.usage.cpuMs))}
                />
                <Line
                  what="Memory"
                  runs={[first, second]}
                  show={(run) => (run.usage?.memoryBytes === undefined ? 'not recorded' : bytes(run.usage.memoryBytes))}
                />
              </tbody>
            </table>
          </div>
        </Panel>
        <Panel title="Calls by tool" flush>
          <div class="table-wrap">
            <table class="table">
              <thead>
                <tr>
                  <th scope="col">Tool</th>
                  <th scope="col" class="end">
                    First
                  </th>
                  <th scope="col" class="end">
                    Second
                  </th>
                </tr>
              </thead>
              <tbody>
                {toolsOf(first, second).map(([tool, before, after]) => (
                  <tr key={tool} class={before === after ? '' : 'strong'}>
                    <td class="mono">
                      <Foreign text={tool} limit={120} />
                    </td>
                    <td class="num end">{before}</td>
                    <td class="num end">{after}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </Panel>
        <Panel title="Programs" flush>
          <Diff before={first.program?.source ?? ''} after={second.program?.source ?? ''} />
        </Panel>
        <div class="run-columns">
          {[first, second].map((run, index) => (
            <Panel key={run.runId} title={`${index === 0 ? 'First' : 'Second'} result`}>
              {run.outcome?.status === 'completed' ? (
                <JsonTree value={run.outcome.result} label="Result" isCut={run.outcome.isCut} />
              ) : (
                <p>
                  <Foreign text={run.outcome?.message ?? `None: the run is ${run.state}.`} limit={2_000} lines />
                </p>
              )}
            </Panel>
          ))}
        </div>
      </div>
    </>
  );
}

function Line({
  what,
  runs,
  show,
}: {
  what: string;
  runs: readonly RunDetail[];
  show: (run: RunDetail) => ComponentChildren;
}) {
  return (
    <tr>
      <th scope="row">{what}</th>
      {runs.map((run) => (
        <td key={run.runId}>{show(run)}</td>
      ))}
    </tr>
  );
}

function Diff({ before, after }: { before: string; after: string }) {
  if (before === after) return <p class="panel-body muted">The programs are the same.</p>;
  return (
    <div class="diff">
      {diffLines(before, after).map(({ kind, text }, index) => (
        <div key={index} class={kind}>
          {kind === 'added' ? '+ ' : kind === 'removed' ? '- ' : '  '}
          <Foreign text={text} limit={400} />
        </div>
      ))}
    </div>
  );
}

function toolsOf(first: RunDetail, second: RunDetail): readonly (readonly [string, number, number])[] {
  const counts = new Map<string, [number, number]>();
  for (const [index, run] of [first, second].entries()) {
    for (const { target } of run.calls) {
      const found = counts.get(target) ?? [0, 0];
      found[index === 0 ? 0 : 1] += 1;
      counts.set(target, found);
    }
  }
  return [...counts].map(([tool, [before, after]]) => [tool, before, after] as const);
}
