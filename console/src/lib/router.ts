import { createStore } from './store.js';

/** The current location: `#/runs/abc?state=failed` is `['runs', 'abc']` with one option. The part after `#` is never sent to the host. */
export interface Place {
  readonly path: readonly string[];
  readonly options: URLSearchParams;
}

export const place = createStore<Place>(readPlace());

addEventListener('hashchange', () => place.set(readPlace()));

function readPlace(): Place {
  const [path = '', options = ''] = location.hash.replace(/^#\/?/, '').split('?');
  return { path: path.split('/').filter(Boolean).map(decode), options: new URLSearchParams(options) };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The address of a screen, for a link. */
export function linkTo(path: readonly string[], options: Readonly<Record<string, string | undefined>> = {}): string {
  const given = Object.entries(options).filter((entry): entry is [string, string] => !!entry[1]);
  const query = new URLSearchParams(given).toString();
  return `#/${path.map(encodeURIComponent).join('/')}${query === '' ? '' : `?${query}`}`;
}

export function goTo(path: readonly string[], options: Readonly<Record<string, string | undefined>> = {}): void {
  location.hash = linkTo(path, options);
}

/** Changes the options of this screen without a new entry in the history. */
export function setOptions(options: Readonly<Record<string, string | undefined>>): void {
  history.replaceState(null, '', linkTo(place.get().path, options));
  place.set(readPlace());
}
