import { createStore, useStore } from '../lib/store.js';
import { Icon } from './icons.js';

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly tone: 'plain' | 'bad';
  /** A link to the next step. */
  readonly next?: { readonly href: string; readonly label: string } | undefined;
}

const toasts = createStore<readonly Toast[]>([]);
const SHOWN_MS = 6_000;
/** Slow enough for a person who reads a command in it and types it. */
const MS_PER_CHARACTER = 90;
const MAX_TOASTS = 4;
let lastId = 0;

/** Shows a message to the person, also through the screen reader. */
export function say(text: string, tone: Toast['tone'] = 'plain', next?: Toast['next']): void {
  lastId += 1;
  const toast = { id: lastId, text, tone, next };
  toasts.set((before) => [...before, toast].slice(-MAX_TOASTS));
  const readingMs = text.length * MS_PER_CHARACTER;
  setTimeout(() => close(toast.id), Math.max(readingMs, tone === 'bad' ? SHOWN_MS * 2 : SHOWN_MS));
}

function close(id: number): void {
  toasts.set((before) => before.filter((each) => each.id !== id));
}

/** The live region exists before its first message: otherwise nothing is read aloud. */
export function Toasts() {
  const shown = useStore(toasts);
  return (
    <div class="toasts" role="status" aria-live="polite">
      {shown.map(({ id, text, tone, next }) => (
        <div key={id} class={`toast ${tone}`}>
          <span class="foreign">{text}</span>
          {next !== undefined && (
            <a href={next.href} onClick={() => close(id)}>
              {next.label}
            </a>
          )}
          <button type="button" aria-label="Close this message" onClick={() => close(id)}>
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  );
}
