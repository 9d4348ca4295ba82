import { afterAll, beforeAll, expect, test } from 'vitest';
import type { JsonObject } from '../../src/domain/json.js';
import type { OpenApiTarget } from '../../src/domain/targets/openapi.js';
import type { UpstreamOutcome } from '../../src/domain/upstream.js';
import { OpenApiUpstream } from '../../src/upstream/openapi/openapi-upstream.js';
import { Home } from '../support/cli.js';
import { startPetsApi } from '../support/pets-api.js';

/** The adapter against a real API in its own process, which answers with what it was sent. */
let api: Awaited<ReturnType<typeof startPetsApi>>;
let pets: OpenApiUpstream;
beforeAll(async () => {
  api = await startPetsApi();
  pets = open({ headers: { 'X-Team': 'blue' }, auth: { type: 'apiKey', key: 'pets-key-12345' } });
});
afterAll(async () => {
  await pets.close();
  await api[Symbol.asyncDispose]();
});

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

function open(target: Partial<OpenApiTarget> = {}, callTimeoutMs = 20_000): OpenApiUpstream {
  return new OpenApiUpstream({
    id: 'pets',
    target: { kind: 'openapi', document: `${api.url}/openapi.json`, headers: {}, ...target },
    connectTimeoutMs: 20_000,
    callTimeoutMs,
    labels: [],
    isTrusted: false,
    retry: { maxAttempts: 1, delayMs: 0 },
  });
}

const call = (tool: string, input: JsonObject = {}, upstream = pets) => upstream.call({ tool, arguments: input });
function replyOf(outcome: UpstreamOutcome) {
  if (outcome.status === 'failed') throw new Error(outcome.failure.message);
  return outcome.reply;
}
const sent = async (tool: string, input: JsonObject = {}, upstream = pets) =>
  replyOf(await call(tool, input, upstream)).structuredContent as unknown as Seen;

test('a call carries its trace as headers, and nothing where there is none [X4]', async () => {
  const trace = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), isSampled: true, state: 'vendor=x' };
  const { headers } = replyOf(await pets.call({ tool: 'createPet', arguments: { name: 'Cleo' }, trace }))
    .structuredContent as unknown as Seen;
  expect(headers).toMatchObject({ traceparent: `00-${trace.traceId}-${trace.spanId}-01`, tracestate: 'vendor=x' });
  expect((await sent('createPet', { name: 'Cleo' })).headers).not.toHaveProperty('traceparent');
});

test('operations are tools with names, words, schemas, claims and tags of the document [C9]', async () => {
  const { tools, warnings } = await pets.listTools();
  expect(warnings).toEqual([]);
  const named = new Map(tools.map((tool) => [tool.name, tool]));
  expect([...named.keys()].slice(0, 5)).toEqual(['listPets', 'createPet', 'get_pets_by_id', 'replacePet', 'deletePet']);
  const Pet = {
    type: 'object',
    properties: {
      id: { type: 'integer' },
      name: { type: 'string', description: 'What it is called.' },
      tag: { type: 'string' },
      friends: { type: 'array', items: { $ref: '#/$defs/Pet' } },
    },
    required: ['id', 'name'],
  };
  expect(named.get('listPets')).toEqual({
    serverId: 'pets',
    name: 'listPets',
    title: 'All pets',
    description: 'All pets\n\nGET /pets',
    inputSchema: { type: 'object', properties: {}, additionalProperties: false },
    outputSchema: { type: 'array', items: { $ref: '#/$defs/Pet' }, $defs: { Pet } },
    annotations: { readOnlyHint: true },
    tags: ['pets'],
  });
  // What is only read is not asked for; what the user has set neither, nor what belongs to the connection.
  expect(named.get('createPet')?.inputSchema).toMatchObject({
    properties: { name: { type: 'string' }, friends: { items: { $ref: '#/$defs/Pet' } } },
    required: ['name'],
  });
  expect(Object.keys(named.get('get_pets_by_id')?.inputSchema?.properties ?? {})).toEqual([
    'id',
    'query_id',
    'fields',
    'filter',
    'X-Trace',
    'seen',
  ]);
  expect(named.get('get_pets_by_id')?.deprecated).toBe(true);
  expect(named.get('replacePet')?.inputSchema).toMatchObject({
    properties: { id: {}, body_id: {}, body: {} },
    required: ['id', 'body_id'],
  });
  expect(named.get('deletePet')?.annotations).toEqual({ destructiveHint: true, idempotentHint: true });
  expect(named.get('replacePet')?.annotations).toEqual({ idempotentHint: true });
  expect(pets.health()).toMatchObject({
    state: 'ready',
    identity: { name: 'Pets', version: '1.2.3', transport: 'openapi', protocolVersion: 'OpenAPI 3.1.0' },
  });
});

