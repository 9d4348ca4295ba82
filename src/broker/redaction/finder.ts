import type { Slices } from '../../lib/async/slices.js';
import { NeedleSearch } from '../../lib/secrets/needle-search.js';
import { type SecretForm, secretForms } from '../../lib/secrets/secret-forms.js';
import { findCards } from './cards.js';
import { BASE64, isIn } from './characters.js';
import { findEmails } from './emails.js';
import { findIbans } from './ibans.js';
import { findNamedSecrets } from './named-secrets.js';
import { findPhones } from './phones.js';
import { findSocialSecurityNumbers } from './social-security.js';
import { inOrder, type Span } from './span.js';
import { TOKEN_PATTERNS } from './token-patterns.js';

/**
 * Reports every span that it finds, until `found` returns true. With `from` and `to`, only spans that begin in that range; it
 * reads as much of the surrounding text as it needs, and returns where the next part begins.
 */
export type TextSearch = (text: string, found: (span: Span) => boolean, from?: number, to?: number) => number;

/** Which kinds of text are searched for. */
export interface FinderOptions {
  /** Keys and tokens with an unmistakable format. */
  readonly patterns: boolean;
  /** Secrets recognised by the name in front of them. */
  readonly named?: boolean;
  readonly cards?: boolean;
  /** Also JSON numbers, which then become strings. */
  readonly cardNumbers?: boolean;
  readonly emails: boolean;
  readonly phones?: boolean;
  /** Bank account numbers and social security numbers. */
  readonly accounts?: boolean;
  /** The user's own expressions. */
  readonly extra: readonly TextSearch[];
  /** Texts that are never redacted. */
  readonly allow: readonly string[];
}

/** A longer text is checked in parts of this size, if the caller can wait. A multiple of what `NeedleSearch` reads. */
export const PART_CHARACTERS = 4 * 65_536;

/** What to search for. `known`: only secrets that the host itself holds. */
export type Depth = 'all' | 'no-cards' | 'known';

/** Finds secrets in a text, in one pass over it for each kind of search. */
export class Finder {
  readonly #forms: readonly SecretForm[];
  readonly #secrets: NeedleSearch;
  readonly #options: FinderOptions;
  readonly #allow: ReadonlySet<string>;
  readonly #anchors: NeedleSearch;

