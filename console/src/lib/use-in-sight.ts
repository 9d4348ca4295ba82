import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** A box that is scrolled to when `value` changes and its beginning is out of sight: on a narrow screen it is below the button. */
export function useInSight<T extends HTMLElement>(value: unknown): RefObject<T | null> {
  const box = useRef<T>(null);
  useEffect(() => {
    const top = box.current?.getBoundingClientRect().top;
    if (value === undefined || top === undefined) return;
    if (top < 0 || top > innerHeight - LEAST_SHOWN_PIXELS) box.current?.scrollIntoView({ block: 'start' });
  }, [value]);
  return box;
}

/** Enough of it to see that there is more. */
const LEAST_SHOWN_PIXELS = 160;
