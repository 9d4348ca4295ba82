import { createHash } from 'node:crypto';

export interface RestAnswer {
  readonly status: number;
  readonly headers: Headers;
  // Whatever the route says: tests compare it with what they expect.
  readonly body: Record<string, never>;
}

/** A token as `security.auth.tokens` lists it: what the bearer sends is its name. */
export function listed(name: string, ...scopes: string[]) {
  const sha256 = createHash('sha256').update(name).digest('hex');
  return { name, sha256, ...(scopes.length === 0 ? {} : { scopes }) };
}

/** Speaks REST to `codemode serve`. */
export function restClient(url: string) {
  const ask = async (method: string, path: string, token: string, body?: unknown): Promise<RestAnswer> => {
    const response = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === '' ? {} : JSON.parse(text) };
  };
  return {
    ask,
    get: (path: string, token: string) => ask('GET', path, token),
    post: (path: string, token: string, body: unknown = {}) => ask('POST', path, token, body),
  };
}
