import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import type { UpstreamTarget } from '../../src/domain/targets/targets.js';
import { READ_LIMITS } from '../../src/upstream/mcp/read-budget.js';
import { watchTurns } from '../support/longest-turn.js';
import { createRegistry, definition, fixture, stateOf, stdio } from '../support/upstreams.js';

/*
 * Servers on sockets and event streams that send without end, to a registry in this process: the longest pause of its event
 * loop is what everybody else would have waited.
 */
const LONGEST_PAUSE_MS = 1_000;
/** As the defaults, and reached sooner. */
const SMALL = {
  ...READ_LIMITS,
  messages: { burst: 2_000, perSecond: 200 },
  patienceMs: 500,
};
const SERVER = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {} },
  serverInfo: { name: 'flood', version: '0' },
};
const line = (message: object) => JSON.stringify({ jsonrpc: '2.0', ...message });
const NEWS = line({ method: 'notifications/message', params: { level: 'info', data: 'x'.repeat(100) } });
const PING = line({ id: 'ping', method: 'ping' });

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

function answerTo({ id, method }: { id: number; method: string }): string | undefined {
  if (id === undefined) return undefined;
  if (method === 'initialize') return line({ id, result: SERVER });
  if (method === 'tools/list')
    return line({ id, result: { tools: [{ name: 'flood', inputSchema: { type: 'object' } }] } });
  return method === 'tools/call' ? undefined : line({ id, error: { code: -32601, message: 'no such method' } });
}

/** Writes as fast as the other side reads. */
function pour(
  out: { write(text: string): boolean; once(event: 'drain', on: () => void): unknown; destroyed: boolean },
  text: string,
) {
  const next = (): void => {
    if (out.destroyed) return;
    while (out.write(text));
    out.once('drain', next);
  };
  next();
}

async function listen(handle: (request: IncomingMessage, response: ServerResponse, body: string) => void) {
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => handle(request, response, body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { server, port: (server.address() as AddressInfo).port };
}

/** Streamable HTTP: the call's own event stream never comes to its answer. */
async function streaming(flood: string, event = (text: string) => `data: ${text}\n\n`): Promise<UpstreamTarget> {
  const { port } = await listen((request, response, body) => {
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const message = JSON.parse(body);
    const answer = answerTo(message);
    if (message.method === 'tools/call') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      return pour(response, event(flood).repeat(1_000));
    }
    if (answer === undefined) return void response.writeHead(202).end();
    response.writeHead(200, { 'content-type': 'application/json' }).end(answer);
  });
  return { kind: 'http', url: `http://127.0.0.1:${port}/mcp`, headers: {}, flavour: 'streamable' };
}

/** One answer of many megabytes. */
async function answering(
  text: (id: number) => string,
  contentType = 'application/json',
  frame = (answer: string) => answer,
): Promise<UpstreamTarget> {
  const { port } = await listen((request, response, body) => {
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const message = JSON.parse(body);
    const answer = answerTo(message);
    if (message.method === 'tools/call')
      return void response.writeHead(200, { 'content-type': contentType }).end(frame(text(message.id)));
    if (answer === undefined) return void response.writeHead(202).end();
    response.writeHead(200, { 'content-type': 'application/json' }).end(answer);
  });
  return { kind: 'http', url: `http://127.0.0.1:${port}/mcp`, headers: {}, flavour: 'streamable' };
}

async function socket(flood: (peer: WebSocket) => void): Promise<UpstreamTarget> {
  const { server, port } = await listen((_request, response) => void response.writeHead(404).end());
  const sockets = new WebSocketServer({ server, handleProtocols: () => 'mcp' });
  sockets.on('connection', (peer) => {
    peer.on('error', () => {});
    peer.on('message', (data) => {
      const message = JSON.parse(String(data));
      const answer = answerTo(message);
      if (answer !== undefined) peer.send(answer);
      if (message.method === 'tools/call') flood(peer);
    });
  });
  closing.push(() => sockets.close());
  return { kind: 'websocket', url: `ws://127.0.0.1:${port}`, headers: {} };
}

