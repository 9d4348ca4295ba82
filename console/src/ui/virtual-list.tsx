import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

const OVERSCAN = 6;
/** The next page is requested this many rows before the end. */
const NEAR_END = 30;

/** Rows of one height. Only the visible ones are in the document: ten thousand rows cost as much as thirty. */
export function VirtualList({
  label,
  count,
  rowHeight,
  height,
  row,
  active,
  onNearEnd,
}: {
  label: string;
  count: number;
  rowHeight: number;
  /** A CSS length. */
  height: string;
  row: (index: number) => ComponentChildren;
  /** The row that is kept in sight. */
  active?: number | undefined;
  onNearEnd?: () => void;
}) {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 800 });

  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const measure = () => setView({ top: element.scrollTop, height: element.clientHeight });
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    element.addEventListener('scroll', measure, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', measure);
    };
  }, []);

  useLayoutEffect(() => {
    const element = box.current;
    if (element === null || active === undefined || active < 0) return;
    const top = active * rowHeight;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + rowHeight > element.scrollTop + element.clientHeight) {
      element.scrollTop = top + rowHeight - element.clientHeight;
    }
  }, [active, rowHeight]);

  const first = Math.max(0, Math.floor(view.top / rowHeight) - OVERSCAN);
  const last = Math.min(count, Math.ceil((view.top + view.height) / rowHeight) + OVERSCAN);
  useEffect(() => {
    if (last >= count - NEAR_END) onNearEnd?.();
  }, [last, count]);

  const rows = [];
  for (let index = first; index < last; index += 1) {
    rows.push(
      <li
        key={index}
        class="virtual-row"
        aria-setsize={count}
        aria-posinset={index + 1}
        style={{ top: `${index * rowHeight}px`, height: `${rowHeight}px` }}
      >
        {row(index)}
      </li>,
    );
  }
  return (
    <div class={`virtual ${count * rowHeight > view.height + 1 ? 'scrolls' : ''}`} ref={box} style={{ height }}>
      <ul class="virtual-space" aria-label={label} style={{ height: `${count * rowHeight}px` }}>
        {rows}
      </ul>
    </div>
  );
}
