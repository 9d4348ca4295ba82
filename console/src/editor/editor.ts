import { autocompletion, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { bracketMatching, HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting } from '@codemirror/language';
import { Compartment, EditorState } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  hoverTooltip,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { tags } from '@lezer/highlight';
import type { PlaygroundDeclarations } from '../../../src/domain/console/playground.js';
import type { TypeProblem } from '../../../src/domain/type-check.js';
import { escapeCharacter } from '../../../src/lib/text/visible-text.js';
import { complete, hoverText } from './completion.js';
import { languageOf } from './highlight.js';
import { problemAt, problems, setProblems } from './problems.js';

export interface EditorOptions {
  readonly parent: HTMLElement;
  readonly text: string;
  readonly language: string;
  readonly label: string;
  readonly onChange: (text: string) => void;
  readonly onRun: () => void;
}

export interface Editor {
  setText(text: string): void;
  setLanguage(language: string): void;
  setDeclarations(declarations: PlaygroundDeclarations | undefined): void;
  /** Marks the type checker's findings for the current text. */
  setProblems(problems: readonly TypeProblem[]): void;
  /** Moves the cursor to this position, and focuses the editor. */
  goTo(line: number, column: number): void;
  close(): void;
}

/**
 * CodeMirror in a shadow root. There it uses constructed style sheets, which the page's policy (`style-src 'self'`) allows,
 * instead of a `<style>` element, which the policy forbids.
 */
export function openEditor({ parent, text, language, label, onChange, onRun }: EditorOptions): Editor {
  const root = parent.shadowRoot ?? parent.attachShadow({ mode: 'open' });
  root.replaceChildren();
  const box = document.createElement('div');
  root.append(box);
  const languages = new Compartment();
  let declarations: PlaygroundDeclarations | undefined;

  const view = new EditorView({
    parent: box,
    root,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        highlightActiveLine(),
        highlightActiveLineGutter(),
        highlightSpecialChars({ addSpecialChars: HIDDEN, render: renderHidden }),
        history(),
        drawSelection(),
        indentOnInput(),
        indentUnit.of('  '),
        bracketMatching(),
        languages.of(languageOf(language).extension),
        syntaxHighlighting(COLOURS),
        autocompletion({ override: [(context) => complete(context, declarations)], icons: false }),
        problems,
        hoverTooltip((editor, position) => {
          const problem = problemAt(editor.state, position);
          if (problem !== undefined) {
            return { pos: problem.from, end: problem.to, above: true, create: () => ({ dom: problem.dom }) };
          }
          const word = editor.state.wordAt(position);
          const dom = word === null ? undefined : hoverText(editor.state, word.from, word.to, declarations);
          if (word === null || dom === undefined) return null;
          return { pos: word.from, end: word.to, above: true, create: () => ({ dom }) };
        }),
        EditorView.contentAttributes.of({ 'aria-label': label, 'aria-multiline': 'true' }),
        EditorView.lineWrapping,
        EditorView.updateListener.of((update) => {
          if (update.docChanged) onChange(update.state.doc.toString());
        }),
        keymap.of([
          { key: 'Mod-Enter', run: handled(onRun) },
          { key: 'Escape', run: handled((editor) => editor.contentDOM.blur()) },
          ...completionKeymap,
          indentWithTab,
          ...defaultKeymap,
          ...historyKeymap,
        ]),
        THEME,
      ],
    }),
  });
  return {
    setText: (next) => {
      if (view.state.doc.toString() === next) return;
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next } });
    },
    setLanguage: (next) => view.dispatch({ effects: languages.reconfigure(languageOf(next).extension) }),
    setDeclarations: (next) => {
      declarations = next;
    },
    setProblems: (next) => view.dispatch({ effects: setProblems.of(next) }),
    goTo: (line, column) => {
      const { from, to } = view.state.doc.line(Math.min(line, view.state.doc.lines));
      const anchor = Math.min(from + column - 1, to);
      view.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: 'center' }) });
      view.focus();
    },
    close: () => view.destroy(),
  };
}

