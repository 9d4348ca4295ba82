import type { RunCall, RunDetail } from '../../../../src/domain/console/runs.js';
import type { JsonValue } from '../../../../src/domain/json.js';
import type { LogEntry } from '../../../../src/domain/run.js';
import { bytes, time } from '../../lib/format.js';
import { place } from '../../lib/router.js';
import { useStore } from '../../lib/store.js';
import { Foreign } from '../../ui/foreign.js';
import { JsonTree } from '../../ui/json-tree.js';
import { Badge, Tabs } from '../../ui/parts.js';
import { Flow } from './flow.js';
import { Logs } from './logs.js';

const TABS = ['result', 'logs', 'diagnostics', 'flow', 'approvals', 'answer', 'limits'] as const;
type Tab = (typeof TABS)[number];

/** Everything about a run except its code and its calls. */
export function RunTabs({
  run,
  calls,
  logs,
  onTab,
  onLine,
}: {
  run: RunDetail;
  calls: readonly RunCall[];
  logs: readonly LogEntry[];
  onTab: (tab: Tab) => void;
  onLine: (line: number) => void;
}) {
  const { options } = useStore(place);
  const tab = TABS.find((each) => each === options.get('tab')) ?? 'result';
  const diagnostics = diagnosticsOf(run.answer);
  // What a program logged is stored with the end of its run.
  const isOpen = ['queued', 'running', 'suspended'].includes(run.state);
  const notYet = (what: string) => (
    <p class="muted">
      The run is {run.state}: {what} when it ends.
    </p>
  );
  return (
    <section class="panel">
      <div class="panel-head">
        <Tabs
          label="Parts of the run"
          chosen={tab}
          onChoose={onTab}
          tabs={[
            ['result', 'Result'],
            ['logs', isOpen && logs.length === 0 ? 'Logs' : `Logs (${logs.length})`],
            ['diagnostics', isOpen ? 'Diagnostics' : `Diagnostics (${diagnostics.length})`],
            ['flow', 'Flow'],
            ['approvals', `Approvals (${run.approvals.length})`],
            ['answer', 'Answer'],
            ['limits', 'Limits'],
          ]}
        />
      </div>
      <div class="panel-body">
        {tab === 'result' && <Result run={run} />}
        {tab === 'logs' && (isOpen && logs.length === 0 ? notYet('its logs are here') : <Logs logs={logs} />)}
        {tab === 'diagnostics' &&
          (isOpen ? notYet('its diagnostics are here') : <Diagnostics diagnostics={diagnostics} onLine={onLine} />)}
        {tab === 'flow' && <Flow calls={calls} />}
        {tab === 'approvals' && <Approvals run={run} />}
        {tab === 'answer' && isOpen && notYet('its answer is here')}
        {tab === 'answer' && !isOpen && (
          <>
            <p class="muted small">The response that the client received{run.isAnswerCut ? ', cut' : ''}.</p>
            <JsonTree value={run.answer} label="Answer" isCut={run.isAnswerCut} />
          </>
        )}
        {tab === 'limits' && <JsonTree value={run.limits ?? {}} label="Limits" open={3} />}
      </div>
    </section>
  );
}

function Result({ run: { outcome, state } }: { run: RunDetail }) {
  if (outcome === undefined) return <p class="muted">There is no result: the run is {state}.</p>;
  if (outcome.status === 'failed') {
    return outcome.stack === undefined ? (
      <p class="muted">There is no result: the program failed.</p>
    ) : (
      <pre class="block">
        <Foreign text={outcome.stack} limit={6_000} lines />
      </pre>
    );
  }
  return (
    <>
      {outcome.isCut && <p class="muted small">Cut: the result has {bytes(outcome.resultBytes)}.</p>}
      <JsonTree value={outcome.result} label="Result" isCut={outcome.isCut} />
    </>
  );
}

export interface Diagnostic {
  readonly severity?: string;
  readonly code?: string;
  readonly message?: string;
  readonly hint?: string;
  /** `main.ts:8:34`. */
  readonly path?: string;
}

/** The diagnostics of a response, if its contract has them. */
export function diagnosticsOf(answer: JsonValue): readonly Diagnostic[] {
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return [];
  const found = (answer as Record<string, JsonValue>)['diagnostics'];
  if (!Array.isArray(found)) return [];
  const shown = found.filter((each) => typeof each === 'object' && each !== null) as unknown as readonly Diagnostic[];
  return shown.toSorted((left, right) => rankOf(left) - rankOf(right));
}

/** Errors first. Declarations, which can be long, last. */
function rankOf({ severity }: Diagnostic): number {
  return severity === 'error' ? 0 : severity === 'warning' ? 1 : 2;
}

/** The line of `main.ts:8:34`: other files are not shown. */
function lineOf(path: unknown): number | undefined {
  const [, line] = /^main\.\w+:(\d+)/.exec(typeof path === 'string' ? path : '') ?? [];
  return line === undefined ? undefined : Number(line);
}

function Diagnostics({ diagnostics, onLine }: { diagnostics: readonly Diagnostic[]; onLine: (line: number) => void }) {
  if (diagnostics.length === 0) return <p class="muted">There are no diagnostics.</p>;
  return (
    <ul class="diagnostics">
      {diagnostics.map(({ severity, code, message, hint, path }) => {
        const line = lineOf(path);
        return (
          <li key={`${code} ${message} ${path}`}>
            <Badge tone={severity === 'error' ? 'bad' : severity === 'warning' ? 'wait' : 'calm'}>
              {String(code ?? severity ?? 'note')}
            </Badge>
            <div class={message?.includes('\n') === true ? 'mono' : ''}>
              <Foreign text={String(message ?? '')} limit={severity === 'info' ? 600 : 2_000} lines />
              {hint !== undefined && (
                <p class="muted">
                  <Foreign text={String(hint)} limit={800} lines />
                </p>
              )}
            </div>
            {line !== undefined && (
              <button type="button" class="more" onClick={() => onLine(line)}>
                Go to line {line}
              </button>
            )}
          </li>
        );
      })}
    </ul>
  );
}

function Approvals({ run: { approvals } }: { run: RunDetail }) {
  if (approvals.length === 0) return <p class="muted">No call of this run needed an approval.</p>;
  return (
    <div class="table-wrap">
      <table class="table">
        <thead>
          <tr>
            <th scope="col">Call</th>
            <th scope="col">State</th>
            <th scope="col">Asked</th>
            <th scope="col">Decided by</th>
            <th scope="col">Arguments</th>
          </tr>
        </thead>
        <tbody>
          {approvals.slice(0, 500).map((each) => (
            <tr key={each.id}>
              <td class="num">{each.call}</td>
              <td>
                <Badge tone={each.state === 'APPROVED' ? 'good' : each.state === 'PENDING' ? 'wait' : 'bad'}>
                  {each.state.toLowerCase()}
                </Badge>
              </td>
              <td class="num nowrap">{time(each.createdAtMs)}</td>
              <td>
                {each.decision === undefined ? '' : <Foreign text={each.decision.by} limit={60} />}
                {each.decision?.reason !== undefined && (
                  <p class="muted small">
                    <Foreign text={each.decision.reason} limit={300} />
                  </p>
                )}
              </td>
              <td>
                <JsonTree value={each.arguments} label={`Arguments of call ${each.call}`} open={0} isCut={each.isCut} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
