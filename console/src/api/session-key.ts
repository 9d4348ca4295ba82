const NAME = 'codemode.key';

/** Storage may be disabled: the session then lasts as long as the page. */
let kept: string | undefined;

export function readKey(): string | undefined {
  try {
    return localStorage.getItem(NAME) ?? kept;
  } catch {
    return kept;
  }
}

export function writeKey(key: string | undefined): void {
  kept = key;
  try {
    if (key === undefined) localStorage.removeItem(NAME);
    else localStorage.setItem(NAME, key);
  } catch {
    // Storage is disabled, as above.
  }
}
