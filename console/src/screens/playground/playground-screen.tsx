import { useEffect, useRef, useState } from 'preact/hooks';
import type {
  PlaygroundAnswer,
  PlaygroundDeclarations,
  PlaygroundInfo,
  PlaygroundProfile,
} from '../../../../src/domain/console/playground.js';
import type { ProfileName } from '../../../../src/domain/profile-name.js';
import { messageOf, request } from '../../api/request.js';
import { isOwner } from '../../api/session-state.js';
import { useResource } from '../../api/use-resource.js';
import type { Editor } from '../../editor/editor.js';
import { EditorBox } from '../../editor/editor-box.js';
import { counted } from '../../lib/format.js';
import { place, setOptions } from '../../lib/router.js';
import { useStore } from '../../lib/store.js';
import { useInSight } from '../../lib/use-in-sight.js';
import { Advice, Command, Empty, Loading, PageHead, Panel, Problem } from '../../ui/parts.js';
import { say } from '../../ui/toasts.js';
import type { ScreenProps } from '../screen-props.js';
import { Answer } from './answer.js';
import { readDraft, writeDraft } from './draft.js';
import { ProblemList, useTypeCheck } from './type-check.js';

/** Write a program, run it as an agent would, and see what the model reads. */
export function PlaygroundScreen(_: ScreenProps) {
  const info = useResource('playground', (signal) => request<PlaygroundInfo>('playground', { signal }));
  if (info.data === undefined) {
    return info.error === undefined ? (
      <Loading what="the playground" />
    ) : (
      <Problem error={info.error} retry={info.reload} />
    );
  }
  if (info.data.profiles.length === 0) {
    return (
      <Empty icon="playground" title="No profile can run programs here">
        <p>To see what is missing, run this in a terminal:</p>
        <Command text="codemode doctor" />
      </Empty>
    );
  }
  return <Playground profiles={info.data.profiles} />;
}

function Playground({ profiles }: { profiles: readonly PlaygroundProfile[] }) {
  const { options } = useStore(place);
  const from = options.get('run');
  const [draft, setDraft] = useState(() => readDraft(profiles));
  const [revision, setRevision] = useState(0);
  const profile = profiles.find(({ name }) => name === draft.profile) ?? profiles[0];
  const [answer, setAnswer] = useState<PlaygroundAnswer>();
  const [problem, setProblem] = useState<string>();
  const [running, setRunning] = useState<AbortController>();
  const declarations = useResource(
    profile?.name ?? '',
    (signal) => request<PlaygroundDeclarations>('declarations', { query: { profile: profile?.name }, signal }),
    (event) => event.type === 'servers',
  );

  const change = (next: typeof draft) => {
    setDraft(next);
    writeDraft(next);
  };
  const replace = (next: typeof draft) => {
    change(next);
    setRevision((before) => before + 1);
  };
  useEffect(() => {
    if (from === null) return;
    request<{ source: string; profile: ProfileName; language: string }>('runAgain', { path: { id: from } }).then(
      (program) => {
        replace(program);
        // From here on it is the person's draft: a reload must not replace it by the run's program.
        setOptions({});
      },
      (error: unknown) => say(messageOf(error), 'bad'),
    );
  }, [from]);

  const run = async () => {
    if (running !== undefined || profile === undefined) return;
    const controller = new AbortController();
    setRunning(controller);
    setProblem(undefined);
    try {
      const { source, language } = draft;
      const body = { source, profile: profile.name, ...(language === '' ? {} : { language }) };
      setAnswer(await request<PlaygroundAnswer>('runProgram', { body, signal: controller.signal }));
    } catch (error) {
      setProblem(controller.signal.aborted ? 'You stopped waiting. The run is under Runs.' : messageOf(error));
    }
    setRunning(undefined);
  };
  const shown = useInSight<HTMLDivElement>(problem ?? answer);
  const editor = useRef<Editor | undefined>(undefined);
  const check = useTypeCheck(draft.source, profile?.name);
  const languages = profile?.languages ?? [];
  const language = languages.includes(draft.language) ? draft.language : (languages[0] ?? 'typescript');

  return (
    <>
      <PageHead title="Playground" lead="Run a program as an agent would: the same policy, limits and audit log." />
      {!isOwner() && (
        <p class="note wait">Only a session of the owner can run programs. This one may look and decide.</p>
      )}
      <div class="playground">
        <Panel
          flush
          title="Program"
          actions={
            <>
              <label class="row tight small">
                <span>Profile</span>
                <select
                  class="input"
                  value={profile?.name}
                  onChange={(event) => {
                    const next = profiles.find(({ name }) => name === event.currentTarget.value);
                    if (next !== undefined) replace({ ...draftFor(next, draft.source, profiles), profile: next.name });
                  }}
                >
                  {profiles.map(({ name }) => (
                    <option key={name} value={name}>
                      {name}
                    </option>
                  ))}
                </select>
              </label>
              {languages.length > 1 && (
                <label class="row tight small">
                  <span>Language</span>
                  <select
                    class="input"
                    value={language}
                    onChange={(event) => change({ ...draft, language: event.currentTarget.value })}
                  >
                    {languages.map((each) => (
                      <option key={each}>{each}</option>
                    ))}
                  </select>
                </label>
              )}
              <button
                type="button"
                class="button"
                onClick={() => profile !== undefined && replace({ ...draft, source: profile.example })}
              >
                Example
              </button>
              {running === undefined ? (
                <button
                  type="button"
                  class="button primary"
                  disabled={!isOwner() || profile?.problem !== undefined || draft.source.trim() === ''}
                  onClick={() => void run()}
                >
                  Run
                </button>
              ) : (
                <button type="button" class="button danger" onClick={() => running.abort()}>
                  <span class="spin" aria-hidden="true" />
                  Cancel
                </button>
              )}
            </>
          }
        >
          {profile?.problem !== undefined && (
            <p class="note wait">
              <Advice text={profile.problem} />
            </p>
          )}
          <EditorBox
            text={draft.source}
            revision={revision}
            language={language}
            label="Program"
            declarations={declarations.data}
            problems={check.problems}
            opened={editor}
            onChange={(source) => change({ ...draft, source })}
            onRun={() => void run()}
          />
          <ProblemList check={check} onGo={(line, column) => editor.current?.goTo(line, column)} />
          <p class="panel-foot muted small">
            {declarations.data === undefined
              ? 'Loading the declarations of the tools. '
              : `${counted(declarations.data.tools.length, 'tool')}. Type a name to complete it, hover over it to read its declaration. `}
            Ctrl+Enter runs, Escape leaves the editor.
          </p>
        </Panel>
        <div ref={shown}>
          <Answer answer={answer} problem={problem} isRunning={running !== undefined} />
        </div>
      </div>
    </>
  );
}

/** If the profile changes, an untouched example is replaced by the new profile's own. */
function draftFor(next: PlaygroundProfile, source: string, profiles: readonly PlaygroundProfile[]) {
  const isUntouched = source.trim() === '' || profiles.some(({ example }) => example === source);
  return { source: isUntouched ? next.example : source, language: next.languages[0] ?? '' };
}
