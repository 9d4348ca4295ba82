import { useState } from 'preact/hooks';
import type { PlaygroundAnswer } from '../../../../src/domain/console/playground.js';
import { counted } from '../../lib/format.js';
import { linkTo } from '../../lib/router.js';
import { Foreign } from '../../ui/foreign.js';
import { JsonTree } from '../../ui/json-tree.js';
import { Badge, CopyButton, Empty, Panel, RunBadge, Tabs } from '../../ui/parts.js';

/** The errors among the diagnostics: what a person looks for first, and the tree has them last. */
function problemsOf({ diagnostics }: PlaygroundAnswer['structured']): readonly string[] {
  if (!Array.isArray(diagnostics)) return [];
  return diagnostics.flatMap((each) => {
    const { severity, message, path, hint } = (each ?? {}) as Readonly<Record<string, unknown>>;
    if (severity !== 'error') return [];
    const place = typeof path === 'string' ? ` (${path})` : '';
    return [`${String(message)}${place}${typeof hint === 'string' ? `\n${hint}` : ''}`];
  });
}

/** The response for a person, and exactly as the model reads it. */
export function Answer({
  answer,
  problem,
  isRunning,
}: {
  answer: PlaygroundAnswer | undefined;
  problem: string | undefined;
  isRunning: boolean;
}) {
  const [tab, setTab] = useState<'person' | 'model'>('person');
  if (problem !== undefined) {
    return (
      <Panel title="Answer">
        <p class="note bad" role="alert">
          <Foreign text={problem} lines />
        </p>
      </Panel>
    );
  }
  if (answer === undefined) {
    return (
      <Panel title="Answer">
        <Empty icon="playground" title={isRunning ? 'The program is running' : 'No answer yet'}>
          <p>
            {isRunning ? 'The answer will appear' : 'Press Run. The answer appears'} here twice: as data for you, and as
            the exact text that a model reads.
          </p>
        </Empty>
      </Panel>
    );
  }
  return (
    <Panel
      title="Answer"
      actions={
        <>
          <Badge tone={answer.isError ? 'bad' : 'calm'}>{counted(answer.tokens, 'token')}</Badge>
          <RunBadge state={answer.state} />
          {answer.runId !== undefined && (
            <a class="button small" href={linkTo(['runs', answer.runId])}>
              Open the run
            </a>
          )}
        </>
      }
    >
      <div class="stack" aria-live="polite">
        {answer.approvals.length > 0 && (
          <p class="note wait row spread">
            <span>
              {counted(answer.approvals.length, 'call')} {answer.approvals.length === 1 ? 'waits' : 'wait'} for a
              decision.
            </span>
            <a class="button small" href={linkTo(['inbox'])}>
              Decide in the inbox
            </a>
          </p>
        )}
        {answer.notes.map((note) => (
          <p key={note} class="note">
            <Foreign text={note} lines />
          </p>
        ))}
        {problemsOf(answer.structured).map((each) => (
          <p key={each} class="note bad">
            <Foreign text={each} limit={1_000} lines />
          </p>
        ))}
        <div class="row spread">
          <Tabs
            label="The answer for"
            tabs={[
              ['person', 'As data'],
              ['model', 'As the model reads it'],
            ]}
            chosen={tab}
            onChoose={setTab}
          />
          {tab === 'model' && <CopyButton text={answer.forModel} />}
        </div>
        {tab === 'person' ? (
          <JsonTree value={answer.structured} label="Answer as data" open={3} />
        ) : (
          <>
            <p class="muted small">
              About {counted(answer.tokens, 'token')}, {counted(answer.forModel.length, 'character')}.
            </p>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard */}
            <section class="block" aria-label="Answer as the model reads it" tabIndex={0}>
              <pre>
                <Foreign text={answer.forModel} limit={20_000} lines />
              </pre>
            </section>
          </>
        )}
      </div>
    </Panel>
  );
}
