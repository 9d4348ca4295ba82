import { useState } from 'preact/hooks';
import type { ToolDetail, TryAnswer } from '../../../../src/domain/console/tools.js';
import type { JsonObject } from '../../../../src/domain/json.js';
import { messageOf, request } from '../../api/request.js';
import { isOwner } from '../../api/session-state.js';
import { duration } from '../../lib/format.js';
import { linkTo } from '../../lib/router.js';
import { Foreign, foreignLabel } from '../../ui/foreign.js';
import { JsonTree } from '../../ui/json-tree.js';
import { Badge } from '../../ui/parts.js';
import { argumentsOf, type Field, fieldsOf } from './schema-fields.js';

/** Calls the tool once, under the same policy, limits and audit log as an agent's call. */
export function TryForm({ tool }: { tool: ToolDetail }) {
  const fields = fieldsOf(tool.inputSchema);
  const [values, setValues] = useState<ReadonlyMap<string, string>>(new Map());
  const [answer, setAnswer] = useState<TryAnswer>();
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);

  const submit = async () => {
    if (isBusy) return;
    setBusy(true);
    setProblem(undefined);
    try {
      const given: JsonObject = argumentsOf(fields, values);
      const path = { server: tool.serverId, tool: tool.toolName };
      setAnswer(await request<TryAnswer>('tryTool', { path, body: { arguments: given } }));
    } catch (error) {
      setAnswer(undefined);
      setProblem(messageOf(error));
    }
    setBusy(false);
  };

  return (
    <form
      class="panel-body stack"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      {tool.policy.decision !== 'allow' && (
        <p class="note wait">
          {tool.policy.decision === 'ask'
            ? 'Your policy asks a person first: the call goes to the inbox.'
            : 'Your policy denies this call.'}
        </p>
      )}
      {fields.length === 0 && <p class="muted">It takes no arguments.</p>}
      {fields.map((field) => (
        <FieldInput
          key={field.name}
          field={field}
          value={values.get(field.name) ?? ''}
          onChange={(value) => setValues(new Map(values).set(field.name, value))}
        />
      ))}
      <div class="row">
        <button type="submit" class="button primary" disabled={!isOwner()} aria-disabled={isBusy}>
          {isBusy && <span class="spin" aria-hidden="true" />}
          Call
        </button>
        {!isOwner() && <span class="muted small">Only a session of the owner can call tools.</span>}
      </div>
      <div class="stack" aria-live="polite">
        {problem !== undefined && (
          <p class="note bad">
            <Foreign text={problem} lines />
          </p>
        )}
        {answer !== undefined && <Shown answer={answer} />}
      </div>
    </form>
  );
}

function FieldInput({ field, value, onChange }: { field: Field; value: string; onChange: (value: string) => void }) {
  const common = { class: 'input', required: field.isRequired, 'aria-label': foreignLabel(field.name, 80) };
  const choices = field.kind === 'boolean' ? ['true', 'false'] : field.choices;
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: one of the three below
    <label class="field">
      <span>
        <span class="mono">
          <Foreign text={field.name} limit={80} />
        </span>
        {field.isRequired ? ' (required)' : ''} <Foreign text={field.description} limit={240} />
      </span>
      {choices.length > 0 ? (
        <select {...common} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
          <option value="">Not given</option>
          {choices.map((each) => (
            <option key={each} value={each}>
              {foreignLabel(each, 80)}
            </option>
          ))}
        </select>
      ) : field.kind === 'json' ? (
        <textarea
          {...common}
          class="input mono"
          rows={3}
          placeholder="JSON"
          value={value}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      ) : (
        <input
          {...common}
          inputMode={field.kind === 'number' ? 'decimal' : 'text'}
          value={value}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      )}
    </label>
  );
}

function Shown({ answer }: { answer: TryAnswer }) {
  if (answer.state === 'pending') {
    return (
      <p class="note wait row spread">
        <span>The call waits for a decision. Decide, then press Call again.</span>
        <a class="button small" href={linkTo(['inbox'])}>
          Decide in the inbox
        </a>
      </p>
    );
  }
  if (!answer.ok) {
    return (
      <div class="note bad">
        <Foreign text={answer.error} limit={2_000} lines />
        {answer.hint !== undefined && (
          <p>
            <Foreign text={answer.hint} limit={600} lines />
          </p>
        )}
      </div>
    );
  }
  return (
    <div>
      <div class="row">
        <Badge tone="good">answered</Badge>
        <span class="muted num">{duration(answer.durationMs)}</span>
        {answer.isCut && <span class="muted small">cut</span>}
      </div>
      <JsonTree value={answer.result} label="Answer of the tool" open={3} isCut={answer.isCut} />
    </div>
  );
}
