import { truncateSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { declareModule } from '../../src/catalog/declarations/typescript/typescript.js';
import type { JsonObject } from '../../src/domain/json.js';
import type { OpenApiTarget } from '../../src/domain/targets/openapi.js';
import { omitUndefined } from '../../src/lib/omit-undefined.js';
import { OpenApiUpstream } from '../../src/upstream/openapi/openapi-upstream.js';
import { Home } from '../support/cli.js';
import { startPetsApi } from '../support/pets-api.js';

/** Documents and arguments by somebody who means harm; the API behind them answers with what it was sent. */
let api: Awaited<ReturnType<typeof startPetsApi>>;
const home = new Home();
beforeAll(async () => {
  api = await startPetsApi();
});
afterAll(async () => {
  await api[Symbol.asyncDispose]();
  home[Symbol.dispose]();
});

let files = 0;
function open(document: JsonObject | string, target: Partial<OpenApiTarget> = {}): OpenApiUpstream {
  files += 1;
  const upstream = new OpenApiUpstream({
    id: 'hostile',
    target: {
      kind: 'openapi',
      document: home.write(`document-${files}.json`, document),
      baseUrl: `${api.url}/v1`,
      headers: {},
      ...target,
    },
    connectTimeoutMs: 20_000,
    callTimeoutMs: 20_000,
    labels: [],
    isTrusted: false,
    retry: { maxAttempts: 1, delayMs: 0 },
  });
  onTestFinished(() => upstream.close());
  return upstream;
}

const documentOf = (paths: JsonObject, rest: JsonObject = {}): JsonObject => ({
  openapi: '3.0.3',
  info: { title: 'x', version: '1' },
  paths,
  ...rest,
});
const jsonBody = (schema: JsonObject): JsonObject => ({
  operationId: 'send',
  requestBody: { required: true, content: { 'application/json': { schema } } },
  responses: { 200: { description: '', content: { 'application/json': { schema } } } },
});
const withParameters = (...parameters: JsonObject[]) =>
  documentOf({ '/pets/{id}': { get: { operationId: 'get', parameters, responses: {} } } });

describe('a document', () => {
  test('whose references go round in circles is read to an end, and so are its declarations', async () => {
    const schemas = {
      A: { $ref: '#/components/schemas/B' },
      B: { $ref: '#/components/schemas/A' },
      C: { allOf: [{ $ref: '#/components/schemas/C' }], properties: { next: { $ref: '#/components/schemas/C' } } },
    };
    const upstream = open(
      documentOf(
        {
          '/a': { post: jsonBody({ $ref: '#/components/schemas/A' }) },
          '/c': { post: { ...jsonBody({ $ref: '#/components/schemas/C' }), operationId: 'sendC' } },
          '/p': { get: { operationId: 'p', parameters: [{ $ref: '#/components/parameters/p' }], responses: {} } },
          '/i': { $ref: '#/paths/~1i' },
        },
        { components: { schemas, parameters: { p: { $ref: '#/components/parameters/p' } } } },
      ),
    );
    const { tools, warnings } = await upstream.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['send', 'sendC', 'p']);
    expect(warnings).toEqual(['path "/i" is not an object and was left out']);
    expect(declareModule({ path: 'x', serverId: 'x', serverName: 'x', tools }, { detail: 'full' }).text).toContain(
      'send',
    );
  });

  test('refers to what lies elsewhere in vain: nothing is fetched', async () => {
    const hits: string[] = [];
    const server = createServer((request, response) => {
      hits.push(String(request.url));
      response.end('{}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const elsewhere = `http://127.0.0.1:${(server.address() as AddressInfo).port}/schema.json#/x`;
    const file = 'file:///etc/passwd#/x';
    const upstream = open(
      documentOf({
        '/a': {
          post: jsonBody({ properties: { a: { $ref: elsewhere }, b: { $ref: file }, c: { $ref: './x.json' } } }),
        },
        '/b': { $ref: elsewhere },
      }),
    );
    const { tools, warnings } = await upstream.listTools();
    expect(tools[0]?.inputSchema?.properties).toEqual({ a: {}, b: {}, c: {} });
    expect(warnings).toHaveLength(4);
    expect(hits).toEqual([]);
  });

  test.each([
    [
      'YAML aliases that multiply',
      `openapi: 3.0.0\na: &a [1,1,1,1,1,1,1,1,1]\n${'bcdefghi'.replace(/./g, (name) => `${name}: &${name} [${`*${String.fromCharCode(name.charCodeAt(0) - 1)},`.repeat(9)}]\n`)}`,
    ],
    ['not a document', '[]'],
    ['another version', '{"swagger":"2.0","paths":{}}'],
    ['nothing', ''],
  ])('that is %s is refused with the reason', async (_, text) => {
    await expect(open(text).listTools()).rejects.toThrow(/^server "hostile" is not available: /);
  });

  test('that is larger than any is not read', async () => {
    const file = home.write('huge.json', '{');
    truncateSync(file, 65 * 1024 * 1024);
    await expect(open({}, { document: file }).listTools()).rejects.toThrow('has more than 67108864 bytes');
    await expect(open({}, { document: '/dev/zero' }).listTools()).rejects.toThrow('is not an ordinary file');
  });

  test('with aliases in a circle, endless depth or endless breadth gives bounded schemas', async () => {
    const circular = open(
      'openapi: 3.0.0\npaths: {/a: {post: {operationId: a, requestBody: {required: true, content: {application/json: {schema: &s {allOf: [*s], default: *s}}}}, responses: {}}}}',
    );
    const deep = `${'{"items":'.repeat(5_000)}{}${'}'.repeat(5_000)}`;
    const wide = Object.fromEntries(Array.from({ length: 30_000 }, (_, index) => [`p${index}`, { type: 'string' }]));
    const large = open(
      `{"openapi":"3.1.0","paths":{"/a":{"post":{"operationId":"a","requestBody":{"content":{"application/json":{"schema":${deep}}}}}},"/b":{"post":{"operationId":"b","requestBody":{"content":{"application/json":{"schema":{"type":"object","properties":${JSON.stringify(wide)}}}}}}}}}`,
    );
    const tools = [...(await circular.listTools()).tools, ...(await large.listTools()).tools];
    // All of them: what is too much is cut, and costs no operation.
    expect(tools).toHaveLength(3);
    for (const tool of tools) expect(JSON.stringify(tool).length).toBeLessThan(1_000_000);
  });

  test('with ten thousand operations of one name, or names of anything, has a name for each', async () => {
    const paths = Object.fromEntries(
      Array.from({ length: 10_000 }, (_, index) => [`/p${index}`, { get: { operationId: 'same', responses: {} } }]),
    );
    const odd = ['__proto__', 'constructor', '\u001b[31mred\u202e', 'a'.repeat(5_000), '', '../../x'];
    const more = Object.fromEntries(odd.map((operationId, index) => [`/o${index}`, { post: { operationId } }]));
    const { tools } = await open(documentOf({ ...paths, ...more })).listTools();
    expect(new Set(tools.map(({ name }) => name)).size).toBe(10_006);
    expect(tools.filter(({ name }) => !/^[\w.-]{1,128}$/.test(name))).toEqual([]);
  });

  test('with keys that every object has pollutes nothing, and its tools work', async () => {
    const upstream = open(
      `{"openapi":"3.1.0","__proto__":{"polluted":1},"paths":{"__proto__":{"get":{}},"/pets/{id}":{"get":{"operationId":"get","parameters":[
        {"name":"__proto__","in":"query","schema":{"__proto__":{"polluted":1}}},{"name":"constructor","in":"query","schema":{"type":"string"}},
        {"name":"toString","in":"header","schema":{"$ref":"#/constructor/prototype"}}]},"post":{"operationId":"post","requestBody":{"content":{"application/json":{"schema":
        {"type":"object","properties":{"__proto__":{"type":"string"},"hasOwnProperty":{"type":"string"}}}}}}}}}}`,
    );
    const { tools } = await upstream.listTools();
    expect(Object.keys(tools[0]?.inputSchema?.properties as JsonObject)).toEqual(['id', 'constructor', 'toString']);
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
    const outcome = await upstream.call({ tool: 'get', arguments: { id: '1' } });
    expect(outcome).toMatchObject({ reply: { structuredContent: { url: '/v1/pets/1' } } });
    const input = JSON.parse('{"id":"1","__proto__":{"admin":true},"hasOwnProperty":"x"}') as JsonObject;
    expect(await upstream.call({ tool: 'post', arguments: input })).toMatchObject({
      reply: { structuredContent: { body: '{"hasOwnProperty":"x"}' } },
    });
  });
});

describe('where calls go', () => {
  const pets = { '/pets/{id}': { get: { operationId: 'get', responses: {} } } };
  test.each([
    'http://169.254.169.254/latest/meta-data',
    'http://api.example.com',
    '/v1',
    'file:///etc',
    'https://user:secret@api.example.com',
    'https://{host}/',
  ])('is not what a file says with %s', async (url) => {
    const upstream = fileOnly(documentOf(pets, { servers: [{ url }] }));
    await expect(upstream.listTools()).rejects.toThrow(/set baseUrl/);
  });

  test.each([
    'https://169.254.169.254',
    'https://[::ffff:127.0.0.1]',
    'https://10.0.0.1',
    'https://localhost',
    'https://0x7f.1',
  ])('is not a private address because a file says so: %s', async (url) => {
    const upstream = fileOnly(documentOf(pets, { servers: [{ url }] }));
    await upstream.listTools();
    expect(await upstream.call({ tool: 'get', arguments: { id: '1' } })).toMatchObject({
      failure: {
        kind: 'not_sent',
        mayHaveRun: false,
        message: expect.stringMatching(/not a public address; set baseUrl/),
      },
    });
  });

  test('is where a fetched document lies, or nowhere', async () => {
    const server = createServer((_, response) =>
      response.end(JSON.stringify(documentOf(pets, { servers: [{ url: api.url }] }))),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const document = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    await expect(fileOnly({}, document).listTools()).rejects.toThrow(
      /sends calls to .*; set baseUrl if that is intended/,
    );
  });

  test('is not changed by servers of an operation', async () => {
    const upstream = open(
      documentOf({
        '/a': { get: { operationId: 'a', servers: [{ url: 'https://evil.example.com' }] } },
        '/b': { servers: [{ url: '//evil.example.com' }], get: { operationId: 'b' } },
        '/c': { servers: [{ url: '/v1' }], get: { operationId: 'c' } },
        '//evil.example.com/x': { get: { operationId: 'd' } },
        '/../../admin': { get: { operationId: 'e' } },
        '/%2e%2e/admin': { get: { operationId: 'f' } },
        '@evil.example.com': { get: { operationId: 'g' } },
        '/x?admin=1': { get: { operationId: 'h' } },
      }),
    );
    const { tools, warnings } = await upstream.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['c', 'd']);
    expect(warnings).toHaveLength(6);
    const outcome = await upstream.call({ tool: 'd', arguments: {} });
    expect(outcome).toMatchObject({ reply: { structuredContent: { url: '/v1//evil.example.com/x' } } });
  });

  function fileOnly(document: JsonObject, place?: string): OpenApiUpstream {
    const target = { headers: {}, ...omitUndefined({ document: place }) };
    return open(document, { ...target, baseUrl: undefined } as unknown as Partial<OpenApiTarget>);
  }
});

describe('arguments', () => {
  const id = { name: 'id', in: 'path', required: true, schema: {} };
  const get = (input: JsonObject, ...parameters: JsonObject[]) =>
    open(withParameters(...(parameters.length === 0 ? [id] : parameters))).call({ tool: 'get', arguments: input });

  test.each<[unknown]>([
    ['..'],
    ['.'],
    [''],
    ['../admin'],
    ['..\\admin'],
    ['%2e%2e'],
    ['%2e%2e%2fadmin'],
    ['%252e%252e%252fadmin'],
    ['x/../../admin'],
    ['..;/admin'],
    [['..']],
    [[]],
    ['\ud800'],
  ])('never lead to another path: %j', async (value) => {
    expect(await get({ id: value as string })).toMatchObject({ failure: { kind: 'refused', mayHaveRun: false } });
  });

  test.each<[string, string]>([
    ['a/b', '/v1/pets/a%2Fb'],
    ['a?b#c&d=e', '/v1/pets/a%3Fb%23c%26d%3De'],
    ['@evil.example.com', '/v1/pets/%40evil.example.com'],
    ['...', '/v1/pets/...'],
    ['{id}', '/v1/pets/%7Bid%7D'],
    ['$&', '/v1/pets/%24%26'],
  ])('stay in their place: %s', async (value, url) => {
    expect(await get({ id: value })).toMatchObject({ reply: { structuredContent: { url } } });
  });

  test.each(['label', 'matrix'])('stay in their place in style %s', async (style) => {
    for (const value of ['.', './..', '..'])
      expect(await get({ id: `/${value}` }, { ...id, style })).toMatchObject({ failure: { kind: 'refused' } });
  });

  test('put no line into a header, a cookie, a query or a part', async () => {
    const text = 'x\r\nX-Admin: 1\r\n\r\nGET /admin HTTP/1.1';
    const header = { name: 'X-Note', in: 'header', schema: {} };
    for (const value of [text, ['a', text], { [text]: '1' }, 'nul\0', 'ℵ'])
      expect(await get({ id: '1', 'X-Note': value }, id, header)).toMatchObject({ failure: { kind: 'refused' } });
    const rest = [
      { name: 'c', in: 'cookie', schema: {} },
      { name: 'q', in: 'query', schema: {} },
    ];
    const outcome = await get({ id: '1', c: text, q: { [text]: text } }, id, ...rest);
    expect(outcome).toMatchObject({ status: 'answered' });
    expect(JSON.stringify(outcome)).not.toMatch(/x-admin"/i);
  });

  test('set no header that belongs to the connection or the user', async () => {
    const names = [
      'Host',
      'Authorization',
      'Cookie',
      'Content-Length',
      'Transfer-Encoding',
      'X-Forwarded-For',
      'X-User',
      'a b',
    ];
    const parameters = names.map((name) => ({ name, in: 'header', schema: { type: 'string' } }));
    const upstream = open(withParameters(...parameters), { headers: { 'x-user': 'me' } });
    const { tools } = await upstream.listTools();
    expect(Object.keys(tools[0]?.inputSchema?.properties as JsonObject)).toEqual(['id']);
    const input = { id: '1', ...Object.fromEntries(names.map((name) => [name, 'evil'])) };
    const outcome = JSON.stringify(await upstream.call({ tool: 'get', arguments: input }));
    expect(outcome).toContain('"x-user":"me"');
    expect(outcome).not.toContain('evil');
  });
});

describe('credentials', () => {
  test('do not follow a redirect, and are not shown to where only the document lies', async () => {
    const seen: unknown[] = [];
    const server = createServer((request, response) => {
      seen.push(request.headers.authorization, request.headers['x-team']);
      response.end(JSON.stringify(documentOf({ '/elsewhere': { get: { operationId: 'go', responses: {} } } })));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const document = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const upstream = open(
      {},
      { document, auth: { type: 'bearer', token: 'canary-token' }, headers: { 'X-Team': 'blue' } },
    );
    const outcome = await upstream.call({ tool: 'go', arguments: {} });
    expect(outcome).toMatchObject({ reply: { isError: true } });
    expect(JSON.stringify(outcome)).toContain('redirects to http://127.0.0.1:9, which is not followed');
    expect(JSON.stringify(outcome)).not.toContain('canary');
    expect(seen).toEqual([undefined, undefined]);
  });

  test('are not sent under a name that would change the request', async () => {
    const components = { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'Host' } } };
    const document = documentOf({ '/text': { get: { operationId: 'text' } } }, { components });
    const upstream = open(document, { auth: { type: 'apiKey', key: 'canary-key' } });
    await expect(upstream.listTools()).rejects.toThrow('a key cannot be sent as "Host"');
  });
});

test('an answer without an end is cut off', async () => {
  const upstream = open(documentOf({ '/huge': { get: { operationId: 'huge', responses: {} } } }));
  expect(await upstream.call({ tool: 'huge', arguments: {} })).toMatchObject({
    failure: { kind: 'invalid_reply', message: 'the answer has more than 67108864 bytes' },
  });
});
