import { useEffect, useState } from 'preact/hooks';

/** A value that components subscribe to. */
export interface Store<T> {
  get(): T;
  set(next: T | ((before: T) => T)): void;
  follow(listener: () => void): () => void;
}

export function createStore<T>(initial: T): Store<T> {
  let value = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set: (next) => {
      const changed = typeof next === 'function' ? (next as (before: T) => T)(value) : next;
      if (Object.is(changed, value)) return;
      value = changed;
      for (const listener of [...listeners]) listener();
    },
    follow: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** Renders the component again when the chosen part of the store changes. */
export function useStore<T, S = T>(store: Store<T>, choose: (value: T) => S = (value) => value as unknown as S): S {
  const [chosen, setChosen] = useState(() => choose(store.get()));
  useEffect(() => {
    const update = () => setChosen(() => choose(store.get()));
    update();
    return store.follow(update);
  }, [store]);
  return chosen;
}
