import { looksRandom } from '../../lib/secrets/secret-values.js';

/**
 * Whether anybody may read a value: a path, an address without user and query, a number, a boolean, a short word, a package, a
 * media type. Everything else may be a secret, whatever its name.
 */
export function isHarmlessValue(value: string): boolean {
  const text = value.trim();
  if (PLAIN.some((form) => form.test(text))) return true;
  if (PATHS.test(text) || PACKAGE.test(text)) return text.split(/[/:@\\]/).every((step) => !looksRandom(step));
  return isPlainAddress(text);
}

const PLAIN = [
  /^(?:true|false|yes|no|on|off|none|null)?$/i,
  /^-?\d{1,10}(?:\.\d{1,6}){0,3}$/,
  /^v?\d{1,4}(?:\.\d{1,4}){1,3}$/,
  /^\d{4}-\d\d-\d\d$/,
  /^[a-z]{1,12}(?:[-_][a-z]{1,10}){0,2}$/,
  /^(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR)$/,
  /^[a-z*]{1,12}\/[a-z*][a-z.+*-]{0,30}(?:,\s*[a-z*]{1,12}\/[a-z*][a-z.+*-]{0,30}){0,4}$/,
];
/** One path or several. A `=`, `;` or `?` starts something else. */
const PATHS = /^(?:(?:~|\.{1,2})?\/[^=;?:,"'{}]*|[A-Za-z]:\\[^=;?:,"'{}]*)(?::(?:~|\.{1,2})?\/[^=;?:,"'{}]*)*$/;
const PACKAGE = /^(?:@[a-z0-9-]{1,40}\/[a-z0-9._-]{1,60}|[a-z][a-z-]{0,60}(?=@))(?:@[\^~]?[a-z0-9.-]{1,20})?$/;

function isPlainAddress(text: string): boolean {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text) || !URL.canParse(text)) return false;
  const { username, password, search, hash, pathname } = new URL(text);
  if (username !== '' || password !== '' || search !== '' || hash !== '') return false;
  return pathname.split('/').every((step) => !looksRandom(step));
}
