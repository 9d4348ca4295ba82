import { createHmac, generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { connect as connectSocket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ClientOptions, WebSocket } from 'ws';
import { openIssuer } from '../support/issuer.js';
import { openHome, startServe, until } from '../support/program.js';
import { listed, restClient } from '../support/rest.js';

let issuer: Awaited<ReturnType<typeof openIssuer>>;
let home: ReturnType<typeof openHome>;
let server: Awaited<ReturnType<typeof startServe>>;
beforeAll(async () => {
  issuer = await openIssuer();
  home = openHome({
    server: { maxRequestSize: '64KB', pingInterval: '1s' },
    security: { auth: { ...issuer.settings, tokens: [listed('agent')] } },
  });
  server = await startServe(home);
}, 60_000);
afterAll(async () => {
  await server?.stop();
  issuer?.close();
  home?.[Symbol.dispose]();
});
const AGENT = 'Bearer agent';

async function post(body: string | Buffer, type = 'application/json') {
  const response = await fetch(`${server.url}/api/v1/execute`, {
    method: 'POST',
    headers: { 'content-type': type, authorization: AGENT },
    body,
  });
  return { status: response.status, body: (await response.json()) as { error?: { code: string }; result?: unknown } };
}
const isServing = async () => expect((await post('{"code":"return 1"}')).body.result).toBe(1);

async function openWebSocket(options: ClientOptions = {}) {
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/api/v1/ws`, {
    ...options,
    headers: { authorization: AGENT },
  });
  const messages: { id: string; type: string; payload: { message?: string } }[] = [];
  socket.on('message', (data: Buffer) => messages.push(JSON.parse(data.toString())));
  socket.on('error', () => {});
  const closed = new Promise<number>((resolve) => socket.on('close', resolve));
  await once(socket, 'open');
  return { socket, messages, closed };
}

test.each<[string, string | Buffer, string, number]>([
  ['a body that is too large', `{"code":"${'x'.repeat(70_000)}"}`, 'application/json', 413],
  [
    'nesting that ends a stack',
    `{"code":"1","context":${'['.repeat(30_000)}${']'.repeat(30_000)}}`,
    'application/json',
    400,
  ],
  ['a key that would change every object', '{"code":"1","context":{"__proto__":{"a":1}}}', 'application/json', 400],
  ['a body of another kind', 'code=1', 'application/x-www-form-urlencoded', 415],
  ['bytes that are not text', Buffer.from([0x7b, 0xff, 0xfe, 0x7d]), 'application/json', 400],
  ['half a character within a string', Buffer.from('{"code":"return \'\xc3\'"}', 'latin1'), 'application/json', 400],
])('%s is refused in the words of the contract, and the host serves on [C14, X6]', async (_, body, type, status) => {
  const answer = await post(body, type);
  expect([answer.status, typeof answer.body.error?.code]).toEqual([status, 'string']);
  await isServing();
});

/** A connection on which bytes are sent by hand; what came back, when the other side has closed it. */
function openRaw() {
  const { hostname, port } = new URL(server.url);
  const socket = connectSocket(Number(port), hostname);
  let text = '';
  socket.on('error', () => {});
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  return { socket, status: once(socket, 'close').then(() => Number(/^HTTP\/1.1 (\d+)/.exec(text)?.[1])) };
}

async function raw(request: string): Promise<number> {
  const { socket, status } = openRaw();
  socket.write(`${request}\r\nConnection: close\r\n\r\n`);
  return status;
}

test('a foreign Host or Origin is refused before the token is read, on every route [C14]', async () => {
  const token = `Authorization: Bearer agent`;
  const routes = ['GET /tools', 'POST /execute', 'GET /runs', 'POST /runs/x/cancel', 'GET /approvals', 'GET /servers'];
  for (const route of [...routes, 'GET /openapi.json', 'GET /nowhere']) {
    const line = `${route.replace(' ', ' /api/v1')} HTTP/1.1`;
    expect([route, await raw(`${line}\r\nHost: evil.example\r\n${token}`)]).toEqual([route, 403]);
    const foreign = `Host: localhost\r\nOrigin: https://evil.example`;
    expect([route, await raw(`${line}\r\n${foreign}\r\n${token}`)]).toEqual([route, 403]);
  }
  expect(await raw(`GET /api/v1/tools HTTP/1.1\r\nHost: localhost\r\n${token}`)).toBe(200);
});

test('endless headers, and bodies larger than allowed or declared, are refused before reading [C14]', async () => {
  const head = `POST /api/v1/execute HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer agent`;
  expect(await raw(`${head}\r\nX-Long: ${'x'.repeat(20_000)}`)).toBe(431);
  const many = Array.from({ length: 2_000 }, (_, index) => `X-${index}: ${index}`).join('\r\n');
  expect(await raw(`${head}\r\n${many}`)).toBe(431);
  const json = `${head}\r\nContent-Type: application/json`;
  expect(await raw(`${json}\r\nContent-Length: 999999999999`)).toBe(413);
  const { socket, status } = openRaw();
  socket.write(`${json}\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n`);
  const chunk = `${(10_000).toString(16)}\r\n${'x'.repeat(10_000)}\r\n`;
  for (let index = 0; index < 10; index++) socket.write(chunk);
  expect(await status).toBe(413);
  // Two lengths are one request to us and another to a proxy.
  expect(await raw(`${json}\r\nContent-Length: 1\r\nTransfer-Encoding: chunked`)).toBe(400);
  expect(await raw(`${json}\r\nContent-Length: 1\r\nContent-Length: 2`)).toBe(400);
  await isServing();
});

