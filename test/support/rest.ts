import { createHash } from 'node:crypto';

export interface RestAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: RestBody;
}

/** Everything that some route answers with, as far as tests name it. */
export interface RestBody {
  readonly success?: boolean;
  readonly result?: unknown;
  readonly error?: {
    readonly type: string;
    readonly code: string;
    readonly message: string;
    readonly details?: Readonly<Record<string, unknown>>;
  };
  readonly metrics?: { readonly executionTime: number; readonly cpuTime: number };
  readonly state?: string;
  readonly runs?: readonly { readonly runId: string; readonly state: string }[];
  readonly [field: string]: unknown;
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
