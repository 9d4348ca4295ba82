import type { DraftReport } from '../../../../src/domain/console/policy.js';
import { count, counted } from '../../lib/format.js';
import { linkTo } from '../../lib/router.js';
import { Foreign } from '../../ui/foreign.js';
import { JsonTree } from '../../ui/json-tree.js';
import { DecisionBadge, Panel } from '../../ui/parts.js';

/** What the draft would have done. */
export function DraftResult({ report }: { report: DraftReport }) {
  const { callCount, hits, changes, changeCount, skipped } = report;
  return (
    <Panel title="What it would have done" flush>
      <p class="panel-body" role="status">
        Of the last {counted(callCount, 'call')} it would have decided <span class="strong num">{count(hits)}</span>,
        and <span class="strong num">{count(changeCount)}</span> otherwise than now.
        {skipped > 0 && ` ${counted(skipped, 'call')} could not be looked at: their tools are gone.`}
      </p>
      {changes.length > 0 && (
        <div class="table-wrap">
          <table class="table">
            <thead>
              <tr>
                <th scope="col">Call</th>
                <th scope="col">Now</th>
                <th scope="col">Then</th>
                <th scope="col">Arguments</th>
              </tr>
            </thead>
            <tbody>
              {changes.map((change) => (
                <tr key={`${change.runId} ${change.call}`}>
                  <td class="mono">
                    <a href={linkTo(['runs', change.runId])}>
                      <Foreign text={`${change.serverId}/${change.toolName}`} limit={100} />
                    </a>
                  </td>
                  <td>
                    <DecisionBadge decision={change.now} />
                  </td>
                  <td>
                    <DecisionBadge decision={change.then} />
                  </td>
                  <td>
                    <JsonTree value={change.arguments} label="Arguments" open={0} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Panel>
  );
}
