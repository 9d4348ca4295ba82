import { type IncomingHttpHeaders, request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { everyday, openHome, startServe } from '../support/program.js';

/** What a web page, a neighbour on the network or a curious program can send to the port. Class 21 of the attacks. */
const home = openHome({ mcpServers: { everyday: everyday() }, server: { maxRequestSize: '64KB' } });
let server: Awaited<ReturnType<typeof startServe>>;
beforeAll(async () => {
  server = await startServe(home);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  home[Symbol.dispose]();
});

interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/** By hand: `fetch` sets the headers that matter here itself. */
function send({ method = 'GET', path = '/mcp', headers = {}, body }: Sent) {
  return new Promise<{ status: number; headers: IncomingHttpHeaders; body: string }>((resolve, reject) => {
    const { hostname, port } = new URL(server.url);
    const sent = request(
      { hostname, port, method, path, headers, setHost: headers['host'] === undefined },
      async (response) => {
        let text = '';
        for await (const chunk of response) text += String(chunk);
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text });
      },
    );
    sent.once('error', reject);
    sent.end(body);
  });
}

const bearer = () => ({ authorization: `Bearer ${server.token}` });
const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '0' } },
});
const ROUTES: readonly Sent[] = [
  { method: 'POST', path: '/mcp', body: INITIALIZE, headers: json },
  { method: 'GET', path: '/mcp', headers: { accept: 'text/event-stream' } },
  { method: 'DELETE', path: '/mcp' },
  { method: 'OPTIONS', path: '/mcp', headers: { 'access-control-request-method': 'POST' } },
  { path: '/healthz' },
  { path: '/readyz' },
  { path: '/' },
  { path: '/nowhere' },
];

test('a page on a name that was rebound to our address gets nothing from any route, token or not', async () => {
  for (const host of [
    'evil.example',
    'evil.example:3000',
    '127.0.0.1.nip.io',
    'localhost.evil.example',
    '0.0.0.0',
    '',
  ]) {
    for (const route of ROUTES) {
      const { status, body } = await send({ ...route, headers: { ...route.headers, ...bearer(), host } });
      expect([host, route.path, status], body).toEqual([
        host,
        route.path,
        host === '' ? expect.toSatisfy((code) => code >= 400) : 403,
      ]);
    }
  }
});

test('a page of another origin gets nothing from any route, and no leave to read an answer', async () => {
  const { port } = new URL(server.url);
  for (const origin of [
    'https://evil.example',
    'null',
    `http://localhost:${Number(port) + 1}`,
    'http://127.0.0.1',
    'file://',
  ]) {
    for (const route of ROUTES) {
      const { status, headers } = await send({ ...route, headers: { ...route.headers, ...bearer(), origin } });
      expect([origin, route.path, status]).toEqual([origin, route.path, 403]);
      expect(headers['access-control-allow-origin']).toBeUndefined();
    }
  }
});

test('without the token nothing but signs of life and the page of the console is answered', async () => {
  const wrong = [
    '',
    'Bearer',
    'Bearer x',
    `Basic ${server.token}`,
    `Bearer ${server.token.slice(0, -1)}`,
    `Bearer ${server.token}x`,
  ];
  for (const authorization of wrong) {
    for (const route of ROUTES) {
      const { status, headers, body } = await send({ ...route, headers: { ...route.headers, authorization } });
      // The page holds nothing: what it shows needs a session of a person (test/console).
      const isPublic = ['/healthz', '/readyz', '/'].includes(route.path ?? '');
      expect([authorization, route.path, status]).toEqual([authorization, route.path, isPublic ? 200 : 401]);
      if (!isPublic) expect(headers['www-authenticate']).toMatch(/^Bearer/);
      expect(body).not.toContain(server.token);
    }
  }
  const inAddress = await send({
    method: 'POST',
    path: `/mcp?token=${server.token}&access_token=${server.token}`,
    body: INITIALIZE,
    headers: json,
  });
  expect(inAddress.status).toBe(401);
});

test('bodies that are too large, not JSON or of another type are refused; the next one is served [X6]', async () => {
  const post = (body: string, headers: Record<string, string> = {}) =>
    send({ method: 'POST', body, headers: { ...json, ...bearer(), ...headers } });
  const big = JSON.stringify({ ...JSON.parse(INITIALIZE), padding: 'x'.repeat(70_000) });
  expect((await post(big)).status).toBe(413);
  expect((await post(big, { 'transfer-encoding': 'chunked' })).status).toBe(413);
  for (const body of [
    '',
    '{',
    'null',
    '7',
    '"text"',
    '[]',
    '{}',
    '{"jsonrpc":"1.0","id":1,"method":"x"}',
    '['.repeat(30_000),
  ]) {
    const { status, body: answer } = await post(body);
    expect([body.slice(0, 40), status]).toEqual([body.slice(0, 40), 400]);
    expect(answer).not.toMatch(/\bat .*\.(js|ts):\d/);
  }
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])
    expect((await post(INITIALIZE, { 'content-type': type })).status).toBe(415);
  expect((await post(INITIALIZE)).status).toBe(200);
});

test('a guessed session is refused, and a request without one has to initialize', async () => {
  const list = JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/list' });
  const post = (headers: Record<string, string>) =>
    send({ method: 'POST', body: list, headers: { ...json, ...bearer(), ...headers } });
  expect((await post({ 'mcp-session-id': '00000000-0000-4000-8000-000000000000' })).status).toBe(404);
  expect((await post({})).status).toBe(400);
});

test('arguments with poisoned keys or endless depth are data, and pollute nothing [X6]', async () => {
  const deep = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`;
  await using connected = await server.connect();
  const { sessionId } = connected.transport;
  for (const [id, code] of [`{"__proto__":{"polluted":1}}`, deep].entries()) {
    const { status, body } = await send({
      method: 'POST',
      headers: { ...json, ...bearer(), 'mcp-session-id': String(sessionId) },
      body: `{"jsonrpc":"2.0","id":${id + 10},"method":"tools/call","params":{"name":"codemode_run","arguments":{"code":${code},"__proto__":{"code":"1"}}}}`,
    });
    expect([status, body]).toEqual([200, expect.stringContaining('INVALID_REQUEST')]);
  }
});