test('parameters are written in path, query, headers and cookies, with the key the user set [C9]', async () => {
  const { method, url, headers } = await sent('get_pets_by_id', {
    id: 'a b/ü?#',
    query_id: 7,
    fields: ['name', 'tag & more'],
    filter: { age: { min: 3 }, kind: 'cat' },
    'X-Trace': 'here',
    seen: 'yes; admin=1',
  });
  expect(method).toBe('GET');
  expect(url).toBe(
    '/v1/pets/a%20b%2F%C3%BC%3F%23?id=7&fields=name&fields=tag%20%26%20more&filter%5Bage%5D%5Bmin%5D=3&filter%5Bkind%5D=cat',
  );
  expect(headers).toMatchObject({
    'x-trace': 'here',
    'x-team': 'blue',
    'x-pets-key': 'pets-key-12345',
    cookie: 'seen=yes%3B%20admin%3D1',
  });
});

test('bodies are JSON, forms, parts with files, and text [C9]', async () => {
  expect(await sent('createPet', { name: 'Cleo', friends: [] })).toMatchObject({
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"name":"Cleo","friends":[]}',
  });
  expect((await sent('replacePet', { id: '1', body_id: '2', body: 'b' })).body).toBe('{"id":"2","body":"b"}');
  const form = await sent('login', { user: 'a&b', roles: ['x', 'y'] });
  expect(form.body).toBe('user=a%26b&roles=x&roles=y');
  expect(form.headers['x-pets-key']).toBeUndefined();
  const photo = { base64: Buffer.from('bytes').toString('base64'), filename: 'a"\r\n.png', contentType: 'image/png' };
  const parts = await sent('uploadPhoto', { id: '1', photo, caption: 'me' });
  expect(parts.headers['content-type']).toMatch(/^multipart\/form-data; boundary=/);
  expect(parts.body).toMatch(/name="photo"; filename="a%22%0D%0A.png"\r\nContent-Type: image\/png\r\n\r\nbytes\r\n/);
  expect(parts.body).toMatch(/name="caption"\r\n\r\nme\r\n/);
  expect(await sent('writeNote', { body: 'words' })).toMatchObject({
    headers: { 'content-type': 'text/plain' },
    body: 'words',
  });
});

test('answers are data, text, bytes or nothing, and a failure with its status and words [C9]', async () => {
  expect(replyOf(await call('listPets')).structuredContent).toHaveLength(2);
  expect(replyOf(await call('text'))).toEqual({ content: [{ type: 'text', text: 'plain words' }], isError: false });
  expect(replyOf(await call('picture')).content).toEqual([{ type: 'image', data: 'iVBORw==', mimeType: 'image/png' }]);
  expect(replyOf(await call('empty'))).toMatchObject({ structuredContent: null, isError: false });
  expect(replyOf(await call('moved')).content).toEqual([{ type: 'text', text: 'plain words' }]);
  expect(replyOf(await call('get_pets_by_id', { id: '0' }))).toEqual({
    content: [{ type: 'text', text: 'HTTP 404 Not Found: try again after 7 s: {"message":"no such pet"}' }],
    isError: true,
    refusal: { status: 404, retryAfterMs: 7_000 },
  });
});

