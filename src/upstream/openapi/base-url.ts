import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.js';
import type { OpenApiTarget } from '../../domain/targets/openapi.js';
import { quotedLine } from '../../lib/text/bounded-text.js';

export interface BaseUrl {
  /** Without a trailing slash. */
  readonly url: URL;
  /** Whether the document chose it, and not the user. */
  readonly isForeign: boolean;
}

/**
 * Where calls go. The user's setting comes first. A document decides only if it gains nothing by it:
 *
 * - A fetched document can send calls to its own origin, and nowhere else.
 * - A document in a file can send them to a public address over https, without any credentials (the configuration then refuses
 *   credentials without `baseUrl`).
 */
export function baseUrlOf({ baseUrl, document: place }: OpenApiTarget, document: JsonObject): BaseUrl {
  if (baseUrl !== undefined) return { url: trimmed(new URL(baseUrl)), isForeign: false };
  const named = firstServer(document.servers);
  if (isAddress(place)) {
    const home = new URL(place);
    const url = parse(named ?? '/', home);
    if (url.origin === home.origin) return { url, isForeign: false };
    throw new Error(
      `its document is at ${home.origin} and sends calls to ${url.origin}; set baseUrl if that is intended`,
    );
  }
  if (named === undefined || !isAddress(named))
    throw new Error('its document does not say where the API is; set baseUrl');
  const url = parse(named, undefined);
  if (url.protocol !== 'https:')
    throw new Error(`its document sends calls to ${url.origin} without encryption; set baseUrl if that is intended`);
  return { url, isForeign: true };
}

export function isAddress(text: string): boolean {
  return /^https?:\/\//i.test(text);
}

/** The address of an operation that has its own servers. Undefined if its origin is not the API's. */
export function ownBaseUrl(servers: JsonValue | undefined, base: BaseUrl): URL | undefined {
  const named = firstServer(servers);
  if (named === undefined) return base.url;
  try {
    const url = parse(named, new URL(`${base.url.href}/`));
    return url.origin === base.url.origin ? url : undefined;
  } catch {
    return undefined;
  }
}

/** The first server's URL, with the defaults of its variables filled in. */
function firstServer(servers: JsonValue | undefined): string | undefined {
  const [first] = Array.isArray(servers) ? servers : [];
  if (!isJsonObject(first) || typeof first.url !== 'string') return undefined;
  const variables = isJsonObject(first.variables) ? new Map(Object.entries(first.variables)) : new Map();
  const filled = first.url.slice(0, MAX_URL_CHARACTERS).replace(/\{([^{}]*)\}/g, (match, name: string) => {
    const variable: JsonValue | undefined = variables.get(name);
    return isJsonObject(variable) && typeof variable.default === 'string' ? variable.default : match;
  });
  // A variable without a value: the address is unknown.
  return filled.includes('{') ? undefined : filled;
}

const MAX_URL_CHARACTERS = 2_000;

function parse(text: string, home: URL | undefined): URL {
  const url = URL.canParse(text, home?.href) ? new URL(text, home) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username + url.password !== '')
    throw new Error(`its document names ${quotedLine(text, 100)} as the API's address; set baseUrl`);
  return trimmed(url);
}

function trimmed(url: URL): URL {
  const plain = new URL(url);
  plain.search = '';
  plain.hash = '';
  plain.pathname = plain.pathname.replace(/\/+$/, '');
  return plain;
}
