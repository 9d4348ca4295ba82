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
 * Tells every place that it finds, until it is told that it is enough. With `from` and `to`, of what begins there; it looks at
 * as much of the text around as it has to, and gives where the next part begins.
 */
export type TextSearch = (text: string, found: (span: Span) => boolean, from?: number, to?: number) => number;

/** Which kinds of text are looked for. */
export interface FinderOptions {
  /** Keys and tokens whose own form makes them certain. */
  readonly patterns: boolean;
  /** Secrets by the name in front of them. */
  readonly named?: boolean;
  readonly cards?: boolean;
  /** Also where they are JSON numbers, which then become text. */
  readonly cardNumbers?: boolean;
  readonly emails: boolean;
  readonly phones?: boolean;
  /** Numbers of bank accounts and social security numbers. */
  readonly accounts?: boolean;
  /** The user's own. */
  readonly extra: readonly TextSearch[];
  /** Texts that stay, whatever they look like. */
  readonly allow: readonly string[];
}

/** A longer text is checked in parts of this size, where its reader can wait: a multiple of what `NeedleSearch` reads. */
export const PART_CHARACTERS = 4 * 65_536;

/** How much is looked for in a text: `known` is only what the host holds itself. */
export type Depth = 'all' | 'no-cards' | 'known';

/** Finds what must not be seen in a text: in one pass over it for each way in which it is looked for. */
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

  /** Whether a text has to be looked at piece by piece, because expressions of the user decide about it. */
  get hasExtra(): boolean {
    return this.#options.extra.length > 0;
  }

  /** Whether there is anything; in JSON text too, where it may say so although in the value there is nothing. */
  hasAny(text: string, depth: Depth = 'all'): boolean {
    let isFound = false;
    this.#find(text, depth, () => {
      isFound = true;
      return true;
    });
    return isFound;
  }

  /** `keep`: leaves out what it does not keep, before what overlaps is put together. */
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

  /** The same as `find`, in slices: other work of this process is done in between. */
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

  /** Until `found` has had enough. Called for each value of a result: nothing is put together for it. */
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
          // Inside a match there is no second one: what was looked at once is not looked at again.
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