test('credentials are bearer, basic, or a key where the document or the user wants it [C9]', async () => {
  const shown = async (target: Partial<OpenApiTarget>) => {
    const upstream = open(target);
    const seen = await sent('get_pets_by_id', { id: '5' }, upstream);
    await upstream.close();
    return [seen.headers.authorization, seen.headers.cookie, seen.url, seen.headers['x-pets-key']];
  };
  expect(await shown({ auth: { type: 'bearer', token: 't' } })).toEqual([
    'Bearer t',
    undefined,
    '/v1/pets/5',
    undefined,
  ]);
  expect((await shown({ auth: { type: 'basic', username: 'u', password: 'p' } }))[0]).toBe('Basic dTpw');
  expect((await shown({ auth: { type: 'apiKey', key: 'k&', in: 'query', name: 'key' } }))[2]).toBe(
    '/v1/pets/5?key=k%26',
  );
  expect((await shown({ auth: { type: 'apiKey', key: 'k;', in: 'cookie', name: 'sid' } }))[1]).toBe('sid=k%3B');
});

test('a call that is slow, cut off or cancelled says what is known of it [C7]', async () => {
  const hurried = open({}, 200);
  await hurried.connect();
  expect(await call('slow', {}, hurried)).toMatchObject({ failure: { kind: 'timeout', mayHaveRun: true } });
  await hurried.close();
  expect(await call('broken')).toMatchObject({ failure: { kind: 'outcome_unknown', mayHaveRun: true } });
  const stop = new AbortController();
  const waiting = pets.call({ tool: 'slow', arguments: {}, signal: stop.signal });
  stop.abort();
  expect(await waiting).toMatchObject({ failure: { kind: 'cancelled' } });
  const gone = open({ baseUrl: 'http://127.0.0.1:60999' });
  expect(await call('text', {}, gone)).toMatchObject({ failure: { kind: 'not_sent', mayHaveRun: false } });
  await gone.close();
});

test('a document that cannot be read is a reason, and is tried again at the next use [C9]', async () => {
  const nowhere = open({ document: `${api.url}/v1/text` });
  await expect(nowhere.listTools()).rejects.toThrow('it is not an OpenAPI document');
  expect(nowhere.health()).toMatchObject({ state: 'failed', reason: expect.stringContaining('OpenAPI') });
  await expect(nowhere.connect()).rejects.toThrow('server "pets" is not available');
  await nowhere.close();
});

test('who asks again sees a document that has changed; one that has gone leaves what there was [C9]', async () => {
  const document = (operationId: string) => ({ openapi: '3.1.0', paths: { '/text': { get: { operationId } } } });
  using home = new Home();
  const file = home.write('api.json', document('before'));
  const changing = open({ document: file, baseUrl: `${api.url}/v1` });
  const names = async () => (await changing.listTools()).tools.map(({ name }) => name);
  expect(await names()).toEqual(['before']);
  const slow = call('before', {}, changing);
  home.write('api.json', document('after'));
  expect(await names()).toEqual(['after']);
  expect(await call('before', {}, changing)).toMatchObject({ failure: { kind: 'refused' } });
  expect(await slow).toMatchObject({ status: 'answered' });
  home.write('api.json', 'broken: [');
  expect(await names()).toEqual(['after']);
  await changing.close();
});

test('a call that is given up while the document is fetched does not wait for it [C9]', async () => {
  const stuck = open({ document: `${api.url}/v1/slow` });
  const outcome = await stuck.call({ tool: 'text', arguments: {}, timeoutMs: 100 });
  expect(outcome).toMatchObject({ failure: { kind: 'not_sent', mayHaveRun: false } });
  await stuck.close();
});