  constructor(secrets: Iterable<string>, options: FinderOptions) {
    this.#forms = [...secrets].flatMap(secretForms);
    this.#secrets = new NeedleSearch(
      this.#forms.map(({ text }) => text),
      4,
    );
    this.#anchors = new NeedleSearch(options.patterns ? TOKEN_PATTERNS.map(({ anchor }) => anchor) : [], 2);
    this.#options = options;
    this.#allow = new Set(options.allow);
  }

  /** Whether each value must be checked by itself, because the user's expressions apply. */
  get hasExtra(): boolean {
    return this.#options.extra.length > 0;
  }

  /** Whether there is any match. In JSON text this may be true although the value has none. */
  hasAny(text: string, depth: Depth = 'all'): boolean {
    let isFound = false;
    this.#find(text, depth, () => {
      isFound = true;
      return true;
    });
    return isFound;
  }

  /** `keep`: filters matches before overlapping ones are merged. */
  find(text: string, depth: Depth = 'all', keep?: (text: string, span: Span) => boolean): Span[] {
    const spans: Span[] = [];
    const isKept = keep && ((span: Span) => keep(text, span));
    this.#find(
      text,
      depth,
      (span) => {
        spans.push(span);
        return false;
      },
      isKept,
    );
    return inOrder(spans);
  }

  /** Like `find`, but in slices: other work of this process runs in between. */
  async findInSlices(
    text: string,
    depth: Depth,
    slices: Slices,
    keep?: (text: string, span: Span) => boolean,
  ): Promise<Span[]> {
    const spans: Span[] = [];
    const push = (span: Span) => {
      spans.push(span);
      return false;
    };
    await this.#searchInSlices(text, depth, slices, push, keep && ((span) => keep(text, span)));
    return inOrder(spans);
  }

  async hasAnyInSlices(text: string, slices: Slices): Promise<boolean> {
    let isFound = false;
    await this.#searchInSlices(text, 'all', slices, () => {
      isFound = true;
      return true;
    });
    return isFound;
  }

  /** Stops when `found` returns true. Called for each value of a result, so it allocates no list of searches. */
  #find(text: string, depth: Depth, found: (span: Span) => boolean, isKept?: (span: Span) => boolean): void {
    let isEnough = false;
    const report = (span: Span): boolean => {
      if (isKept?.(span) === false) return false;
      if (this.#allow.size > 0 && this.#allow.has(text.slice(span.start, span.end))) return false;
      isEnough = found(span);
      return isEnough;
    };
    this.#findKnown(text, report);
    if (isEnough || depth === 'known') return;
    this.#tokenSearch(isKept)(text, report);
    const { named, cards, emails, phones, accounts, extra } = this.#options;
    if (named === true && !isEnough) findNamedSecrets(text, report);
    if (cards === true && depth !== 'no-cards' && !isEnough) findCards(text, report);
    if (emails && !isEnough) findEmails(text, report);
    if (accounts === true && !isEnough) findIbans(text, report);
    if (accounts === true && !isEnough) findSocialSecurityNumbers(text, report);
    if (phones === true && depth !== 'no-cards' && !isEnough) findPhones(text, report);
    for (const search of extra) if (!isEnough) search(text, report);
  }

  async #searchInSlices(
    text: string,
    depth: Depth,
    slices: Slices,
    found: (span: Span) => boolean,
    isKept?: (span: Span) => boolean,
  ): Promise<void> {
    let isEnough = false;
    const report = (span: Span): boolean => {
      if (isKept?.(span) === false) return false;
      if (this.#allow.has(text.slice(span.start, span.end))) return false;
      isEnough = found(span);
      return isEnough;
    };
    for (const search of this.#searches(depth, isKept))
      for (let from = 0; from < text.length && !isEnough; await slices.rest())
        from = search(text, report, from, Math.min(text.length, from + PART_CHARACTERS));
  }

  /** The same searches as in `#find`, in the same order. */
  #searches(depth: Depth, isKept?: (span: Span) => boolean): TextSearch[] {
    const { named, cards, emails, phones, accounts, extra } = this.#options;
    const known: TextSearch = (text, found, from, to) => this.#findKnown(text, found, from, to);
    if (depth === 'known') return [known];
    return [
      known,
      this.#tokenSearch(isKept),
      ...(named === true ? [findNamedSecrets] : []),
      ...(cards === true && depth !== 'no-cards' ? [findCards] : []),
      ...(emails ? [findEmails] : []),
      ...(accounts === true ? [findIbans, findSocialSecurityNumbers] : []),
      ...(phones === true && depth !== 'no-cards' ? [findPhones] : []),
      ...extra,
    ];
  }

  #findKnown(text: string, found: (span: Span) => boolean, from = 0, to = text.length): number {
    this.#secrets.visit(text, (start, index) => found(formAt(text, start, this.#forms[index] as SecretForm)), from, to);
    return to;
  }

  #tokenSearch(isKept?: (span: Span) => boolean): TextSearch {
    let matchedUntil = 0;
    return (text, found, from = 0, to = text.length) => {
      this.#anchors.visit(
        text,
        (start, index) => {
          // A match contains no second match, so its text is not searched again.
          const span = start < matchedUntil ? undefined : TOKEN_PATTERNS[index]?.match(text, start);
          if (span === undefined || isKept?.(span) === false) return false;
          matchedUntil = span.end;
          return found(span);
        },
        from,
        to,
      );
      return to;
    };
  }
}

function formAt(text: string, at: number, { text: form, isBase64 }: SecretForm): Span {
  const end = at + form.length;
  if (!isBase64) return { start: at, end, kind: 'credential' };
  return {
    start: at > 0 && isIn(BASE64, text, at - 1) ? at - 1 : at,
    end: isIn(BASE64, text, end) ? end + 1 : end,
    kind: 'credential',
  };
}
