import { CodeView } from '../../ui/code-view.js';
import { Foreign } from '../../ui/foreign.js';

interface ExcerptLine {
  readonly number: string;
  readonly text: string;
  readonly isMarked: boolean;
}

/** The lines of the program around the call, with the calling line marked. */
export function Excerpt({ code }: { code: string }) {
  const { head, lines } = readExcerpt(code);
  const numbered = lines.filter(({ number }) => number !== '');
  const marked = new Set(lines.filter(({ isMarked }) => isMarked).map(({ number }) => Number(number)));
  return (
    <figure class="panel">
      {head !== '' && (
        <figcaption class="excerpt-head small muted">
          <Foreign text={head.charAt(0).toUpperCase() + head.slice(1)} />
        </figcaption>
      )}
      <CodeView
        source={numbered.map(({ text }) => text).join('\n')}
        language="typescript"
        label="Lines of the program"
        firstLine={Number(numbered[0]?.number ?? 1)}
        marked={marked}
      />
    </figure>
  );
}

/** Parses the excerpt of an approval: a line that says how reliable it is, then lines such as `> 12 | text`. */
export function readExcerpt(code: string): { readonly head: string; readonly lines: readonly ExcerptLine[] } {
  const [head = '', ...rest] = code.split('\n');
  const lines = rest.map((line): ExcerptLine => {
    const found = /^([> ]) +(\d*) *\| ?(.*)$/.exec(line);
    if (found === null) return { number: '', text: line, isMarked: false };
    return { number: found[2] ?? '', text: found[3] ?? '', isMarked: found[1] === '>' };
  });
  return { head, lines };
}
