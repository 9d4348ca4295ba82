const KEY = 'codemode.left-out';

/** The rows that this person has left out of a card, also after a reload of the page. */
export function rowsLeftOut(cardId: string): ReadonlySet<string> {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? '{}');
    const { card, rows } = kept as { readonly card?: unknown; readonly rows?: unknown };
    return new Set(card === cardId && Array.isArray(rows) ? rows.map(String) : []);
  } catch {
    return new Set();
  }
}

/** Of one card: the one that was changed last. */
export function keepRowsLeftOut(cardId: string, rows: ReadonlySet<string>): void {
  try {
    if (rows.size === 0) sessionStorage.removeItem(KEY);
    else sessionStorage.setItem(KEY, JSON.stringify({ card: cardId, rows: [...rows] }));
  } catch {
    // Without a storage a reload includes every row again, and shows it.
  }
}
