// The URL parser of the standard, written over whole components instead of as a state machine over code points: in an interpreter,
// indexOf, split and regular expressions are fast. In every state of the machine, '#' ends everything before it and '?' ends
// everything except the fragment, so cutting there first is sound.
import {
  C0_CONTROL_SET,
  FRAGMENT_SET,
  PATH_SET,
  percentEncode,
  QUERY_SET,
  SPECIAL_QUERY_SET,
  USERINFO_SET,
} from './percent-encoding.js';
import { parseHost } from './url-host.js';

/** A parsed URL. `path` is in its serialised form, opaque or not: '' is the empty list, '/' the list of one ''. */
export interface UrlRecord {
  scheme: string;
  username: string;
  password: string;
  host: string | null;
  port: number | null;
  path: string;
  hasOpaquePath: boolean;
  query: string | null;
  fragment: string | null;
}

/** Schemes that the standard calls special, with their default ports. */
const DEFAULT_PORTS = new Map<string, number | null>([
  ['http', 80],
  ['https', 443],
  ['ws', 80],
  ['wss', 443],
  ['ftp', 21],
  ['file', null],
]);

const SCHEME = /^([A-Za-z][A-Za-z0-9+\-.]*):/;
const TAB_OR_NEWLINE = /[\t\n\r]/g;
const OUTER_SPACE = /^[\0-\x20]+|[\0-\x20]+$/g;
const SPACE_OR_CONTROL = /[\0-\x20]/;
/**
 * Most URLs are http URLs that are already in serialised form: one match parses them, four times as fast as the steps below. A
 * host that ends in a number or contains Punycode, and a path segment that starts with a dot, escaped or not, are left to those
 * steps.
 */
