import { BEARER, isIn, runEnd, WORD_AND_LINE } from './characters.js';
import type { Span } from './span.js';

/**
 * Finds secrets by the name in front of them: `password=...`, `"api_key": "..."`, `Authorization: Basic ...`, `?token=...`, and
 * the password in `https://user:password@host`. A name is a hint, not proof, so these are redacted only if a contract or the
 * configuration asks for it.
 */
export function findNamedSecrets(text: string, found: (span: Span) => boolean, from = 0, to = text.length): number {
  let seenUntil = from;
  for (let at = nextSeparator(text, from, to); at < to; at = nextSeparator(text, at + 1, to)) {
    if (at < seenUntil) continue;
    const span = text.startsWith('://', at) ? urlPassword(text, at + 3) : namedValue(text, at);
    if (span === undefined) continue;
    if (found(span)) return text.length;
    seenUntil = span.end;
  }
  const next = Math.max(to, seenUntil);
  return findBearers(text, found, from, next) ? text.length : next;
}

/** `Bearer TOKEN` without its header's name. In a sentence about bearers, the next word has no digit. */
function findBearers(text: string, found: (span: Span) => boolean, from: number, to: number): boolean {
  // Includes the character before it, which shows whether a word begins there.
  const base = Math.max(0, from - 1);
  const part = base === 0 && to === text.length ? text : text.slice(base, to + BEARER_WORD.length);
  for (const { 0: word, index } of part.matchAll(/\bbearer /gi)) {
    const start = base + index + word.length;
    const end = runEnd(BEARER, text, start, MAX_VALUE_CHARACTERS);
    const isToken = end - start >= MIN_BEARER_CHARACTERS && /\d/.test(text.slice(start, end));
    if (isToken && found({ start, end, kind: 'bearer-token' })) return true;
  }
  return false;
}

const BEARER_WORD = 'bearer ';

/** Whether a field of this name holds a secret. The value is considered only if the name has two meanings. */
export function isSecretField(name: string, value: string): boolean {
  if (name.length > MAX_NAME_CHARACTERS || !SECRET_NAME.test(name) || CURSOR_NAME.test(name)) return false;
  return !(FOLDER_NAME.test(name) && value.startsWith('/'));
}

const MAX_NAME_CHARACTERS = 60;
const MAX_VALUE_CHARACTERS = 4_096;
const MAX_USER_CHARACTERS = 256;
const MAX_GAP_CHARACTERS = 4;
/** Shorter values are redacted only as a field of their own: in running text they are likely something else. */
const MIN_VALUE_CHARACTERS = 4;
const MIN_BEARER_CHARACTERS = 16;

/** The last words of a name: `DB_PASSWORD`, `x-api-key`, `clientSecret`; not `max_tokens` or `passwordless`. */
const SECRET_NAME =
  /(?:^|[^a-z]|(?<=[a-z])(?=[A-Z]))(?:pass(?:word|wd|phrase)|pwd|secret|token|(?:api|secret|private|signing|access|account)[_-]?key|credentials?|authorization|cookie)$/i;
/** Cursors of the next page: a program that cannot read one gets only the first page. */
const CURSOR_NAME =
  /(?:^|[_-]|[a-z])(?:next|prev(?:ious)?|page|paging|continuation|cursor|scroll|sync|skip)[_-]?token$/i;
/** The shell's current folder; elsewhere `PWD` is a password. */
const FOLDER_NAME = /^(?:OLD)?PWD$/;
/** Values after a name in a declaration or a form that are not secrets. */
const NO_SECRET =
  /^(?:string|text|number|boolean|bool|str|int|any|unknown|null|none|nil|undefined|true|false|required|optional|\*+|\[redacted.*|\$\{.*|<.*>)$/i;

function nextSeparator(text: string, from: number, to: number): number {
  for (let at = from; at < to; at += 1) {
    const code = text.charCodeAt(at);
    if (code === EQUALS || code === COLON) return at;
  }
  return to;
}

const EQUALS = 61;
const COLON = 58;

function namedValue(text: string, separator: number): Span | undefined {
  const name = nameBefore(text, separator);
  if (!SECRET_NAME.test(name)) return undefined;
  let start = separator + 1;
  const last = start + MAX_GAP_CHARACTERS;
  while (start < last && /[ \t>=]/.test(text[start] ?? '')) start += 1;
  const quote = /^\\*["'`]/.exec(text.slice(start, start + 8))?.[0];
  if (quote !== undefined) start += quote.length;
  else start = afterScheme(text, start);
  const end = quote === undefined ? bareEnd(text, start) : quotedEnd(text, start, quote);
  const value = text.slice(start, end);
  const isSecret = value.length >= MIN_VALUE_CHARACTERS && isSecretField(name, value) && !NO_SECRET.test(value);
  return isSecret ? { start, end, kind: 'secret' } : undefined;
}

/** The name that ends before a separator, without its quotes. */
function nameBefore(text: string, separator: number): string {
  let end = separator;
  const first = Math.max(0, separator - MAX_GAP_CHARACTERS);
  while (end > first && /[ \t"'`\\]/.test(text[end - 1] as string)) end -= 1;
  let start = end;
  while (
    start > 0 &&
    end - start < MAX_NAME_CHARACTERS &&
    (isIn(WORD_AND_LINE, text, start - 1) || text[start - 1] === '-')
  )
    start -= 1;
  return text.slice(start, end);
}

/** `Authorization: Basic dXNlcg==`: the scheme is not the secret. */
function afterScheme(text: string, start: number): number {
  return start + (/^(?:Basic|Bearer|Digest|Token|ApiKey) +/i.exec(text.slice(start, start + 16))?.[0].length ?? 0);
}

function bareEnd(text: string, start: number): number {
  const limit = Math.min(text.length, start + MAX_VALUE_CHARACTERS);
  let end = start;
  while (end < limit && !/[\s"'`&;,)\]}<>\\]/.test(text[end] as string)) end += 1;
  return end;
}

function quotedEnd(text: string, start: number, quote: string): number {
  const end = text.indexOf(quote, start);
  return end < 0 || end - start > MAX_VALUE_CHARACTERS ? bareEnd(text, start) : end;
}

/** The password of `user:password@host`, if a URL begins here. */
function urlPassword(text: string, start: number): Span | undefined {
  const limit = Math.min(text.length, start + MAX_USER_CHARACTERS);
  let colon = -1;
  for (let at = start; at < limit; at += 1) {
    const character = text[at] as string;
    if (/[\s/?#"'<>\\]/.test(character)) return undefined;
    if (character === ':' && colon < 0) colon = at;
    if (character !== '@') continue;
    return colon < 0 || at === colon + 1 ? undefined : { start: colon + 1, end: at, kind: 'url-password' };
  }
  return undefined;
}
