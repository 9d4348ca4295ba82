import { HOST, isIn, MAIL, runEnd } from './characters.js';
import type { Span } from './span.js';

const MAX_LOCAL_CHARACTERS = 64;
const MAX_HOST_CHARACTERS = 253;

/** Finds email addresses by their `@`, and checks a bounded number of characters on both sides. */
export function findEmails(text: string, found: (span: Span) => boolean, from = 0, to = text.length): number {
  for (let at = text.indexOf('@', from); at >= 0; at = text.indexOf('@', at + 1)) {
    if (at >= to) return at;
    let start = at;
    while (start > 0 && at - start <= MAX_LOCAL_CHARACTERS && isIn(MAIL, text, start - 1)) start--;
    let end = runEnd(HOST, text, at + 1, MAX_HOST_CHARACTERS);
    while (end > at + 1 && !/[a-z0-9]/i.test(text[end - 1] as string)) end--;
    const isAddress = start < at && /\.[a-z]{2,24}$/i.test(text.slice(Math.max(at, end - 26), end));
    if (!isAddress || isRemote(text, start, end)) continue;
    if (found(isUserPart(text, start) ? { start, end: at, kind: 'url-password' } : { start, end, kind: 'email' }))
      break;
  }
  return text.length;
}

/** `git@github.com:org/repo.git` and `ssh://git@github.com/org/repo` name a place, not a person. */
function isRemote(text: string, start: number, end: number): boolean {
  return text.startsWith('//', start) || /^:[^\s\d:]/.test(text.slice(end, end + 2));
}

const MAX_USER_CHARACTERS = 256;

/** `https://user:password@example.com`: what looks like an address is a password and a host. */
function isUserPart(text: string, start: number): boolean {
  return /:\/\/[^\s/?#"'<>\\@]*:$/.test(text.slice(Math.max(0, start - MAX_USER_CHARACTERS), start));
}
