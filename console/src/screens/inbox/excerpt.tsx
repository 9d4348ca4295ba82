import { Foreign } from '../../ui/foreign.js';

interface ExcerptLine {
  readonly number: string;
  readonly text: string;
  readonly isMarked: boolean;
}

/** The lines of the program around the call, the called one marked. */
export function Excerpt({ code }: { code: string }) {
  const { head, lines } = readExcerpt(code);
  return (
    <figure class="panel">
      {head !== '' && (
        <figcaption class="panel-head small muted">
          <Foreign text={head} />
        </figcaption>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard */}
      <section class="code excerpt" aria-label="Lines of the program" tabIndex={0}>
        <ol>
          {lines.map(({ number, text, isMarked }) => (
            <li key={number} class={isMarked ? 'marked' : ''}>
              <span class="line-number">{number}</span>
              <code>
                <Foreign text={text} limit={400} />
                {isMarked && <span class="sr-only"> (the call)</span>}
              </code>
            </li>
          ))}
        </ol>
      </section>
    </figure>
  );
}

/** As the approval has it: a line that says how far it can be relied on, then `> 12 | text`. */
export function readExcerpt(code: string): { readonly head: string; readonly lines: readonly ExcerptLine[] } {
  const [head = '', ...rest] = code.split('\n');
  const lines = rest.map((line): ExcerptLine => {
    const found = /^([> ]) +(\d*) *\| ?(.*)$/.exec(line);
    if (found === null) return { number: '', text: line, isMarked: false };
    return { number: found[2] ?? '', text: found[3] ?? '', isMarked: found[1] === '>' };
  });
  return { head, lines };
}