test('clients that never finish their headers keep nobody from being served, and are cut off [C14]', async () => {
  const slow = Array.from({ length: 100 }, (_, index) => {
    const { socket, status } = openRaw();
    // Some say nothing at all.
    if (index % 2 === 0) return status;
    socket.write('GET /api/v1/tools HTTP/1.1\r\nHost: localhost\r\nX-Slow: ');
    // A byte now and then keeps a connection alive that is only watched for silence.
    const drip = setInterval(() => socket.write('x'), 500);
    return status.finally(() => clearInterval(drip));
  });
  await isServing();
  expect(new Set(await Promise.all(slow))).toEqual(new Set([408]));
  await isServing();
}, 30_000);

test('a flood of WebSocket messages, an oversized, empty or binary one fails alone [C4]', async () => {
  const flood = await openWebSocket();
  for (let index = 0; index < 2_000; index++) flood.socket.send('{}');
  expect(await flood.closed).toBe(1008);
  const large = await openWebSocket();
  large.socket.send('x'.repeat(70_000));
  expect(await large.closed).toBe(1009);
  const binary = await openWebSocket();
  binary.socket.send(Buffer.from([1, 2, 3]));
  await until(() => binary.messages.length === 1);
  expect(binary.messages[0]).toMatchObject({ type: 'error' });
  binary.socket.close();
  const broken = await openWebSocket();
  broken.socket.send(Buffer.from([0x22, 0xff, 0x22]), { binary: false });
  expect(await broken.closed).toBe(1007);
  await isServing();
});

test('one connection cannot hold more runs than its share [C4]', async () => {
  const { socket, messages } = await openWebSocket();
  const code = 'await new Promise((resolve) => setTimeout(resolve, 60_000))';
  for (let index = 0; index < 70; index++)
    socket.send(JSON.stringify({ id: `r${index}`, type: 'execute', payload: { code } }));
  await until(() => messages.length === 6);
  expect(messages.every(({ payload }) => payload.message?.includes('64 are running already'))).toBe(true);
  socket.send(JSON.stringify({ id: 'r0', type: 'execute', payload: { code } }));
  await until(() => messages.length === 7);
  expect(messages.at(-1)?.payload.message).toContain('is running already');
  socket.terminate();
  await isServing();
});

test('numbers for Prometheus need a token, and count runs [X4]', async () => {
  await isServing();
  expect((await fetch(`${server.url}/metrics`)).status).toBe(401);
  const headers = { authorization: AGENT };
  const text = await (await fetch(`${server.url}/metrics`, { headers })).text();
  expect(text).toMatch(/codemode_run_duration_seconds_count\{profile="unified",outcome="success"\} [1-9]/);
  expect(text).toMatch(/codemode_workers\{kind="processes"\} [1-9]/);
});

test('a peer that is gone without a word is noticed, and its runs end; one that answers stays [C4]', async () => {
  const rest = restClient(server.url, 'agent');
  const running = async () =>
    (await rest.get('/runs', 'agent')).body.runs?.filter(({ state }) => state === 'running').length;
  const code = 'await new Promise((resolve) => setTimeout(resolve, 60_000))';
  const quiet = await openWebSocket();
  // Half open: what the host sends arrives nowhere, and nothing says so.
  const gone = await openWebSocket({ autoPong: false });
  gone.socket.send(JSON.stringify({ id: 'r', type: 'execute', payload: { code } }));
  await expect.poll(running).toBe(1);
  expect(await gone.closed).toBe(1006);
  await expect.poll(running).toBe(0);
  await once(quiet.socket, 'ping');
  await once(quiet.socket, 'ping');
  expect(quiet.socket.readyState).toBe(WebSocket.OPEN);
  quiet.socket.close();
});

test('no confusion of tokens gets through, by neither door [C5]', async () => {
  const now = Math.floor(Date.now() / 1000);
  const foreign = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${encode({ alg: 'HS256', kid: 'one' })}.${encode(issuer.claims())}`;
  const pem = issuer.publicKey.export({ type: 'spki', format: 'pem' });
  const good = await issuer.token();
  const bad = {
    'that nobody signed': `${encode({ alg: 'none' })}.${encode(issuer.claims())}.`,
    'signed with the public key as a secret': `${signed}.${createHmac('sha256', pem).update(signed).digest('base64url')}`,
    'of another key under the right name': await issuer.token({}, {}, foreign.privateKey),
    'of a key that nobody knows': await issuer.token({}, { kid: 'two' }, foreign.privateKey),
    'that has expired': await issuer.token({ exp: now - 120 }),
    'that is not valid yet': await issuer.token({ nbf: now + 600 }),
    'of another issuer': await issuer.token({ iss: 'https://evil.example' }),
    'for somebody else': await issuer.token({ aud: 'other' }),
    'with its signature cut off': good.slice(0, good.lastIndexOf('.') + 1),
  };
  const ask = async (token: string) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const answer = await fetch(`${server.url}/api/v1/execute`, {
      method: 'POST',
      headers,
      body: '{"code":"return 1"}',
    });
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/api/v1/ws`, ['codemode', `bearer.${token}`]);
    const status = await new Promise<number | undefined>((resolve) => {
      socket.on('unexpected-response', (_, { statusCode }) => resolve(statusCode));
      socket.on('open', () => resolve(101));
    });
    socket.on('error', () => {});
    socket.terminate();
    return [answer.status, status];
  };
  expect(await ask(good)).toEqual([200, 101]);
  for (const [name, token] of Object.entries(bad)) expect([name, ...(await ask(token))]).toEqual([name, 401, 401]);
});
