import { isSecretName } from './mask.js';

/** Shorter secrets occur in ordinary data by chance, and a redaction there would reveal them. */
export const MIN_SECRET_CHARACTERS = 8;
/** Digits alone are far more often ordinary numbers: ports, years, times, ids. */
const MIN_DIGITS = 12;
/** Under a neutral name, only a value that no person would write counts as a secret. */
const MIN_UNNAMED_CHARACTERS = 20;
const MIN_BITS_PER_CHARACTER = 3.5;

/** Values that occur under secret names and also in half of all texts. */
const COMMON = new Set(
  `password changeme username undefined disabled required optional anonymous localhost production development
   staging postgres postgresql administrator authorization_code client_credentials refresh_token access_token
   private_key api_key bearer basic oauth2 standard default`.split(/\s+/),
);

/** The secret parts of a setting: all of it, parts of an address, the token after its scheme, or nothing. */
export function secretsIn(name: string, value: string): string[] {
  const scheme = /^(?:Bearer|Basic|Token|ApiKey|Negotiate|Digest)\s+(\S.*)$/i.exec(value.trim())?.[1];
  if (scheme !== undefined)
    return isSecret(name, value) ? [scheme, ...basicPassword(scheme)] : secretsIn('token', scheme);
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(value)) return secretsOfAddress(value);
  return isSecret(name, value) ? [value] : [];
}

function isSecret(name: string, value: string): boolean {
  if (value.length < MIN_SECRET_CHARACTERS || isCommon(value)) return false;
  return isSecretName(name) || looksMadeByMachine(value);
}

function isCommon(value: string): boolean {
  return (
    COMMON.has(value.toLowerCase()) ||
    // The path of a secret, not the secret itself.
    /^(?:[~.]{0,2}\/|[A-Za-z]:\\)[^\s]*$/.test(value) ||
    (/^\d+$/.test(value) && value.length < MIN_DIGITS) ||
    /^(.)\1*$/.test(value)
  );
}

/** UUIDs are not secrets, and results contain them. */
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function looksMadeByMachine(value: string): boolean {
  if (value.length < MIN_UNNAMED_CHARACTERS || !/^[\w+/=~.-]+$/.test(value) || UUID.test(value)) return false;
  return (
    /\d/.test(value) &&
    /[A-Za-z]/.test(value) &&
    !/\.[a-z]{2,}$/.test(value) &&
    entropy(value) >= MIN_BITS_PER_CHARACTER
  );
}

/** Letters and digits alternate as in no text that a person would write. Shorter texts count here than elsewhere. */
export function looksRandom(text: string): boolean {
  if (secretsIn('', text).length > 0 || UUID.test(text)) return true;
  return (text.match(/[A-Za-z0-9+=]{8,}/g) ?? []).some((run) => (run.match(CHANGE)?.length ?? 0) >= 3);
}

/** From a letter to a digit, or back. */
const CHANGE = /[A-Za-z](?=\d)|\d(?=[A-Za-z])/g;

function entropy(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  return [...counts.values()].reduce((bits, count) => bits - (count / text.length) * Math.log2(count / text.length), 0);
}

/** The password of an address and its secret parameters. The address itself is not a secret. */
function secretsOfAddress(address: string): string[] {
  if (!URL.canParse(address)) return [];
  const url = new URL(address);
  const password = [url.password, decoded(url.password)].filter((part) => part.length >= MIN_SECRET_CHARACTERS);
  const parameters = [...url.searchParams].flatMap(([name, value]) => (isSecret(name, value) ? [value] : []));
  // `https://hooks.example.com/services/T000/B000/abc...`: some services put the key in the path.
  const steps = url.pathname.split('/').filter((step) => looksMadeByMachine(step));
  return [...new Set([...password.filter((part) => !isCommon(part)), ...parameters, ...steps])];
}

/** `--token abc`, `--token=abc`, `API_KEY=abc`, `--header 'Authorization: abc'`: each word of a command line with its name. */
export function namedArguments(words: readonly string[]): [string, string][] {
  return words.flatMap((word, index): [string, string][] => {
    const assigned = /^-{0,2}([\w-]+)=(.+)$/s.exec(word);
    if (assigned !== null) return [[assigned[1] as string, assigned[2] as string]];
    const flag = /^-{1,2}([\w-]+)$/.exec(words[index - 1] ?? '')?.[1];
    const header = /^(?:H|headers?)$/.test(flag ?? '') ? /^([\w-]+):\s*(\S.*)$/s.exec(word) : null;
    if (header !== null) return [[header[1] as string, header[2] as string]];
    return [[flag ?? '', word]];
  });
}

function basicPassword(token: string): string[] {
  const [, password = ''] = Buffer.from(token, 'base64').toString().split(/:(.*)/s);
  return password.length >= MIN_SECRET_CHARACTERS && !isCommon(password) ? [password] : [];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
