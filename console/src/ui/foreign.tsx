import { useState } from 'preact/hooks';
import { visibleLine, visibleText } from '../../../src/lib/text/visible-text.js';
import { bytes } from '../lib/format.js';

/**
 * Text of a program, a server, a tool or an agent: always a text node, its hidden characters written as escapes, and only
 * its beginning where it is long. Megabytes in one node would stop the page.
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

/** One line that is never longer than its place: what is cut shows on hover. */
export function ForeignLine({ text, limit = 300 }: { text: string; limit?: number }) {
  const begin = visibleLine(cutText(text, limit));
  const whole = begin + (text.length > limit ? '…' : '');
  return (
    <span class="foreign clip" title={whole}>
      {whole}
    </span>
  );
}

/** For places that take only a string: labels, titles of the page. */
export function foreignLabel(text: string, limit = 120): string {
  return visibleLine(cutText(text, limit)) + (text.length > limit ? '…' : '');
}

const STEP = 50_000;

function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  const unit = text.charCodeAt(length - 1);
  return text.slice(0, unit >= 0xd800 && unit <= 0xdbff ? length - 1 : length);
}
