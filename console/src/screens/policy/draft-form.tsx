import { useState } from 'preact/hooks';
import type {
  DraftReport,
  DraftRequest,
  PolicyDiff,
  PolicySaved,
  PolicyView,
} from '../../../../src/domain/console/policy.js';
import type { ToolPage } from '../../../../src/domain/console/tools.js';
import type { JsonObject } from '../../../../src/domain/json.js';
import { messageOf, request } from '../../api/request.js';
import { isOwner } from '../../api/session-state.js';
import { useResource } from '../../api/use-resource.js';
import { useInSight } from '../../lib/use-in-sight.js';
import { Dialog } from '../../ui/dialog.js';
import { Foreign, foreignLabel } from '../../ui/foreign.js';
import { ActionButton, Advice, Panel } from '../../ui/parts.js';
import { say } from '../../ui/toasts.js';
import { DraftResult } from './draft-result.js';
import { UnifiedDiff } from './unified-diff.js';

interface Fields {
  readonly tools: string;
  readonly decision: string;
  readonly reason: string;
  readonly more: string;
  readonly before: string;
}

const EMPTY: Fields = { tools: '', decision: 'ask', reason: '', more: '', before: '' };

/** A rule that is tried against recent calls, shown as a diff, and only then saved. */
export function DraftForm({ policy, onSaved }: { policy: PolicyView; onSaved: () => void }) {
  const [fields, setFields] = useState(EMPTY);
  const [report, setReport] = useState<DraftReport>();
  const [problem, setProblem] = useState<string>();
  const [diff, setDiff] = useState<PolicyDiff>();
  const result = useInSight<HTMLDivElement>(report);
  const set = (name: keyof Fields) => (event: { currentTarget: { value: string } }) => {
    setFields({ ...fields, [name]: event.currentTarget.value });
    // What is shown must be about the rule that is shown.
    setReport(undefined);
    setProblem(undefined);
  };

  const attempt = async (work: (draft: DraftRequest) => Promise<void>) => {
    setProblem(undefined);
    try {
      await work(draftOf(fields));
    } catch (error) {
      setProblem(messageOf(error));
    }
  };
  const tryIt = () => attempt(async (body) => setReport(await request<DraftReport>('tryPolicy', { body })));
  const showDiff = () => attempt(async (body) => setDiff(await request<PolicyDiff>('policyDiff', { body })));
  const save = () =>
    attempt(async (draft) => {
      if (diff === undefined) return;
      const saved = await request<PolicySaved>('savePolicy', { body: { ...draft, fileDigest: diff.fileDigest } });
      setDiff(undefined);
      setReport(undefined);
      setFields(EMPTY);
      say(`Saved to ${saved.file}. ${saved.note}`);
      onSaved();
    });

  return (
    <div class="stack">
      <Panel title="Draft a rule">
        <form class="stack" onSubmit={(event) => event.preventDefault()}>
          <p class="muted small">Trying a rule changes nothing: you see what it would have done to past calls.</p>
          <label class="field">
            <span>Tools</span>
            <input
              class="input mono"
              placeholder="github/delete_*"
              list="tools"
              value={fields.tools}
              aria-describedby="tools-help"
              onInput={set('tools')}
            />
            <ToolNames />
          </label>
          <p class="hint" id="tools-help">
            server/tool, several with commas between. * matches any characters, * alone every tool.
          </p>
          <div class="row">
            <label class="field">
              <span>Decision</span>
              <select class="input" value={fields.decision} onChange={set('decision')}>
                <option value="allow">allow</option>
                <option value="ask">ask</option>
                <option value="deny">deny</option>
              </select>
            </label>
            <label class="field grow">
              <span>Place</span>
              <select class="input" value={fields.before} onChange={set('before')}>
                <option value="">After the last rule</option>
                {policy.rules.map(({ number }) => (
                  <option key={number} value={String(number)}>
                    Before rule {number}
                  </option>
                ))}
              </select>
            </label>
          </div>
          <label class="field">
            <span>Reason (optional, shown when a call is denied or asked about)</span>
            <input class="input" value={fields.reason} onInput={set('reason')} />
          </label>
          <details>
            <summary>More conditions</summary>
            <label class="field">
              <span>JSON: arguments, annotations, caller, profile, flow</span>
              <textarea
                class="input mono"
                rows={4}
                placeholder='{ "arguments": { "branch": { "equals": "main" } } }'
                value={fields.more}
                onInput={set('more')}
              />
            </label>
          </details>
          {problem !== undefined && (
            <p class="note bad" role="alert">
              <Foreign text={problem} lines />
            </p>
          )}
          <div class="row">
            <ActionButton class="primary" run={tryIt} isDefault>
              Try it
            </ActionButton>
            {policy.file !== undefined && isOwner() && <ActionButton run={showDiff}>Review and save</ActionButton>}
          </div>
          {policy.fileNote !== undefined && (
            <p class="muted small">
              <Advice text={policy.fileNote} />
            </p>
          )}
          {!isOwner() && <p class="muted small">Only a session of the owner can save a rule.</p>}
        </form>
      </Panel>
      <div ref={result}>{report !== undefined && <DraftResult report={report} />}</div>
      {diff !== undefined && (
        <Dialog title="Save the rule" onClose={() => setDiff(undefined)}>
          <div class="stack">
            <p>
              This changes <code>{diff.file}</code>. Its comments are kept.
            </p>
            <UnifiedDiff text={diff.diff} />
            <div class="row">
              <ActionButton class="primary" run={save}>
                Save
              </ActionButton>
              <button type="button" class="button" onClick={() => setDiff(undefined)}>
                Cancel
              </button>
            </div>
            {problem !== undefined && (
              <p class="note bad" role="alert">
                <Foreign text={problem} lines />
              </p>
            )}
          </div>
        </Dialog>
      )}
    </div>
  );
}

/** Suggestions while typing. */
function ToolNames() {
  const tools = useResource('tools', (signal) => request<ToolPage>('tools', { query: { limit: 200 }, signal }));
  return (
    <datalist id="tools">
      {tools.data?.tools.map(({ serverId, toolName }) => (
        <option key={`${serverId}/${toolName}`} value={foreignLabel(`${serverId}/${toolName}`)} />
      ))}
    </datalist>
  );
}

function draftOf({ tools, decision, reason, more, before }: Fields): DraftRequest {
  const patterns = tools
    .split(',')
    .map((each) => each.trim())
    .filter(Boolean);
  const rule = {
    ...(patterns.length === 0 ? {} : { tools: patterns }),
    ...readMore(more),
    decision,
    ...(reason.trim() === '' ? {} : { reason: reason.trim() }),
  };
  return { rule, ...(before === '' ? {} : { before: Number(before) }) };
}

function readMore(text: string): JsonObject {
  if (text.trim() === '') return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error('The conditions are not JSON. Write them like this: { "caller": ["ann"] }');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error('The conditions must be a JSON object: { "caller": ["ann"] }');
  }
  return value as JsonObject;
}
