import { NeedleSearch } from '../../lib/needle-search.js';
import { type SecretForm, secretForms } from '../../lib/secret-forms.js';
import { findCards } from './cards.js';
import { BASE64, isIn } from './characters.js';
import { findEmails } from './emails.js';
import { findNamedSecrets } from './named-secrets.js';
import { findPhones } from './phones.js';
import { inOrder, type Span } from './span.js';
import { TOKEN_PATTERNS } from './token-patterns.js';

/** Tells every place that it finds, until it is told that it is enough. */
export type TextSearch = (text: string, found: (span: Span) => boolean) => void;

/** Which kinds of text are looked for. */
export interface FinderOptions {
  /** Keys and tokens whose own form makes them certain. */
  readonly patterns: boolean;
  /** Secrets by the name in front of them. */
  readonly named?: boolean;
  readonly cards?: boolean;
  readonly emails: boolean;
  readonly phones?: boolean;
  /** The user's own. */
  readonly extra: readonly TextSearch[];
  /** Texts that stay, whatever they look like. */
  readonly allow: readonly string[];
}

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

  /** Until `found` has had enough. */
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
    this.#findTokens(text, report, isKept);
    const { named, cards, emails, phones, extra } = this.#options;
    if (named === true && !isEnough) findNamedSecrets(text, report);
    if (cards === true && depth !== 'no-cards' && !isEnough) findCards(text, report);
    if (emails && !isEnough) findEmails(text, report);
    if (phones === true && depth !== 'no-cards' && !isEnough) findPhones(text, report);
    for (const search of extra) if (!isEnough) search(text, report);
  }

  #findKnown(text: string, found: (span: Span) => boolean): void {
    this.#secrets.visit(text, (start, index) => found(formAt(text, start, this.#forms[index] as SecretForm)));
  }

  #findTokens(text: string, found: (span: Span) => boolean, isKept?: (span: Span) => boolean): void {
    let matchedUntil = 0;
    this.#anchors.visit(text, (start, index) => {
      // Inside a match there is no second one: what was looked at once is not looked at again.
      const span = start < matchedUntil ? undefined : TOKEN_PATTERNS[index]?.match(text, start);
      if (span === undefined || isKept?.(span) === false) return false;
      matchedUntil = span.end;
      return found(span);
    });
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
