import type { DraftReport } from '../../../../src/domain/console/policy.js';
import { count, counted } from '../../lib/format.js';
import { linkTo } from '../../lib/router.js';
import { foreignLabel } from '../../ui/foreign.js';
import { JsonTree } from '../../ui/json-tree.js';
import { DecisionBadge, Panel } from '../../ui/parts.js';

type Change = DraftReport['changes'][number];

/** What the draft would have done. */
export function DraftResult({ report }: { report: DraftReport }) {
  const { callCount, hits, changes, changeCount, skipped } = report;
  return (
    <Panel title="What it would have done" flush>
      <div class="panel-body stack tight" role="status">
        {callCount === 0 ? (
          <p>No past calls are on record yet. Run a program that calls tools, and try again.</p>
        ) : (
          <p>
            The rule decides <span class="strong num">{hits === 0 ? 'none' : count(hits)}</span> of the last{' '}
            {counted(callCount, 'call')} of runs that have ended.{' '}
            {hits === 0
              ? 'If you expected some, compare the names with those of the tools.'
              : changeCount === 0
                ? 'All of them come out as they do now.'
                : `${count(changeCount)} would have come out differently:`}
          </p>
        )}
        {skipped > 0 && (
          <p class="muted small">
            {skipped === 1
              ? '1 call was skipped: its tool is'
              : `${count(skipped)} calls were skipped: their tools are`}{' '}
            gone.
          </p>
        )}
      </div>
      {changes.length > 0 && (
        <ul class="changes">
          {grouped(changes).map((group) => (
            <Group key={keyOf(group[0])} changes={group} isPart={changes.length < changeCount} />
          ))}
        </ul>
      )}
    </Panel>
  );
}

/** Calls of one tool with the same change. */
function Group({ changes, isPart }: { changes: readonly [Change, ...Change[]]; isPart: boolean }) {
  const [first] = changes;
  return (
    <li>
      <details>
        <summary>
          <span class="mono strong">{foreignLabel(`${first.serverId}/${first.toolName}`, 100)}</span>
          <span class="row tight">
            <DecisionBadge decision={first.now} />
            <span aria-hidden="true">→</span>
            <span class="sr-only">would be</span>
            <DecisionBadge decision={first.then} />
          </span>
          <span class="num small muted">
            {counted(changes.length, 'call')}
            {isPart ? ' or more' : ''}
          </span>
        </summary>
        {changes.slice(0, MAX_EXAMPLES).map((change) => (
          <div key={`${change.runId} ${change.call}`} class="change">
            <JsonTree value={change.arguments} label="Arguments" open={1} bare />
            <a class="small nowrap" href={linkTo(['runs', change.runId])}>
              Open the run
            </a>
          </div>
        ))}
      </details>
    </li>
  );
}

const MAX_EXAMPLES = 20;

function keyOf({ serverId, toolName, now, then }: Change): string {
  return JSON.stringify([serverId, toolName, now, then]);
}

function grouped(changes: readonly Change[]): readonly (readonly [Change, ...Change[]])[] {
  const groups = new Map<string, [Change, ...Change[]]>();
  for (const change of changes) {
    const known = groups.get(keyOf(change));
    if (known === undefined) groups.set(keyOf(change), [change]);
    else known.push(change);
  }
  return [...groups.values()].sort((left, right) => right.length - left.length);
}
