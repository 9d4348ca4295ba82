import { useState } from 'preact/hooks';
import { visibleLine, visibleText } from '../../../src/lib/text/visible-text.js';
import { bytes } from '../lib/format.js';

/**
 * Text of a program, a server, a tool or an agent: always a text node, with hidden characters escaped, and only its beginning if
 * it is long. Megabytes in one node would freeze the page.
 */
export function Foreign({ text, limit = 2_000, lines = false }: { text: string; limit?: number; lines?: boolean }) {
  const [shown, setShown] = useState(limit);
  const begin = cutText(text, shown);
  const left = text.length - begin.length;
  return (
    <span class="foreign">
      {lines ? visibleText(begin) : visibleLine(begin)}
      {left > 0 && (
        <>
          {'… '}
          <button type="button" class="more" onClick={() => setShown(shown + Math.max(limit, STEP))}>
            Show more ({bytes(left)} left)
          </button>
        </>
      )}
    </span>
  );
}

/** One line that never exceeds its space. Clipped text shows on hover. */
export function ForeignLine({ text, limit = 300 }: { text: string; limit?: number }) {
  const begin = visibleLine(cutText(text, limit));
  const whole = begin + (text.length > limit ? '…' : '');
  return (
    <span class="foreign clip" title={whole}>
      {whole}
    </span>
  );
}

/** For attributes that take only a string: labels, page titles. */
export function foreignLabel(text: string, limit = 120): string {
  return visibleLine(cutText(text, limit)) + (text.length > limit ? '…' : '');
}

const STEP = 50_000;

function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  const unit = text.charCodeAt(length - 1);
  return text.slice(0, unit >= 0xd800 && unit <= 0xdbff ? length - 1 : length);
}