function handled(work: (editor: EditorView) => void) {
  return (editor: EditorView) => {
    work(editor);
    return true;
  };
}

/** Characters that `highlightSpecialChars` does not cover: bidirectional, zero-width and tag characters, fillers. */
const HIDDEN = new RegExp(
  [
    '\\u00ad|\\u061c|\\u115f|\\u1160|\\u17b4|\\u17b5|[\\u180b-\\u180f]|[\\u200b-\\u200f]|[\\u202a-\\u202e]',
    '[\\u2060-\\u206f]|\\u3164|[\\ufe00-\\ufe0f]|\\ufeff|\\uffa0|[\\u{e0000}-\\u{e0fff}]',
  ].join('|'),
  'gu',
);

function renderHidden(code: number): HTMLElement {
  const mark = document.createElement('span');
  mark.className = 'cm-hidden';
  mark.textContent = escapeCharacter(String.fromCodePoint(code));
  mark.title = 'A character that cannot be seen';
  return mark;
}

const COLOURS = HighlightStyle.define([
  { tag: [tags.keyword, tags.modifier, tags.self, tags.bool, tags.null], color: 'var(--code-keyword)' },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: 'var(--code-string)' },
  { tag: tags.number, color: 'var(--code-number)' },
  { tag: tags.comment, color: 'var(--code-comment)', fontStyle: 'italic' },
  { tag: [tags.function(tags.variableName), tags.function(tags.propertyName)], color: 'var(--code-name)' },
  { tag: [tags.typeName, tags.className, tags.namespace], color: 'var(--code-type)' },
]);

const THEME = EditorView.theme({
  '&': { height: '100%', color: 'var(--ink)', backgroundColor: 'var(--surface)', fontSize: 'var(--text-sm)' },
  // The box around it shows the focus: lines and gutters would cover the editor's own outline.
  '&.cm-focused': { outline: 'none' },
  '.cm-content': {
    fontFamily: 'var(--mono)',
    minHeight: 'var(--editor-height)',
    caretColor: 'var(--ink)',
    padding: '10px 0',
  },
  '.cm-scroller': {
    fontFamily: 'var(--mono)',
    lineHeight: '22px',
    fontVariantLigatures: 'none',
    maxHeight: 'var(--editor-most)',
    overflow: 'auto',
  },
  '.cm-gutters': { backgroundColor: 'var(--surface)', color: 'var(--ink-3)', border: 'none' },
  '.cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--sunken) 55%, transparent)' },
  '.cm-activeLineGutter': { backgroundColor: 'var(--sunken)' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground, ::selection': {
    backgroundColor: 'var(--select) !important',
  },
  '.cm-tooltip': {
    backgroundColor: 'var(--raised)',
    color: 'var(--ink)',
    border: '1px solid var(--line)',
    borderRadius: '8px',
    boxShadow: 'var(--shadow)',
    overflow: 'hidden',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { padding: '4px', fontFamily: 'var(--mono)' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '3px 8px', borderRadius: '5px' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    backgroundColor: 'var(--select)',
    color: 'var(--ink)',
  },
  '.cm-completionDetail': { color: 'var(--ink-3)', fontStyle: 'normal' },
  '.cm-tool': { maxWidth: '520px', padding: '8px 12px', font: '13px/1.5 var(--font)' },
  '.cm-tool code': { fontFamily: 'var(--mono)', fontSize: '12px', whiteSpace: 'pre-wrap' },
  '.cm-tool p': { margin: '6px 0 0', color: 'var(--ink-2)' },
  '.cm-problem': { textDecoration: 'underline wavy 1px var(--mark-line)', textUnderlineOffset: '4px' },
  '.cm-problem.error': { textDecorationColor: 'var(--bad)', backgroundColor: 'var(--bad-bg)', borderRadius: '3px' },
  '.cm-problem-text p:first-child': { margin: '0', color: 'var(--ink)' },
  '.cm-problem-text.error p:first-child': { color: 'var(--bad)', fontWeight: '560' },
  '.cm-hidden': { color: 'var(--bad)', backgroundColor: 'var(--bad-bg)', borderRadius: '3px' },
});
