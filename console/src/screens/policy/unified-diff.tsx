import { Foreign } from '../../ui/foreign.js';

/** A unified diff with coloured lines. */
export function UnifiedDiff({ text }: { text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard
    <section class="diff block" aria-label="Changes of the file" tabIndex={0}>
      {text.split('\n').map((line, index) => (
        <div key={index} class={classOf(line)}>
          <Foreign text={line} limit={400} />
        </div>
      ))}
    </section>
  );
}

function classOf(line: string): string {
  if (line.startsWith('@@')) return 'place';
  if (line.startsWith('+')) return 'added';
  return line.startsWith('-') ? 'removed' : 'same';
}
