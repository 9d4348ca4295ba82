import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { ConsoleEvent } from '../../../src/domain/console/events.js';
import { onEvent } from './live.js';

export interface Page<T> {
  readonly items: readonly T[];
  readonly cursor?: string;
}

export interface Pages<T> {
  readonly items: readonly T[];
  readonly hasMore: boolean;
  readonly isLoading: boolean;
  readonly error?: unknown;
  loadMore(): void;
  reload(): void;
  change(change: (items: readonly T[]) => readonly T[]): void;
}

/** A long list, page by page. A reload fetches as many items as before, so that the user keeps their place. */
export function usePages<T>(
  key: string,
  loadPage: (cursor: string | undefined, signal: AbortSignal) => Promise<Page<T>>,
  /** Whether the event requires a reload. It may change the items itself instead. */
  onChange: (event: ConsoleEvent, change: Pages<T>['change']) => boolean = () => false,
): Pages<T> {
  interface State {
    readonly key: string;
    readonly items: readonly T[];
    readonly cursor?: string | undefined;
    readonly isLoading: boolean;
    readonly error?: unknown;
  }
  const [state, setState] = useState<State>({ key, items: [], isLoading: true });
  const latest = useRef({ loadPage, onChange, state });
  latest.current = { loadPage, onChange, state };
  const actions = useRef({ more: () => {}, reload: () => {} });
  const change = useCallback((by: (items: readonly T[]) => readonly T[]) => {
    setState((before) => ({ ...before, items: by(before.items) }));
  }, []);

  useEffect(() => {
    const controller = new AbortController();
    let isBusy = false;
    let isDirty = false;
    const guarded = async (work: () => Promise<void>) => {
      if (isBusy) return;
      isBusy = true;
      setState((before) => ({ ...before, isLoading: true }));
      try {
        await work();
      } catch (error) {
        if (!controller.signal.aborted) setState((before) => ({ ...before, isLoading: false, error }));
      }
      isBusy = false;
      if (isDirty && !controller.signal.aborted) reload();
    };
    const reload = () => {
      isDirty = isBusy;
      void guarded(async () => {
        isDirty = false;
        const wanted = latest.current.state.key === key ? latest.current.state.items.length : 0;
        const items: T[] = [];
        let cursor: string | undefined;
        do {
          const page = await latest.current.loadPage(cursor, controller.signal);
          items.push(...page.items);
          cursor = page.cursor;
          // A search continues until something is found: an empty page is not the end.
        } while (cursor !== undefined && items.length < Math.max(1, wanted) && !controller.signal.aborted);
        if (!controller.signal.aborted) setState({ key, items, cursor, isLoading: false });
      });
    };
    const more = () => {
      const { cursor, key: shown } = latest.current.state;
      if (cursor === undefined || shown !== key) return;
      void guarded(async () => {
        const page = await latest.current.loadPage(cursor, controller.signal);
        if (controller.signal.aborted) return;
        setState((before) => ({
          key,
          items: [...before.items, ...page.items],
          cursor: page.cursor,
          isLoading: false,
        }));
      });
    };
    actions.current = { more, reload };
    setState((before) => (before.key === key ? before : { key, items: [], isLoading: true }));
    reload();
    const stop = onEvent((event) => {
      if (event.type === 'refresh' || latest.current.onChange(event, change)) reload();
    });
    return () => {
      controller.abort();
      stop();
    };
  }, [key]);

  const shown = state.key === key ? state : { items: [], isLoading: true, cursor: undefined };
  return {
    items: shown.items,
    hasMore: shown.cursor !== undefined,
    isLoading: shown.isLoading,
    ...('error' in shown && shown.error !== undefined ? { error: shown.error } : {}),
    loadMore: useCallback(() => actions.current.more(), []),
    reload: useCallback(() => actions.current.reload(), []),
    change,
  };
}
