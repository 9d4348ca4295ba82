import type { PlaygroundProfile } from '../../../../src/domain/console/playground.js';

export interface Draft {
  readonly source: string;
  readonly profile: string;
  readonly language: string;
}

const NAME = 'codemode.draft';

/** The last program that the person wrote, so that a reload loses nothing. */
export function readDraft(profiles: readonly PlaygroundProfile[]): Draft {
  const [first] = profiles;
  const fresh = { source: first?.example ?? '', profile: first?.name ?? '', language: first?.languages[0] ?? '' };
  try {
    const kept = JSON.parse(localStorage.getItem(NAME) ?? 'null') as Partial<Draft> | null;
    if (typeof kept?.source !== 'string' || !profiles.some(({ name }) => name === kept.profile)) return fresh;
    return { source: kept.source, profile: kept.profile ?? '', language: String(kept.language ?? '') };
  } catch {
    return fresh;
  }
}

export function writeDraft(draft: Draft): void {
  try {
    localStorage.setItem(NAME, JSON.stringify(draft));
  } catch {
    // Too large, or storage is disabled: the draft lasts as long as the page.
  }
}