const PLAIN_HTTP_URL =
  /^(https?):\/\/((?:[a-z0-9-]+\.)*[a-z][a-z0-9-]*)(?::([1-9][0-9]{0,3}))?((?:\/(?![.%])[!$-.0-;=@-Z[\]_a-z|~]*)+)(?:\?([!$-&(-;=?-~]*))?(?:#([!#-;=?-_a-~]*))?$/;
const DOT_SEGMENT = /(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)/i;
const DRIVE_LETTER = /^[A-Za-z][:|]$/;
const STARTS_WITH_DRIVE_LETTER = /^[A-Za-z][:|](?:[/\\]|$)/;

/** Parses `input`, against `base` if it is relative. Undefined if the standard fails. */
export function parseUrl(input: string, base?: UrlRecord): UrlRecord | undefined {
  const plain = parsePlainHttpUrl(input);
  if (plain !== undefined) return plain;
  let rest = SPACE_OR_CONTROL.test(input) ? stripTabsAndNewlines(input.replace(OUTER_SPACE, '')) : input;
  const hash = rest.indexOf('#');
  const fragment = hash < 0 ? null : percentEncode(rest.slice(hash + 1), FRAGMENT_SET);
  if (hash >= 0) rest = rest.slice(0, hash);
  const mark = rest.indexOf('?');
  const query = mark < 0 ? null : rest.slice(mark + 1);
  if (mark >= 0) rest = rest.slice(0, mark);

  const matched = SCHEME.exec(rest);
  const scheme = matched?.[1]?.toLowerCase();
  if (matched !== null) rest = rest.slice(matched[0].length);
  const record = resolve(scheme, rest, mark >= 0 ? '?' : hash >= 0 ? '#' : '', base);
  if (record === undefined) return undefined;
  if (query !== null) record.query = encodeQuery(record, query);
  record.fragment = fragment;
  return record;
}

function parsePlainHttpUrl(input: string): UrlRecord | undefined {
  const parts = PLAIN_HTTP_URL.exec(input);
  if (parts === null || parts[2]?.includes('xn--')) return undefined;
  const record = newRecord(parts[1] as string);
  record.host = parts[2] as string;
  if (parts[3] !== undefined) setPort(record, parts[3]);
  record.path = parts[4] as string;
  record.query = parts[5] ?? null;
  record.fragment = parts[6] ?? null;
  return record;
}

/** Everything except query and fragment. `next` is the character that ended `rest`. An inherited query is in the record. */
function resolve(
  scheme: string | undefined,
  rest: string,
  next: '' | '?' | '#',
  base: UrlRecord | undefined,
): UrlRecord | undefined {
  if (scheme === undefined) {
    if (base === undefined) return undefined;
    if (base.hasOpaquePath) return rest === '' && next === '#' ? { ...base } : undefined;
    return base.scheme === 'file' ? parseFile(rest, base) : parseRelative(rest, base);
  }
  if (scheme === 'file') return parseFile(rest, base?.scheme === 'file' ? base : undefined);
  if (DEFAULT_PORTS.has(scheme)) {
    if (base?.scheme === scheme && !/^[/\\]{2}/.test(rest)) return parseRelative(rest, base);
    return parseAuthority(newRecord(scheme), rest.replace(/^[/\\]+/, ''));
  }
  if (rest.startsWith('//')) return parseAuthority(newRecord(scheme), rest.slice(2));
  const record = newRecord(scheme);
  if (rest.startsWith('/')) return setPath(record, rest);
  record.hasOpaquePath = true;
  record.path = encodeOpaquePath(rest, next !== '');
  return record;
}

function parseRelative(rest: string, base: UrlRecord): UrlRecord | undefined {
  const special = isSpecial(base);
  const isSlash = (character: string) => character === '/' || (special && character === '\\');
  if (isSlash(rest.charAt(0)) && isSlash(rest.charAt(1))) {
    return parseAuthority(newRecord(base.scheme), special ? rest.replace(/^[/\\]+/, '') : rest.slice(2));
  }
  const record = { ...base };
  if (rest === '') return record;
  record.query = null;
  if (isSlash(rest.charAt(0))) return setPath(record, rest);
  shortenPath(record);
  return appendPath(record, rest);
}

function parseFile(rest: string, base: UrlRecord | undefined): UrlRecord | undefined {
  const record = newRecord('file');
  record.host = '';
  if (/^[/\\]{2}/.test(rest)) return parseFileHost(record, rest.slice(2));
  if (/^[/\\]/.test(rest)) {
    if (base !== undefined) {
      record.host = base.host;
      if (!STARTS_WITH_DRIVE_LETTER.test(rest.slice(1)))
        record.path = /^\/[A-Za-z]:(?=\/|$)/.exec(base.path)?.[0] ?? '';
    }
    return appendPath(record, rest.slice(1));
  }
  if (base === undefined) return appendPath(record, rest);
  record.host = base.host;
  record.path = base.path;
  if (rest === '') {
    record.query = base.query;
    return record;
  }
  if (STARTS_WITH_DRIVE_LETTER.test(rest)) record.path = '';
  else shortenPath(record);
  return appendPath(record, rest);
}

function parseFileHost(record: UrlRecord, rest: string): UrlRecord | undefined {
  const end = rest.search(/[/\\]/);
  const text = end < 0 ? rest : rest.slice(0, end);
  // `file://C:/x` names a drive, not a host.
  if (DRIVE_LETTER.test(text)) return appendPath(record, rest);
  const host = text === '' ? '' : parseHost(text, true);
  if (host === undefined) return undefined;
  record.host = host === 'localhost' ? '' : host;
  return setPath(record, end < 0 ? '' : rest.slice(end));
}

/** The part after the slashes: credentials, host, port, path. */
function parseAuthority(record: UrlRecord, rest: string): UrlRecord | undefined {
  const special = isSpecial(record);
  const end = rest.search(special ? /[/\\]/ : /\//);
  let authority = end < 0 ? rest : rest.slice(0, end);
  const at = authority.lastIndexOf('@');
  if (at >= 0) {
    const userinfo = authority.slice(0, at);
    authority = authority.slice(at + 1);
    if (authority === '') return undefined;
    const colon = userinfo.indexOf(':');
    record.username = percentEncode(colon < 0 ? userinfo : userinfo.slice(0, colon), USERINFO_SET);
    record.password = colon < 0 ? '' : percentEncode(userinfo.slice(colon + 1), USERINFO_SET);
  }
  const colon = portColonOf(authority);
  const hostText = colon < 0 ? authority : authority.slice(0, colon);
  if (hostText === '' && (special || colon >= 0)) return undefined;
  const host = hostText === '' ? '' : parseHost(hostText, special);
  if (host === undefined) return undefined;
  record.host = host;
  if (colon >= 0) {
    const digits = authority.slice(colon + 1);
    if (!/^[0-9]*$/.test(digits) || !setPort(record, digits)) return undefined;
  }
  return setPath(record, end < 0 ? '' : rest.slice(end));
}

/** Index of the first colon outside brackets, or -1. */
export function portColonOf(authority: string): number {
  if (!authority.includes('[')) return authority.indexOf(':');
  let isInsideBrackets = false;
  for (let index = 0; index < authority.length; index++) {
    const character = authority.charAt(index);
    if (character === '[') isInsideBrackets = true;
    else if (character === ']') isInsideBrackets = false;
    else if (character === ':' && !isInsideBrackets) return index;
  }
  return -1;
}

/** False if the number is too large. Without digits, or with the scheme's default port, the port is null. */
export function setPort(record: UrlRecord, digits: string): boolean {
  const port = digits === '' ? null : Number(digits);
  if (port !== null && port > 65_535) return false;
  record.port = port === DEFAULT_PORTS.get(record.scheme) ? null : port;
  return true;
}

/** The path start state: `text` is empty or starts with a slash, except when called by a setter. */
export function setPath(record: UrlRecord, text: string): UrlRecord {
  record.path = '';
  if (text === '' && !isSpecial(record)) return record;
  const startsWithSlash = text.startsWith('/') || (isSpecial(record) && text.startsWith('\\'));
  return appendPath(record, startsWithSlash ? text.slice(1) : text);
}

/** The path state: adds the segments of `text`, with dots resolved, to the existing path. */
function appendPath(record: UrlRecord, text: string): UrlRecord {
  const slashed = isSpecial(record) ? text.replaceAll('\\', '/') : text;
  // No slash and no dot is ever encoded, so the path can be encoded as a whole.
  const encoded = percentEncode(slashed, PATH_SET);
  if (record.scheme !== 'file' && !DOT_SEGMENT.test(encoded)) {
    record.path += `/${encoded}`;
    return record;
  }
  const segments = encoded.split('/');
  const last = segments.length - 1;
  for (let index = 0; index <= last; index++) {
    const segment = segments[index] as string;
    const dots = /^(?:\.|%2e){1,2}$/i.test(segment) ? segment.replace(/%2e/gi, '.') : '';
    if (dots === '..') shortenPath(record);
    if (dots === '') record.path += `/${isFirstDrive(record, segment) ? `${segment.charAt(0)}:` : segment}`;
    else if (index === last) record.path += '/';
  }
  return record;
}

/** `C|` at the start of a file's path is written `C:`. */
function isFirstDrive(record: UrlRecord, segment: string): boolean {
  return record.scheme === 'file' && record.path === '' && DRIVE_LETTER.test(segment);
}

function shortenPath(record: UrlRecord): void {
  if (record.scheme === 'file' && /^\/[A-Za-z]:$/.test(record.path)) return;
  const slash = record.path.lastIndexOf('/');
  if (slash >= 0) record.path = record.path.slice(0, slash);
}

/** A space right before '?' or '#' is encoded, so that it survives when that part is removed. */
function encodeOpaquePath(text: string, isCut: boolean): string {
  const encoded = percentEncode(text, C0_CONTROL_SET);
  return isCut && encoded.endsWith(' ') ? `${encoded.slice(0, -1)}%20` : encoded;
}

export function encodeQuery(record: UrlRecord, query: string): string {
  return percentEncode(query, isSpecial(record) ? SPECIAL_QUERY_SET : QUERY_SET);
}

export function isSpecial(record: UrlRecord): boolean {
  return DEFAULT_PORTS.has(record.scheme);
}

export function isSpecialScheme(scheme: string): boolean {
  return DEFAULT_PORTS.has(scheme);
}

export function stripTabsAndNewlines(text: string): string {
  return text.replace(TAB_OR_NEWLINE, '');
}

/** The URL serialiser. */
export function serialiseUrl(record: UrlRecord): string {
  let text = `${record.scheme}:`;
  if (record.host !== null) text += `//${serialiseCredentials(record)}${serialiseHost(record)}`;
  // Without this, a path that starts with two slashes would be read as an authority.
  else if (!record.hasOpaquePath && record.path.startsWith('//')) text += '/.';
  text += record.path;
  if (record.query !== null) text += `?${record.query}`;
  return record.fragment === null ? text : `${text}#${record.fragment}`;
}

/** Host and port, without credentials. */
export function serialiseHost(record: UrlRecord): string {
  return record.port === null ? (record.host ?? '') : `${record.host}:${record.port}`;
}

function serialiseCredentials(record: UrlRecord): string {
  if (record.username === '' && record.password === '') return '';
  return record.password === '' ? `${record.username}@` : `${record.username}:${record.password}@`;
}

function newRecord(scheme: string): UrlRecord {
  return {
    scheme,
    username: '',
    password: '',
    host: null,
    port: null,
    path: '',
    hasOpaquePath: false,
    query: null,
    fragment: null,
  };
}
