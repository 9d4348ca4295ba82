import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Icon } from './icons.js';

/** The browser's own dialog: it traps the focus and restores it. */
export function Dialog({
  title,
  onClose,
  children,
  isWide = false,
}: {
  title: string;
  onClose: () => void;
  /** Set if it shows code. */
  isWide?: boolean;
  children: ComponentChildren;
}) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    // If there is an input, it gets the focus.
    dialog?.querySelector<HTMLElement>('.dialog-body input')?.focus();
    return () => dialog?.close();
  }, []);
  return (
    <dialog class={`dialog ${isWide ? 'wide' : ''}`} ref={element} aria-label={title} onClose={onClose}>
      <div class="dialog-head">
        <h2>{title}</h2>
        <button type="button" class="button icon quiet" aria-label="Close" onClick={onClose}>
          <Icon name="close" />
        </button>
      </div>
      <div class="dialog-body">{children}</div>
    </dialog>
  );
}
