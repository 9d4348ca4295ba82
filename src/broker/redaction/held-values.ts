import { MIN_SECRET_CHARACTERS, secretsIn } from '../../lib/secrets/secret-values.js';

/**
 * Which parts of a value given to a server are redacted: all of it, unless it is clearly not a secret. A meaningless name
 * (`FOO`) may hold a password, so a value counts unless it is known to be harmless. But ordinary words must stay in results.
 */
export function heldSecretsIn(name: string, value: string): string[] {
  const known = secretsIn(SECRET_NAME.test(name) ? 'password' : name, value);
  const found = [...known, ...connectionSecrets(value)];
  if (found.length > 0) return [...new Set(found)];
  if (ADDRESS.test(value)) return secretsOfAddress(value);
  return isPlain(name, value) ? [] : [value];
}

/** Names of secrets besides the usual ones. */
const SECRET_NAME = /pass(?!enger|ive|age|through)|pwd|creds?(?![a-z])|mnemonic|seed|otp|\bpin\b|_pin$/i;

/** `Server=db;User Id=sa;Password=x`, `host=db password=x`, `AccountName=a;AccountKey=x==`. */
export function connectionSecrets(text: string): string[] {
  if (ADDRESS.test(text)) return [];
  return text.split(/[;\s]+/).flatMap((part) => {
    const [, name = '', value = ''] = /^([\w-]+)=(.+)$/s.exec(part) ?? [];
    return CONNECTION_SECRET.test(name) ? secretsIn('password', unquoted(value)) : [];
  });
}

const CONNECTION_SECRET = /^(?:password|pwd|pass|\w*key|\w*secret|\w*token|sharedaccesssignature)$/i;
const ADDRESS = /^[a-z][a-z0-9+.-]*:\/\//i;

/** The URL itself is not redacted, only its credentials. Its password and the known keys of its query were found before. */
function secretsOfAddress(address: string): string[] {
  if (!URL.canParse(address)) return [];
  const { username, password, searchParams } = new URL(address);
  const user = password === '' ? [['', username] as const] : [];
  return [...user, ...searchParams].flatMap(([name, value]) => (isPlain(name, value) ? [] : [value]));
}

/** Settings whose values are a place or a mode, never a credential. */
const PUBLIC_NAME =
  /(?:^|[_-])(?:model|region|env|environment|host|hostname|port|path|dir|directory|folder|file|home|mode|level|version|locale|lang|language|tz|timezone|zone|shell|term|editor|user|username|email|project|namespace|branch|database|db|name|agent|accept|encoding|origin|referer|type|format|options)$/i;
const PATH = /^(?:~|\.{1,2})?[/\\][^\n]*$|^[A-Za-z]:\\[^\n]*$/;
/** Base64 may begin with a slash. */
const BASE64 = /^[A-Za-z0-9+/]{20,}={0,2}$/;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const EMAIL = /^[\w.+-]+@[a-z0-9-]+(?:\.[a-z0-9-]+)+$/i;
const HOST = /^[a-z0-9-]{1,30}(?:\.[a-z0-9-]{1,30})*\.[a-z]{2,}(?::\d{1,5})?$/;
const NUMBER = /^[\d.,:+\-_TZ/ ]+$/;
/** An ordinary word, in one case or in camelCase; or a short number or version. */
const WORD = /^(?:[a-z]{1,20}|[A-Z]{1,16}|[A-Z]?[a-z]{1,16}(?:[A-Z][a-z]{2,16}){0,3}|v?\d{1,5})$/;
/** Common names that contain a digit. */
const COMMON =
  /^(?:utf8|utf16|latin1|ascii7|http2|oauth2|sha256|sha512|md5|base64|ipv[46]|x86|amd64|arm64|win32|es20\d\d)$/i;

function isPlain(name: string, value: string): boolean {
  if (value.length < MIN_SECRET_CHARACTERS) return true;
  if (PUBLIC_NAME.test(name)) return true;
  if (PATH.test(value)) return !(BASE64.test(value) && /\d/.test(value) && /[A-Z]/.test(value) && /[a-z]/.test(value));
  if ([UUID, EMAIL, HOST, NUMBER].some((form) => form.test(value))) return true;
  if (/^(.)\1*$/.test(value)) return true;
  const parts = value.split(/\s+/);
  if (parts.length > 1 && parts.every((part) => isPlain(name, part))) return true;
  return value.split(/[^\p{L}\p{N}]+/u).every((word) => word === '' || WORD.test(word) || COMMON.test(word));
}

function unquoted(text: string): string {
  return text.replace(/^(["'])(.*)\1$/s, '$2');
}
