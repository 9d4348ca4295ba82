import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { ConsoleEvent } from '../../../src/domain/console/events.js';
import { onEvent } from './live.js';

export interface Resource<T> {
  readonly data?: T;
  readonly error?: unknown;
  readonly isLoading: boolean;
  reload(): void;
  set(data: T): void;
}

/**
 * Loads something when `key` changes, and again when an event says that it changed. Only one request is in flight, and the
 * previous data stays on the screen until it is answered.
 */
export function useResource<T>(
  key: string,
  load: (signal: AbortSignal) => Promise<T>,
  isAffected: (event: ConsoleEvent) => boolean = () => false,
): Resource<T> {
  const [state, setState] = useState<{ key: string; data?: T; error?: unknown; isLoading: boolean }>({
    key,
    isLoading: true,
  });
  const latest = useRef({ load, isAffected });
  latest.current = { load, isAffected };
  const again = useRef<() => void>(() => {});

  useEffect(() => {
    const controller = new AbortController();
    let isBusy = false;
    let isDirty = false;
    const run = async () => {
      if (isBusy) {
        isDirty = true;
        return;
      }
      isBusy = true;
      setState((before) => (before.key === key ? { ...before, isLoading: true } : { key, isLoading: true }));
      do {
        isDirty = false;
        try {
          const data = await latest.current.load(controller.signal);
          if (controller.signal.aborted) return;
          setState({ key, data, isLoading: false });
        } catch (error) {
          if (controller.signal.aborted) return;
          setState((before) => ({ ...before, error, isLoading: false }));
        }
      } while (isDirty);
      isBusy = false;
    };
    again.current = () => void run();
    void run();
    const stop = onEvent((event) => {
      if (event.type === 'refresh' || latest.current.isAffected(event)) void run();
    });
    return () => {
      controller.abort();
      stop();
    };
  }, [key]);

  const reload = useCallback(() => again.current(), []);
  const set = useCallback((data: T) => setState({ key, data, isLoading: false }), [key]);
  const { key: _key, ...shown } = state.key === key ? state : { key, isLoading: true };
  return { ...shown, reload, set };
}
