import { useEffect, useRef } from 'preact/hooks';
import type { PlaygroundDeclarations } from '../../../src/domain/console/playground.js';
import type { Editor } from './editor.js';

/** The editor, loaded when it is first needed. */
export function EditorBox({
  text,
  revision,
  language,
  label,
  declarations,
  onChange,
  onRun,
}: {
  text: string;
  /** Another number: the text is new, and not what the person typed. A draw that is late must not undo typing. */
  revision: number;
  language: string;
  label: string;
  declarations: PlaygroundDeclarations | undefined;
  onChange: (text: string) => void;
  onRun: () => void;
}) {
  const parent = useRef<HTMLDivElement>(null);
  const editor = useRef<Editor | undefined>(undefined);
  const latest = useRef({ text, language, declarations, onChange, onRun });
  latest.current = { text, language, declarations, onChange, onRun };

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

  return <div class="editor" ref={parent} />;
}
