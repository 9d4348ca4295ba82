import { useRef, useState } from 'preact/hooks';
import type { KeepPreview, KeepRequest, KeptInput, KeptProgram } from '../../../../src/domain/console/scripts.js';
import { request } from '../../api/request.js';
import { useResource } from '../../api/use-resource.js';
import { useLate } from '../../lib/use-late.js';
import { CodeView } from '../../ui/code-view.js';
import { Dialog } from '../../ui/dialog.js';
import { Foreign } from '../../ui/foreign.js';
import { ActionButton, Problem } from '../../ui/parts.js';
import { UseOfProgram } from '../tools/use-of-program.js';

const TYPING_MS = 250;
/** Used until there is a name: the preview does not depend on it. */
const NO_NAME = 'program';

/** A value of the program, with the name that the person gives it. */
interface Choice extends KeptInput {
  readonly isChosen: boolean;
}

/** Keeps a successful run as a tool: its name, its inputs, and what would be stored. */
export function KeepDialog({ runId, onClose }: { runId: string; onClose: () => void }) {
  const [name, setName] = useState('');
  const [description, setDescription] = useState('');
  const [choices, setChoices] = useState<ReadonlyMap<string | number, Choice>>(new Map());
  const [kept, setKept] = useState<KeptProgram & { readonly inputs: readonly KeptInput[] }>();
  const inputs = [...choices.values()].filter(({ isChosen }) => isChosen).map(({ name, value }) => ({ name, value }));
  const wish: KeepRequest = { name: name.trim() || NO_NAME, description: '', inputs };
  const asked = useLate(JSON.stringify(wish), TYPING_MS);
  const path = { id: runId };
  const preview = useResource(asked, (signal) =>
    request<KeepPreview>('previewKeep', { path, body: JSON.parse(asked), signal }),
  );
  // The previous preview stays in sight, so that a field keeps its focus while the person types.
  const last = useRef<KeepPreview>(undefined);
  if (preview.data !== undefined) last.current = preview.data;
  const { error, reload } = preview;
  const data = preview.data ?? last.current;
  const taken = name.trim() === '' ? undefined : data?.takenVersion;
  const keep = async () => {
    const body = { ...wish, name: name.trim(), description: description.trim(), replaces: taken !== undefined };
    setKept({ ...(await request<KeptProgram>('keepRun', { path, body })), inputs });
  };
  const change = (value: string | number, next: Partial<Choice>, first: KeptInput) =>
    setChoices(new Map([...choices, [value, { isChosen: false, ...first, ...choices.get(value), ...next }]]));

  if (kept !== undefined) {
    return (
      <Dialog title="Kept as a tool" onClose={onClose}>
        <div class="stack">
          <p>
            <code>{kept.name}</code>, version {kept.version}. You and your agents can run it by its name from now on.
          </p>
          <UseOfProgram
            program={kept}
            example={Object.fromEntries(kept.inputs.map((each) => [each.name, each.value]))}
          />
        </div>
      </Dialog>
    );
  }
  const known = [...(data?.inputs ?? []), ...(data?.proposed ?? [])];
  return (
    <Dialog title="Keep as tool" onClose={onClose} isWide>
      <form class="stack" onSubmit={(event) => event.preventDefault()}>
        <p class="muted">The program of this run gets a name. From then on agents call it like any other tool.</p>
        <div class="row fields">
          <label class="field grow">
            <span>Name</span>
            <input
              class="input mono"
              value={name}
              maxLength={64}
              placeholder="monthly-report"
              required
              onInput={(event) => setName(event.currentTarget.value)}
            />
          </label>
          <label class="field grow">
            <span>What it does: agents read it</span>
            <input
              class="input"
              value={description}
              maxLength={500}
              placeholder="Counts the orders of a month."
              onInput={(event) => setDescription(event.currentTarget.value)}
            />
          </label>
        </div>
        {known.length > 0 && (
          <fieldset class="inputs">
            <legend>Inputs: tick the values that change from run to run</legend>
            {sortedByLine(known).map((each) => {
              const choice = choices.get(each.value);
              return (
                <div class="row" key={`${typeof each.value} ${each.value}`}>
                  <label class="row tight grow">
                    <input
                      type="checkbox"
                      checked={choice?.isChosen === true}
                      onChange={(event) => change(each.value, { isChosen: event.currentTarget.checked }, each)}
                    />
                    <code class="clip">
                      <Foreign text={JSON.stringify(each.value)} limit={120} />
                    </code>
                  </label>
                  {choice?.isChosen === true && (
                    <input
                      class="input mono"
                      aria-label={`Name of the input in place of ${JSON.stringify(each.value).slice(0, 60)}`}
                      value={choice.name}
                      maxLength={64}
                      onInput={(event) => change(each.value, { name: event.currentTarget.value }, each)}
                    />
                  )}
                  <span class="small muted nowrap">line {each.line}</span>
                </div>
              );
            })}
          </fieldset>
        )}
        {error !== undefined && <Problem error={error} retry={reload} />}
        {data !== undefined && (
          <>
            <div class="kept-source">
              <CodeView source={data.source} language={data.language} label="What is kept" />
            </div>
            {data.tools.length > 0 && (
              <p class="small muted">
                It calls <Foreign text={data.tools.join(', ')} limit={600} />. If one of them changes, you are asked
                before it runs.
              </p>
            )}
          </>
        )}
        {taken !== undefined && (
          <p class="note wait">
            There is a program <code>{name.trim()}</code> already. This becomes version {taken + 1}; version {taken} is
            kept.
          </p>
        )}
        <div class="row end-row">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <ActionButton class="primary" disabled={name.trim() === '' || error !== undefined} run={keep}>
            {taken === undefined ? 'Keep' : `Keep as version ${taken + 1}`}
          </ActionButton>
        </div>
      </form>
    </Dialog>
  );
}

type Known = KeptInput & ({ readonly line: number } | { readonly lines: readonly number[] });

/** In program order, ticked or not: a row keeps its place. */
function sortedByLine(known: readonly Known[]): readonly (KeptInput & { readonly line: number })[] {
  return known
    .map((each) => ({ name: each.name, value: each.value, line: 'line' in each ? each.line : (each.lines[0] ?? 0) }))
    .sort((left, right) => left.line - right.line || (String(left.value) < String(right.value) ? -1 : 1));
}
