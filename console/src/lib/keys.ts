import { useEffect, useRef } from 'preact/hooks';
import { omitUndefined } from '../../../src/lib/omit-undefined.js';
import { createStore } from './store.js';

export interface KeyBinding {
  readonly key: string;
  /** Description for the help. */
  readonly label: string;
  readonly run: () => void;
  /** Does not repeat while the key is held down, so that the action is not repeated by accident. */
  readonly isOnce?: true;
}

/** The bindings of everything on the screen. Later ones win. */
export const bindings = createStore<readonly (readonly KeyBinding[])[]>([]);

/** Key bindings of a screen, while it is shown. */
export function useKeys(keys: readonly KeyBinding[]): void {
  const latest = useRef(keys);
  latest.current = keys;
  const shape = keys.map(({ key, label }) => `${key} ${label}`).join('\n');
  useEffect(() => {
    const own = latest.current.map(({ key, label, isOnce }) => ({
      ...{ key, label, ...omitUndefined({ isOnce }) },
      run: () => latest.current.find((each) => each.key === key)?.run(),
    }));
    bindings.set((before) => [...before, own]);
    return () => bindings.set((before) => before.filter((each) => each !== own));
  }, [shape]);
}

/** Letters typed into a field, or while a dialog is open, are not commands. */
export function listenForKeys(): () => void {
  const onKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTyping(event)) return;
    if (document.querySelector('dialog[open]') !== null) return;
    const found = bindings
      .get()
      .flat()
      .findLast(({ key }) => key === event.key);
    if (found === undefined) return;
    event.preventDefault();
    if (!event.repeat || found.isOnce !== true) found.run();
  };
  addEventListener('keydown', onKey);
  return () => removeEventListener('keydown', onKey);
}

function isTyping(event: KeyboardEvent): boolean {
  const target = event.composedPath()[0];
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !['checkbox', 'radio', 'range', 'button'].includes(target.type);
  return target.isContentEditable || ['TEXTAREA', 'SELECT'].includes(target.tagName);
}
