import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Icon } from './icons.js';

/** The browser's own dialog: it keeps the focus inside and gives it back. */
export function Dialog({
  title,
  onClose,
  children,
  isWide = false,
}: {
  title: string;
  onClose: () => void;
  /** It shows code. */
  isWide?: boolean;
  children: ComponentChildren;
}) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    // Where there is something to type, that comes first.
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
