import { useEffect, useState } from 'preact/hooks';

/** The value once nobody has changed it for a moment. */
export function useLate<T>(value: T, ms: number): T {
  const [late, setLate] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setLate(value), ms);
    return () => clearTimeout(timer);
  }, [value]);
  return late;
}
