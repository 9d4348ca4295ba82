import { createHash } from 'node:crypto';
import { Validator } from '@cfworker/json-schema';

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
    readonly requestId: string;
    readonly details?: Readonly<Record<string, unknown>>;
  };
  readonly metrics?: { readonly executionTime: number; readonly cpuTime: number; readonly memoryUsed: number };
  readonly state?: string;
  readonly runs?: readonly { readonly runId: string; readonly state: string }[];
  readonly [field: string]: unknown;
}

/** A token as `security.auth.tokens` lists it: what the bearer sends is its name. */
export function listed(name: string, ...scopes: string[]) {
  const sha256 = createHash('sha256').update(name).digest('hex');
  return { name, sha256, ...(scopes.length === 0 ? {} : { scopes }) };
}

/** A token of a client in which a person reads forms and answers them. */
export function atDesk(name: string) {
  return { ...listed(name), person: true };
}

/** Speaks REST to `codemode serve`, and holds every answer against the OpenAPI document, which `reader` may read. */
export function restClient(url: string, reader: string) {
  const raw = async (method: string, path: string, token: string, body?: unknown): Promise<RestAnswer> => {
    const response = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === '' ? {} : JSON.parse(text) };
  };
  let document: Promise<OpenApi> | undefined;
  const ask = async (method: string, path: string, token: string, body?: unknown): Promise<RestAnswer> => {
    document ??= raw('GET', '/openapi.json', reader).then((answer) => answer.body as unknown as OpenApi);
    const answer = await raw(method, path, token, body);
    const problem = problemOf(await document, method, path, answer);
    if (problem !== undefined) throw new Error(`${method} ${path} -> ${answer.status}: ${problem}`);
    return answer;
  };
  return {
    ask,
    get: (path: string, token: string) => ask('GET', path, token),
    post: (path: string, token: string, body: unknown = {}) => ask('POST', path, token, body),
  };
}

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly responses: Responses }>>>>;
  readonly components: object;
}
type Responses = Readonly<Record<string, { readonly content?: Readonly<Record<string, { readonly schema: object }>> }>>;

/** What an answer has that the document does not say, if anything. */
function problemOf({ paths, components }: OpenApi, method: string, path: string, answer: RestAnswer) {
  const wanted = path.split('?')[0]?.split('/') ?? [];
  const found = Object.keys(paths).find((template) => {
    const parts = template.split('/');
    return parts.length === wanted.length && parts.every((part, at) => part.startsWith('{') || part === wanted[at]);
  });
  const operation = found === undefined ? undefined : paths[found]?.[method.toLowerCase()];
  const unrouted = { content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } } };
  const response = operation === undefined ? unrouted : operation.responses[answer.status];
  if (response === undefined) return 'this status is not in the OpenAPI document';
  const schema = response.content?.['application/json']?.schema;
  if (schema === undefined) return Object.keys(answer.body).length === 0 ? undefined : 'a body that is not described';
  const { errors, valid } = new Validator({ ...schema, components } as never, '2020-12').validate(answer.body);
  return valid ? undefined : `not as described: ${JSON.stringify(errors.slice(-3))} of ${JSON.stringify(answer.body)}`;
}
