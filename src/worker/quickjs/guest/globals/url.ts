// biome-ignore-all lint/complexity/noArguments: Web IDL counts the arguments that were given.
import { FRAGMENT_SET, percentEncode, USERINFO_SET, wellFormed } from './percent-encoding.js';
import { parseHost } from './url-host.js';
import {
  encodeQuery,
  isSpecial,
  isSpecialScheme,
  parseUrl,
  portColonOf,
  serialiseHost,
  serialiseUrl,
  setPath,
  setPort,
  stripTabsAndNewlines,
  type UrlRecord,
} from './url-record.js';
import { createLinkedSearchParams, URLSearchParams, updateLinkedSearchParams } from './url-search-params.js';

export { URLSearchParams };

// The record that `URL.parse` passes to the constructor, so that nothing is parsed twice. The very next construction takes it.
let parsedRecord: UrlRecord | undefined;

/** `URL` of the WHATWG URL standard. Blob URLs can be parsed but not created: there are no blobs here. */
export class URL {
  #record: UrlRecord;
  #searchParams: URLSearchParams | undefined;

  constructor(url: unknown, base: unknown = undefined) {
    const record = parsedRecord;
    parsedRecord = undefined;
    if (record !== undefined) this.#record = record;
    else {
      if (arguments.length === 0) throw new TypeError('The "url" argument must be specified');
      this.#record = parseOrThrow(toText(url), base === undefined ? undefined : toText(base));
    }
  }

  static parse(url: unknown, base: unknown = undefined): URL | null {
    if (arguments.length === 0) throw new TypeError('The "url" argument must be specified');
    parsedRecord = parseWithBase(toText(url), base === undefined ? undefined : toText(base));
    return parsedRecord === undefined ? null : new URL('');
  }

  static canParse(url: unknown, base: unknown = undefined): boolean {
    if (arguments.length === 0) throw new TypeError('The "url" argument must be specified');
    return parseWithBase(toText(url), base === undefined ? undefined : toText(base)) !== undefined;
  }

