import type { Decision } from './decide.js';

const KEY = 'codemode.card';

/** What a person has entered on a card but not sent yet. */
export interface CardDraft {
  readonly leftOut: ReadonlySet<string>;
  readonly scope: Decision['scope'];
  readonly reason: string;
}

export const NO_DRAFT: CardDraft = { leftOut: new Set(), scope: 'call', reason: '' };

/** Survives a reload of the page, for the card that was changed last. */
export function readDraft(cardId: string): CardDraft {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEY) ?? '{}') as Readonly<Record<string, unknown>>;
    const { card, leftOut, scope, reason } = kept;
    if (card !== cardId) return NO_DRAFT;
    return {
      leftOut: new Set(Array.isArray(leftOut) ? leftOut.map(String) : []),
      scope: scope === 'run' || scope === 'hour' ? scope : 'call',
      reason: typeof reason === 'string' ? reason : '',
    };
  } catch {
    return NO_DRAFT;
  }
}

export function keepDraft(cardId: string, { leftOut, scope, reason }: CardDraft): void {
  try {
    sessionStorage.setItem(KEY, JSON.stringify({ card: cardId, leftOut: [...leftOut], scope, reason }));
  } catch {
    // Without storage a reload starts over, and the card shows that.
  }
}

export function forgetDraft(): void {
  try {
    sessionStorage.removeItem(KEY);
  } catch {
    // Storage is disabled, as above.
  }
}
