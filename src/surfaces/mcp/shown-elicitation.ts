import { HostError } from '../../domain/errors.js';
import type { JsonObject } from '../../domain/json.js';
import { MAX_SCHEMA_DEPTH, withVisibleWords } from '../../lib/text/visible-schema.js';
import { visibleLine, visibleSentence } from '../../lib/text/visible-text.js';

/**
 * A server's form or URL as a person sees it. Texts are on one line and contain no invisible characters. What the person answers
 * with (field names, choices, defaults) is passed on unchanged or not at all: nobody can agree to what they cannot see. Throws
 * `bad_input`, which tells the server what to change.
 */
export function shownElicitation(upstream: string, { message, ...params }: JsonObject): JsonObject {
  const { mode, url } = params;
  if (mode !== undefined && mode !== 'form' && mode !== 'url')
    throw refused('its mode is unknown; use "form" or "url"');
  if (mode === 'url' || url !== undefined) checkAddress(url);
  const shown = withVisibleWords(params, visibleSentence);
  const hidden = hiddenIn(shown, 0);
  if (hidden !== undefined)
    throw refused(
      `it has a name or a value that cannot be seen: ${visibleLine(hidden).slice(0, 100)}; remove line breaks and hidden characters`,
    );
  return { ...shown, message: signed(upstream, message) };
}

/** A client opens it in a browser: other schemes run code, read files or start programs. */
function checkAddress(url: unknown): void {
  // The raw text, not the parsed URL: the client's parser may treat a blank or `\` differently.
  if (typeof url !== 'string' || !/^https?:\/\/[^/?#]/i.test(url) || !URL.canParse(url))
    throw refused('its address is not an http or https address; send one that is');
  if (!/^[\x21-\x7e]+$/.test(url) || url.includes('\\'))
    throw refused('its address has characters that no address has; percent-encode them');
  const [authority = ''] = url.slice(url.indexOf('//') + 2).split(/[/?#]/);
  if (authority.includes('@')) throw refused('its address has a user name before the host; leave it out');
}

/** The first name or text that a person could not see completely. */
function hiddenIn(value: unknown, depth: number): string | undefined {
  if (typeof value === 'string') return isSeen(value) ? undefined : value;
  if (value === null || typeof value !== 'object') return undefined;
  if (depth > MAX_SCHEMA_DEPTH) return 'it is too deep';
  for (const [name, part] of Object.entries(value)) {
    const found = isSeen(name) && name !== '' ? hiddenIn(part, depth + 1) : name;
    if (found !== undefined) return found;
  }
  return undefined;
}

function isSeen(text: string): boolean {
  return visibleLine(text) === text && (text === '' || text.trim() !== '');
}

/** The user must see who asks: the text is the server's, and a server may impersonate others. */
function signed(upstream: string, message: unknown): string {
  return `${visibleLine(upstream)} asks: ${typeof message === 'string' ? visibleSentence(message) : ''}`;
}

function refused(reason: string): HostError {
  return new HostError('bad_input', `the question is not shown to a person: ${reason}`);
}
