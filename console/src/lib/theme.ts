import { createStore } from './store.js';

export type Theme = 'system' | 'light' | 'dark';
const NAME = 'codemode.theme';
const ORDER: readonly Theme[] = ['system', 'light', 'dark'];

export const theme = createStore<Theme>(read());

export function nextTheme(): void {
  const next = ORDER[(ORDER.indexOf(theme.get()) + 1) % ORDER.length] ?? 'system';
  theme.set(next);
  try {
    localStorage.setItem(NAME, next);
  } catch {
    // Storage is disabled: the choice lasts as long as the page.
  }
  applyTheme();
}

export function applyTheme(): void {
  const chosen = theme.get();
  if (chosen === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = chosen;
}

function read(): Theme {
  try {
    return ORDER.find((each) => each === localStorage.getItem(NAME)) ?? 'system';
  } catch {
    return 'system';
  }
}
