import { isSecretName } from '../../lib/secrets/mask.js';
import { looksRandom } from '../../lib/secrets/secret-values.js';
import { isHarmlessValue } from './harmless-value.js';

/** Returns the replacement for a secret. `name` is the secret's name where it was found. */
export type Hide = (secret: string, name: string) => string;

/** Names whose values are never harmless. */
const SECRET_NAME =
  /pass(?:wd|word|phrase)?$|pwd$|creds?$|credentials?$|mnemonic|secret$|(?:^|[_-])(?:pin|seed|otp|salt)$/i;

/** Whether every value with this name is a secret. */
export function isSurelySecret(name: string): boolean {
  return SECRET_NAME.test(name);
}

/** A value of a variable or a header, for a file that others see. It is hidden unless it is plainly harmless. */
export function sharedValue(value: string, name: string, hide: Hide): string {
  const isHarmless = !isSurelySecret(name) && isHarmlessValue(value) && !(isSecretName(name) && WORD.test(value));
  return value === '' || isHarmless ? value : hide(value, name);
}

/** Under a name such as `X-Api-Key`, a word is a key. A path or a boolean is not. */
const WORD = /^(?!true$|false$|none$|null$)[a-z][\w-]*$/i;

/** A word of a command line, for a file that others see, if its own name does not mark it as a secret. */
export function sharedWord(word: string, flag: string, hide: Hide): string {
  const header = /^(-H\s*|--?headers?=)?([\w-]+):\s*(\S.*)$/s.exec(word);
  if (header !== null && (header[1] !== undefined || HEADER_FLAG.test(flag)) && !isAddress(word))
    return before(word, header[3] as string, sharedValue(header[3] as string, header[2] as string, hide));
  const variable = /^(?:--?e(?:nv)?=)?([A-Z_][A-Z0-9_]*)=(.*)$/s.exec(word);
  if (variable !== null)
    return before(word, variable[2] as string, sharedValue(variable[2] as string, variable[1] as string, hide));
  const user = /^(--?[\w-]*user(?:pwd)?=|-u)?([^\s:/]+):(?!\/\/)(.+)$/s.exec(word);
  if (user !== null && (user[1] !== undefined || USER_FLAG.test(flag)))
    return before(word, user[3] as string, hide(user[3] as string, 'PASSWORD'));
  const [, prefix = '', value = word] = /^(--?[\w-]+=)?(.*)$/s.exec(word) ?? [];
  const name = prefix === '' ? flag : prefix.replace(/^-+|=$/g, '');
  return holdsSecret(value, name) ? `${prefix}${hide(value, nameFor(value, name))}` : word;
}

const HEADER_FLAG = /^(?:H|headers?)$/;
const USER_FLAG = /^(?:u|user|userpwd|proxy-user|U)$/;

function before(word: string, value: string, changed: string): string {
  return `${word.slice(0, word.length - value.length)}${changed}`;
}

function holdsSecret(value: string, name: string): boolean {
  if (value === '' || value.startsWith('-')) return false;
  if (isSurelySecret(name)) return true;
  if (isAddress(value)) return !isHarmlessValue(value);
  // `Server=db;Password=x`, `{"apiKey":"x"}`, `{apiKey: x}`
  for (const [, key = ''] of value.matchAll(/([A-Za-z][\w-]{0,60})["']?\s{0,4}[:=]\s{0,4}["']?[^\s"',;}]/g))
    if (isSecretName(key) || isSurelySecret(key)) return true;
  return looksRandom(value) && !isHarmlessValue(value);
}

function nameFor(value: string, name: string): string {
  if (name.length > 1 && name !== 'url') return name;
  return isAddress(value) ? 'URL' : /[{;]/.test(value) ? 'CONFIG' : 'TOKEN';
}

function isAddress(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(text);
}

/** A value with references in it: the text between them can be a secret too. */
export function sharedRemainder(text: string, name: string, hide: Hide): string {
  return text
    .split(/(\$?\$\{[^}]*\}?)/)
    .map((part, index) => (index % 2 === 0 && holdsSecret(part, '') ? hide(part, name) : part))
    .join('');
}

/** The parts of a server's address that others must not see: user or password, and parameters that may be secrets. */
export function secretPartsOfAddress(address: string): string[] {
  if (!isAddress(address) || !URL.canParse(address)) return [];
  const url = new URL(address);
  const user = url.password !== '' ? [url.password] : url.username !== '' ? [url.username] : [];
  // As written: the decoded form may not occur in the address.
  const parameters = (url.search.slice(1) === '' ? [] : url.search.slice(1).split('&')).flatMap((parameter) => {
    const value = parameter.slice(parameter.indexOf('=') + 1);
    const name = parameter.slice(0, Math.max(0, parameter.indexOf('=')));
    return value === '' || (isHarmlessValue(value) && !isSecretName(name) && name.length > 2) ? [] : [value];
  });
  return [...user, ...parameters, ...(url.hash.length > 1 ? [url.hash.slice(1)] : [])];
}
