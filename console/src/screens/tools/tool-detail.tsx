import { useState } from 'preact/hooks';
import type { ToolDetail } from '../../../../src/domain/console/tools.js';
import { request } from '../../api/request.js';
import { useResource } from '../../api/use-resource.js';
import { callerInSentence } from '../../lib/caller-label.js';
import { sentence } from '../../lib/format.js';
import { CodeView } from '../../ui/code-view.js';
import { Foreign, foreignLabel } from '../../ui/foreign.js';
import { JsonTree } from '../../ui/json-tree.js';
import { DecisionBadge, Loading, Panel, Problem, Tabs } from '../../ui/parts.js';
import { TryForm } from './try-form.js';

type Tab = 'declaration' | 'observed' | 'schema' | 'try';

/** One tool: how a program sees it, what the policy decides about it, and a form to try it. */
export function ToolDetailView({ server, tool }: { server: string; tool: string }) {
  const detail = useResource(
    `${server}/${tool}`,
    (signal) => request<ToolDetail>('tool', { path: { server, tool }, signal }),
    (event) => event.type === 'servers',
  );
  const [tab, setTab] = useState<Tab>('declaration');
  if (detail.data === undefined) {
    return detail.error === undefined ? (
      <Loading what="the tool" />
    ) : (
      <Problem error={detail.error} retry={detail.reload} />
    );
  }
  const { data } = detail;
  return (
    <>
      <Panel
        title={
          <span class="mono">
            <Foreign text={`${data.serverId}/${data.toolName}`} limit={160} />
          </span>
        }
      >
        <div class="stack">
          <p>
            <Foreign text={data.description} limit={1_200} lines />
          </p>
          <div class="note row">
            <DecisionBadge decision={data.policy.decision} />
            <span class="grow">
              <Foreign text={sentence(data.policy.reason)} limit={400} />{' '}
              <span class="muted">
                (<Foreign text={data.policy.rule} limit={200} />)
              </span>
            </span>
            {data.policy.price !== undefined && <span class="small">Price: {data.policy.price}</span>}
          </div>
          {data.policy.dependsOn.length > 0 && (
            <p class="small muted">
              For some arguments other rules decide: <Foreign text={data.policy.dependsOn.join('; ')} limit={600} />
            </p>
          )}
        </div>
      </Panel>
      <section class="panel">
        <div class="panel-head">
          <Tabs
            label="Parts of the tool"
            tabs={[
              ['declaration', 'Declaration'],
              ...(data.observed.length === 0 ? [] : [['observed', 'Observed output'] as const]),
              ['schema', 'Schema'],
              ['try', 'Try it'],
            ]}
            chosen={tab}
            onChoose={setTab}
          />
        </div>
        {tab === 'declaration' && <Declaration text={data.declaration} />}
        {tab === 'observed' && <Observed seen={data.observed} />}
        {tab === 'schema' && (
          <div class="panel-body stack">
            <div>
              <h3>Input</h3>
              <JsonTree value={data.inputSchema} label="Input schema" open={3} />
            </div>
            {data.outputSchema !== undefined && (
              <div>
                <h3>Output</h3>
                <JsonTree value={data.outputSchema} label="Output schema" open={3} />
              </div>
            )}
            {Object.keys(data.annotations).length > 0 && (
              <div>
                <h3>Annotations, as the server claims them</h3>
                <JsonTree value={data.annotations} label="Annotations" />
              </div>
            )}
          </div>
        )}
        {tab === 'try' && <TryForm tool={data} />}
      </section>
    </>
  );
}

/** The tool comes first: the shared types of every declaration are the same everywhere. */
function Declaration({ text }: { text: string }) {
  const [isWhole, setWhole] = useState(false);
  const start = Math.max(0, text.search(/^declare module /m));
  return (
    <>
      <CodeView source={isWhole ? text : text.slice(start).trimEnd()} language="typescript" label="Declaration" />
      {start > 0 && !isWhole && (
        <p class="panel-body">
          <button type="button" class="more" onClick={() => setWhole(true)}>
            Show the types it uses
          </button>
        </p>
      )}
    </>
  );
}

/** If the tool declares no output: what programs got from it. */
function Observed({ seen }: { seen: ToolDetail['observed'] }) {
  return (
    <>
      {seen.map(({ caller, profile, type }) => (
        <div key={`${caller} ${profile}`}>
          <p class="panel-body small muted">
            What {foreignLabel(callerInSentence(caller), 60)} got from it in profile{' '}
            <Foreign text={profile} limit={40} />. The tool itself declares no output.
          </p>
          <CodeView source={type} language="typescript" label={`Observed output, ${profile}`} />
        </div>
      ))}
    </>
  );
}
