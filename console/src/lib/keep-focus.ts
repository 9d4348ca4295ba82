/**
 * When what has the focus is removed (a row that was revoked, a card that was decided), the browser forgets the place, and the next Tab
 * starts at the top of the page. Then the part of the page that it was in gets the focus.
 */
export function keepFocus(): () => void {
  let last: Element | undefined;
  let around: Element | undefined;
  const onFocus = ({ target }: FocusEvent) => {
    if (!(target instanceof Element)) return;
    last = target;
    around = target.closest('dialog, main') ?? undefined;
  };
  const observer = new MutationObserver(() => {
    if (last === undefined || last.isConnected || document.activeElement !== document.body) return;
    last = undefined;
    const place = around?.isConnected === true ? around : document.getElementById('main');
    const target = place?.matches('dialog') === true ? place.querySelector('button, input') : place;
    if (target instanceof HTMLElement) target.focus({ preventScroll: true });
  });
  addEventListener('focusin', onFocus);
  observer.observe(document.body, { childList: true, subtree: true });
  return () => {
    removeEventListener('focusin', onFocus);
    observer.disconnect();
  };
}
