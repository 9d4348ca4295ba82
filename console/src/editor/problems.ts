import { type EditorState, type Extension, type Range, StateEffect, StateField } from '@codemirror/state';
import { Decoration, type DecorationSet, EditorView } from '@codemirror/view';
import type { TypeProblem } from '../../../src/domain/type-check.js';
import { foreignLabel } from '../ui/foreign.js';

/** Replaces the marks. */
export const setProblems = StateEffect.define<readonly TypeProblem[]>();

interface Marked {
  readonly problem: TypeProblem;
  readonly from: number;
  readonly to: number;
}

interface Problems {
  readonly marked: readonly Marked[];
  readonly marks: DecorationSet;
}

const NONE: Problems = { marked: [], marks: Decoration.none };

/** The type checker's findings until the next verdict. Marks move with the text. A mark on a changed word is dropped. */
const field = StateField.define<Problems>({
  create: () => NONE,
  update(before, transaction) {
    for (const effect of transaction.effects) {
      if (effect.is(setProblems)) return mark(transaction.state, effect.value);
    }
    if (!transaction.docChanged) return before;
    const marked = before.marked.flatMap(({ problem, from, to }) => {
      const moved = { problem, from: transaction.changes.mapPos(from, 1), to: transaction.changes.mapPos(to, -1) };
      const isTouched = transaction.changes.touchesRange(from, to) !== false;
      return isTouched || moved.to <= moved.from ? [] : [moved];
    });
    return { marked, marks: marksOf(marked) };
  },
  provide: (self) => EditorView.decorations.from(self, ({ marks }) => marks),
});

export const problems: Extension = field;

/** The problem at a position, as text for its tooltip. */
export function problemAt(
  state: EditorState,
  position: number,
): { dom: HTMLElement; from: number; to: number } | undefined {
  const found = state.field(field).marked.find(({ from, to }) => from <= position && position <= to);
  if (found === undefined) return undefined;
  const dom = document.createElement('div');
  dom.className = `cm-tool cm-problem-text ${found.problem.severity}`;
  const { message, hint } = found.problem;
  for (const text of [message, ...(hint === undefined ? [] : [hint])]) {
    const line = document.createElement('p');
    line.textContent = foreignLabel(text, 600);
    dom.append(line);
  }
  return { dom, from: found.from, to: found.to };
}

function mark(state: EditorState, given: readonly TypeProblem[]): Problems {
  const marked = given
    .flatMap((problem) => {
      const { line, column } = problem.position;
      if (line > state.doc.lines) return [];
      const { from: start, to: end } = state.doc.line(line);
      const from = Math.min(start + column - 1, end);
      const word = /^[\w$]+/.exec(state.sliceDoc(from, end))?.[0].length ?? 1;
      return from + word > end ? [] : [{ problem, from, to: from + word }];
    })
    .sort((left, right) => left.from - right.from);
  return { marked, marks: marksOf(marked) };
}

function marksOf(marked: readonly Marked[]): DecorationSet {
  const ranges: Range<Decoration>[] = marked.map(({ problem, from, to }) =>
    Decoration.mark({ class: `cm-problem ${problem.severity}` }).range(from, to),
  );
  return Decoration.set(ranges);
}