function endlessly(peer: WebSocket, send: () => void): void {
  const next = (): void => {
    if (peer.readyState !== peer.OPEN) return;
    for (let n = 0; n < 1_000 && peer.bufferedAmount < 1_000_000; n += 1) send();
    setImmediate(next);
  };
  next();
}

async function flooded(target: UpstreamTarget) {
  await using registry = createRegistry({ readLimits: SMALL });
  const adapter = registry.register(definition('flood', target, { connectTimeoutMs: 10_000 }));
  await adapter.listTools();
  const quarantined = stateOf(adapter, 'quarantined');
  const before = process.memoryUsage().rss;
  const longestTurn = watchTurns();
  const call = adapter.call({ tool: 'flood', arguments: {} });
  const { reason } = await quarantined;
  const pauseMs = longestTurn();
  return {
    reason,
    outcome: await call,
    pauseMs,
    memoryMebibytes: (process.memoryUsage().rss - before) / 1024 / 1024,
  };
}

describe('a server that sends without end is read no faster than its budget, and quarantined', () => {
  test.each([
    ['progress on a pipe', async () => stdio(fixture('flooding-server.mjs'), ['progress']), /more than 200 messages/],
    ['log lines on a pipe', async () => stdio(fixture('flooding-server.mjs'), ['logs']), /more than 200 messages/],
    ['events on the stream of a call', () => streaming(NEWS), /more than 200 messages a second/],
    [
      // A return makes the client library look through the rest of a chunk at each line.
      ...(['comments on the stream of a call', () => streaming(`\r\n${':\n'.repeat(1_000)}`, (text) => text)] as const),
      /more than 200 messages a second/,
    ],
    ['messages on a socket', () => socket((peer) => endlessly(peer, () => peer.send(NEWS))), /more than 200 messages/],
    ['pings of a socket', () => socket((peer) => endlessly(peer, () => peer.ping('x'))), /more than 200 messages/],
  ])('%s', async (_, open, reason) => {
    const { outcome, pauseMs, memoryMebibytes, ...rest } = await flooded(await open());
    expect(rest.reason).toMatch(reason);
    expect(outcome).toMatchObject({ status: 'failed' });
    expect(pauseMs).toBeLessThan(LONGEST_PAUSE_MS);
    // The flood is made in this process too.
    expect(memoryMebibytes).toBeLessThan(300);
  });
});

test.each([
  ['', ''],
  ['behind a byte order mark', '\ufeff'],
])('a batch of millions of messages in one answer is not read %s', async (_, mark) => {
  await using registry = createRegistry();
  const target = await answering(() => `${mark}[${`${PING},`.repeat(200_000)}${PING}]`);
  const adapter = registry.register(definition('batch', target, { connectTimeoutMs: 10_000 }));
  await adapter.listTools();
  expect(await adapter.call({ tool: 'flood', arguments: {} })).toMatchObject({ status: 'failed' });
  expect(adapter.health().warnings).toContain('a message was longer than 1048576 bytes and was dropped');
});

