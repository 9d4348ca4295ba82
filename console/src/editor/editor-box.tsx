import { useEffect, useRef } from 'preact/hooks';
import type { PlaygroundDeclarations } from '../../../src/domain/console/playground.js';
import type { TypeProblem } from '../../../src/domain/type-check.js';
import type { Editor } from './editor.js';

/** The editor, loaded when it is first needed. */
export function EditorBox({
  text,
  revision,
  language,
  label,
  declarations,
  problems,
  opened,
  onChange,
  onRun,
}: {
  text: string;
  /** A new number means that the text was replaced, not typed. A late render must not undo typing. */
  revision: number;
  language: string;
  label: string;
  declarations: PlaygroundDeclarations | undefined;
  /** For the text at the time they were found: the caller drops them when the text changes. */
  problems: readonly TypeProblem[];
  /** Holds the editor once it is loaded. */
  opened: { current: Editor | undefined };
  onChange: (text: string) => void;
  onRun: () => void;
}) {
  const parent = useRef<HTMLDivElement>(null);
  const editor = opened;
  const latest = useRef({ text, language, declarations, problems, onChange, onRun });
  latest.current = { text, language, declarations, problems, onChange, onRun };

  useEffect(() => {
    let isShown = true;
    void import('./editor.js').then(({ openEditor }) => {
      if (!isShown || parent.current === null) return;
      editor.current = openEditor({
        parent: parent.current,
        label,
        text: latest.current.text,
        language: latest.current.language,
        onChange: (next) => latest.current.onChange(next),
        onRun: () => latest.current.onRun(),
      });
      editor.current.setDeclarations(latest.current.declarations);
      editor.current.setProblems(latest.current.problems);
    });
    return () => {
      isShown = false;
      editor.current?.close();
      editor.current = undefined;
    };
  }, []);
  useEffect(() => editor.current?.setText(latest.current.text), [revision]);
  useEffect(() => editor.current?.setLanguage(language), [language]);
  useEffect(() => editor.current?.setDeclarations(declarations), [declarations]);
  useEffect(() => editor.current?.setProblems(problems), [problems]);

  return <div class="editor" ref={parent} />;
}