  get href(): string {
    return serialiseUrl(this.#record);
  }
  set href(value: unknown) {
    this.#record = parseOrThrow(toText(value), undefined);
    this.#queryChanged();
  }

  get origin(): string {
    return originOf(this.#record);
  }

  get protocol(): string {
    return `${this.#record.scheme}:`;
  }
  set protocol(value: unknown) {
    const record = this.#record;
    const scheme = /^[a-z][a-z0-9+\-.]*(?=:)/i.exec(`${stripTabsAndNewlines(toText(value))}:`)?.[0].toLowerCase();
    if (scheme === undefined || isSpecialScheme(scheme) !== isSpecial(record)) return;
    if (scheme === 'file' && (record.username !== '' || record.password !== '' || record.port !== null)) return;
    if (record.scheme === 'file' && record.host === '') return;
    record.scheme = scheme;
    // Drops the port if it is the new scheme's default.
    if (record.port !== null) setPort(record, String(record.port));
  }

  get username(): string {
    return this.#record.username;
  }
  set username(value: unknown) {
    const text = toText(value);
    if (!cannotHaveCredentialsOrPort(this.#record)) this.#record.username = percentEncode(text, USERINFO_SET);
  }

  get password(): string {
    return this.#record.password;
  }
  set password(value: unknown) {
    const text = toText(value);
    if (!cannotHaveCredentialsOrPort(this.#record)) this.#record.password = percentEncode(text, USERINFO_SET);
  }

  get host(): string {
    return serialiseHost(this.#record);
  }
  set host(value: unknown) {
    setHost(this.#record, toText(value), true);
  }

  get hostname(): string {
    return this.#record.host ?? '';
  }
  set hostname(value: unknown) {
    setHost(this.#record, toText(value), false);
  }

  get port(): string {
    return this.#record.port === null ? '' : String(this.#record.port);
  }
  set port(value: unknown) {
    const text = toText(value);
    if (cannotHaveCredentialsOrPort(this.#record)) return;
    if (text === '') this.#record.port = null;
    else setLeadingPort(this.#record, stripTabsAndNewlines(text));
  }

  get pathname(): string {
    return this.#record.path;
  }
  set pathname(value: unknown) {
    const text = stripTabsAndNewlines(toText(value));
    const record = this.#record;
    if (record.hasOpaquePath) return;
    setPath(record, text);
    if (text === '' && record.host === null) record.path = '/';
  }

  get search(): string {
    const { query } = this.#record;
    return query === null || query === '' ? '' : `?${query}`;
  }
  set search(value: unknown) {
    const text = toText(value);
    const query = stripTabsAndNewlines(text.startsWith('?') ? text.slice(1) : text);
    this.#record.query = text === '' ? null : encodeQuery(this.#record, query);
    this.#queryChanged();
  }

  get searchParams(): URLSearchParams {
    this.#searchParams ??= createLinkedSearchParams(this.#record.query ?? '', (query) => {
      this.#record.query = query;
    });
    return this.#searchParams;
  }

  get hash(): string {
    const { fragment } = this.#record;
    return fragment === null || fragment === '' ? '' : `#${fragment}`;
  }
  set hash(value: unknown) {
    const text = toText(value);
    const fragment = stripTabsAndNewlines(text.startsWith('#') ? text.slice(1) : text);
    this.#record.fragment = text === '' ? null : percentEncode(fragment, FRAGMENT_SET);
  }

  toString(): string {
    return serialiseUrl(this.#record);
  }

  toJSON(): string {
    return serialiseUrl(this.#record);
  }

  declare readonly [Symbol.toStringTag]: string;

  #queryChanged(): void {
    if (this.#searchParams !== undefined) updateLinkedSearchParams(this.#searchParams, this.#record.query ?? '');
  }
}
for (const [target, skipped] of [
  [URL.prototype, ['constructor']],
  [URL, ['length', 'name', 'prototype']],
] as const) {
  for (const name of Object.getOwnPropertyNames(target)) {
    if (!(skipped as readonly string[]).includes(name)) Object.defineProperty(target, name, { enumerable: true });
  }
}
Object.defineProperty(URL.prototype, Symbol.toStringTag, { value: 'URL', configurable: true });
// A minifier may rename the class.
Object.defineProperty(URL, 'name', { value: 'URL', configurable: true });

function parseWithBase(input: string, base: string | undefined): UrlRecord | undefined {
  if (base === undefined) return parseUrl(input);
  const baseRecord = parseUrl(base);
  return baseRecord === undefined ? undefined : parseUrl(input, baseRecord);
}

function parseOrThrow(input: string, base: string | undefined): UrlRecord {
  const record = parseWithBase(input, base);
  if (record !== undefined) return record;
  const error = new TypeError('Invalid URL');
  // The same fields as in Node, for details that the message omits.
  throw Object.assign(
    error,
    base === undefined ? { code: 'ERR_INVALID_URL', input } : { code: 'ERR_INVALID_URL', input, base },
  );
}

function originOf(record: UrlRecord): string {
  if (record.scheme === 'blob') {
    const inner = record.hasOpaquePath ? parseUrl(record.path) : undefined;
    return inner !== undefined && (inner.scheme === 'http' || inner.scheme === 'https') ? originOf(inner) : 'null';
  }
  return isSpecial(record) && record.scheme !== 'file' ? `${record.scheme}://${serialiseHost(record)}` : 'null';
}

function cannotHaveCredentialsOrPort(record: UrlRecord): boolean {
  return record.host === null || record.host === '' || record.scheme === 'file';
}

/** The setters of host and hostname: the host state of the parser, with anything after the host cut off. */
function setHost(record: UrlRecord, value: string, mayHavePort: boolean): void {
  if (record.hasOpaquePath) return;
  const special = isSpecial(record);
  const text = stripTabsAndNewlines(value);
  const end = text.search(special ? /[/\\?#]/ : /[/?#]/);
  const authority = end < 0 ? text : text.slice(0, end);
  if (record.scheme === 'file') return setFileHost(record, authority);
  const colon = portColonOf(authority);
  if (colon >= 0 && !mayHavePort) return;
  const hostText = colon < 0 ? authority : authority.slice(0, colon);
  if (hostText === '') {
    const hasMore = record.username !== '' || record.password !== '' || record.port !== null;
    if (special || colon >= 0 || hasMore) return;
  }
  const host = hostText === '' ? '' : parseHost(hostText, special);
  if (host === undefined) return;
  record.host = host;
  if (colon >= 0) setLeadingPort(record, authority.slice(colon + 1));
}

function setFileHost(record: UrlRecord, authority: string): void {
  const host = authority === '' ? '' : parseHost(authority, true);
  if (host !== undefined) record.host = host === 'localhost' ? '' : host;
}

/** A setter takes the leading digits and ignores the rest; without any digit it does nothing. */
function setLeadingPort(record: UrlRecord, text: string): void {
  const digits = /^[0-9]+/.exec(text)?.[0];
  if (digits !== undefined) setPort(record, digits);
}

function toText(value: unknown): string {
  // String(symbol) does not throw, and Web IDL does.
  return wellFormed(typeof value === 'string' ? value : `${value as string}`);
}