test.each([
  ['body', 'application/json', (answer: string) => answer],
  ['event', 'text/event-stream', (answer: string) => `data: ${answer}\n\n`],
  // The text of a message is in `data:` lines only, and may be broken anywhere between its words.
  ['event with a quote in a comment', 'text/event-stream', (answer: string) => `: "\ndata: ${answer}\n\n`],
  [
    'event with a line for each colon',
    'text/event-stream',
    (answer: string) => `data: ${answer.replaceAll(':', '\r\ndata::')}\n\n`,
  ],
])('an answer of very many keys or values as one %s is not parsed', async (_, contentType, frame) => {
  const keys = Array.from({ length: 210_000 }, (_each, index) => `"k${index}":1`).join();
  const values = `"rows":[${'{},'.repeat(1_100_000)}{}]`;
  for (const [members, excess] of [
    [keys, '200000 different keys'],
    [values, '2000000 values'],
  ]) {
    const text = (id: number) =>
      line({ id, result: { content: [], structuredContent: {} } }).replace('{}', `{${members}}`);
    await using registry = createRegistry();
    const target = await answering(text, contentType, frame);
    const adapter = registry.register(definition('excess', target, { connectTimeoutMs: 10_000 }));
    await adapter.listTools();
    expect(await adapter.call({ tool: 'flood', arguments: {} })).toMatchObject({ status: 'failed' });
    expect(adapter.health().warnings).toContain(`a message had more than ${excess} and was dropped`);
  }
});

test('a server that ends each stream at once is not asked again hundreds of times a second', async () => {
  let streams = 0;
  const { port } = await listen((request, response, body) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    if (request.method !== 'POST') streams += 1;
    const answer = request.method === 'POST' ? answerTo(JSON.parse(body)) : undefined;
    response.end(answer === undefined ? 'retry: 0\nid: 1\ndata: \n\n' : `data: ${answer}\n\n`);
  });
  await using registry = createRegistry();
  const target = { kind: 'http', url: `http://127.0.0.1:${port}/mcp`, headers: {}, flavour: 'streamable' } as const;
  const adapter = registry.register(definition('again', target, { callTimeoutMs: 1_000 }));
  await adapter.listTools();
  streams = 0;
  const startMs = performance.now();
  expect(await adapter.call({ tool: 'flood', arguments: {} })).toMatchObject({ status: 'failed' });
  // One each 100 ms for the call, and for the session.
  expect(streams).toBeLessThan(5 + (2 * (performance.now() - startMs)) / 100);
});

test('nor is one of the older transport', async () => {
  let streams = 0;
  const { port } = await listen((_request, response) => {
    streams += 1;
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end('retry: 0\nevent: endpoint\ndata: /mcp\n\n');
  });
  await using registry = createRegistry();
  const target = { kind: 'http', url: `http://127.0.0.1:${port}/mcp`, headers: {}, flavour: 'sse' } as const;
  const adapter = registry.register(definition('again', target, { connectTimeoutMs: 1_000 }));
  const startMs = performance.now();
  await expect(adapter.listTools()).rejects.toThrow();
  expect(streams).toBeLessThan(5 + (performance.now() - startMs) / 100);
});

test('a line of many megabytes that nobody asked for is dropped, and the server keeps working', async () => {
  await using registry = createRegistry();
  const script = `
    const lines = require('node:readline').createInterface({ input: process.stdin });
    const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
    const tools = [{ name: 'long', inputSchema: { type: 'object' } }];
    lines.on('line', (text) => {
      const { id, method, params } = JSON.parse(text);
      if (method === 'initialize') send({ id, result: ${JSON.stringify(SERVER)} });
      else if (method === 'tools/list') send({ id, result: { tools } });
      else if (method === 'tools/call') send({ id, result: { content: [{ type: 'text', text: 'x'.repeat(40e6) }] } });
      else if (id !== undefined) send({ id, error: { code: -32601, message: 'none' } });
      if (method === 'tools/list') send({ method: 'notifications/message', params: { data: 'x'.repeat(20e6) } });
    });`;
  const adapter = registry.register(
    definition('long', { ...stdio('-e'), arguments: ['-e', script] } as UpstreamTarget),
  );
  await adapter.listTools();
  const warnings = ['not a message: a message that was too long to be read'];
  await expect.poll(() => adapter.health().warnings, { timeout: 10_000 }).toEqual(warnings);
  // An answer to a call may be as long as it likes.
  const { status } = await adapter.call({ tool: 'long', arguments: {} });
  expect(status).toBe('answered');
  expect(adapter.health().state).toBe('ready');
});
