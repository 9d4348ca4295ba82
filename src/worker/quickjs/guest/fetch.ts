import { bindCall } from './calls.js';

/** A minimal `fetch`: one complete request, with text in both directions. */
const parse = JSON.parse;
const keysOf = Object.keys;
const create = Object.create;
const freeze = Object.freeze;
const NativeString = String;
const lowerCase = Function.prototype.call.bind(NativeString.prototype.toLowerCase) as (text: string) => string;
const hasOwn = Object.hasOwn;
const isArray = Array.isArray;

interface Answer {
  readonly url: string;
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** `target`: a call with `{url, method?, headers?, body?}` that returns the response. */
export function bindFetch(target: string) {
  const request = bindCall('fetch', target);
  return freeze(async (url: unknown, init?: Record<string, unknown>) => {
    const wish = create(null) as Record<string, unknown>;
    wish['url'] = NativeString(url);
    if (init?.['method'] !== undefined) wish['method'] = NativeString(init['method']);
    if (init?.['headers'] !== undefined) wish['headers'] = plainHeaders(init['headers']);
    if (init?.['body'] !== undefined && init['body'] !== null) wish['body'] = NativeString(init['body']);
    return responseOf((await request(wish)) as Answer);
  });
}

function responseOf({ url, status, headers, body }: Answer) {
  return freeze({
    ok: status >= 200 && status < 300,
    status,
    url,
    headers: headersOf(headers),
    text: async () => body,
    json: async () => parse(body) as unknown,
  });
}

function headersOf(headers: Record<string, string>) {
  const names = keysOf(headers);
  return freeze({
    get: (name: unknown) => {
      const key = lowerCase(NativeString(name));
      return hasOwn(headers, key) ? headers[key] : null;
    },
    has: (name: unknown) => hasOwn(headers, lowerCase(NativeString(name))),
    keys: () => [...names],
    entries: () => names.map((name) => [name, headers[name]]),
    forEach: (callback: (value: string | undefined, name: string) => void) => {
      for (const name of names) callback(headers[name], name);
    },
  });
}

/** An object, or a list of pairs. */
function plainHeaders(given: unknown): Record<string, string> {
  const headers = create(null) as Record<string, string>;
  if (isArray(given))
    for (const [name, value] of given as [unknown, unknown][]) headers[NativeString(name)] = NativeString(value);
  else
    for (const name of keysOf(given as object)) headers[name] = NativeString((given as Record<string, unknown>)[name]);
  return headers;
}
