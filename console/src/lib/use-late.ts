import { useEffect, useState } from 'preact/hooks';

/** The debounced value: updated after it has not changed for `ms`. */
export function useLate<T>(value: T, ms: number): T {
  const [late, setLate] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setLate(value), ms);
    return () => clearTimeout(timer);
  }, [value]);
  return late;
}
