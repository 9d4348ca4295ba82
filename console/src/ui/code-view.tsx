import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { visibleText } from '../../../src/lib/text/visible-text.js';
import type { Span } from '../editor/highlight.js';

/** More lines are shown in pieces: a page with a million nodes is unusable. */
const MAX_LINES = 2_000;
const MAX_LINE_CHARACTERS = 2_000;
const MAX_CHARACTERS = 1_000_000;
/** Parsing more than this causes a noticeable delay. */
const MAX_COLOURED_CHARACTERS = 100_000;

export interface CodeViewProps {
  readonly source: string;
  readonly language: string;
  readonly label: string;
  /** Number of the first line. */
  readonly firstLine?: number;
  readonly failed?: number | undefined;
  /** Lines with linked calls, and their notes. */
  readonly linkedLines?: ReadonlyMap<number, string>;
  /** Lines whose calls wait for a person. */
  readonly marked?: ReadonlySet<number>;
  readonly active?: number | undefined;
  readonly onLine?: (line: number) => void;
}

/** A program, line by line. Colours appear when the highlighter has loaded. */
export function CodeView({
  source,
  language,
  label,
  firstLine = 1,
  failed,
  linkedLines,
  marked,
  active,
  onLine,
}: CodeViewProps) {
  const [most, setMost] = useState(MAX_LINES);
  // The final newline of a program does not start another line.
  const lines = useMemo(() => visibleText(source.slice(0, MAX_CHARACTERS)).replace(/\n$/, '').split('\n'), [source]);
  const text = useMemo(() => colouredPart(lines.slice(0, MAX_LINES)), [lines]);
  const [spans, setSpans] = useState<readonly (readonly Span[])[]>([]);
  const list = useRef<HTMLOListElement>(null);

  useEffect(() => {
    let isShown = true;
    setSpans([]);
    void import('../editor/highlight.js').then(({ highlight }) => {
      if (isShown) setSpans(highlight(text, language));
    });
    return () => {
      isShown = false;
    };
  }, [text, language]);

  useEffect(() => {
    if (active === undefined) return;
    const box = list.current?.parentElement;
    const line = list.current?.children[active - firstLine];
    if (!box || !(line instanceof HTMLElement)) return;
    const top = line.offsetTop - box.offsetTop;
    if (top < box.scrollTop || top > box.scrollTop + box.clientHeight - 30) {
      box.scrollTop = top - box.clientHeight / 2;
    }
  }, [active, firstLine]);

  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard
    <section class="code" aria-label={label} tabIndex={0}>
      <ol ref={list}>
        {lines.slice(0, most).map((line, index) => {
          const number = firstLine + index;
          const linked = linkedLines?.get(number);
          const classes = [
            linked !== undefined && 'called',
            failed === number && 'failed',
            marked?.has(number) === true && 'marked',
            active === number && 'linked',
          ].filter(Boolean);
          return (
            <li key={number} class={classes.join(' ')}>
              {linked === undefined || onLine === undefined ? (
                <span class="line-number">{number}</span>
              ) : (
                <button
                  type="button"
                  class="line-number"
                  aria-label={`Line ${number}: ${linked}`}
                  onClick={() => onLine(number)}
                >
                  {number}
                </button>
              )}
              <Line text={line} spans={spans[index]} />
              {marked?.has(number) === true && <span class="sr-only">(the call)</span>}
            </li>
          );
        })}
      </ol>
      {lines.length > most && (
        <button type="button" class="more" onClick={() => setMost(most + MAX_LINES)}>
          Show more ({lines.length - most} lines left)
        </button>
      )}
    </section>
  );
}

/** Whole lines only: otherwise the uncoloured end of a line would be lost. */
function colouredPart(lines: readonly string[]): string {
  let characters = 0;
  const most = lines.findIndex((line) => {
    characters += line.length + 1;
    return characters > MAX_COLOURED_CHARACTERS;
  });
  return lines.slice(0, most === -1 ? lines.length : most).join('\n');
}

function Line({ text, spans }: { text: string; spans: readonly Span[] | undefined }) {
  const shown = text.slice(0, MAX_LINE_CHARACTERS);
  const rest = text.length > MAX_LINE_CHARACTERS ? `… (${text.length - MAX_LINE_CHARACTERS} more characters)` : '';
  if (spans === undefined || rest !== '') return <code>{shown + rest}</code>;
  return <code>{spans.map(({ text: part, style }) => (style === '' ? part : <span class={style}>{part}</span>))}</code>;
}
