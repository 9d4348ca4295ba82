import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { pathsOf, type ReceivedSpan, startCollector } from '../../support/collector.js';
import { nodeServer, openHome, ready, run, startServe, until } from '../../support/program.js';
import { fixture } from '../../support/upstreams.js';

/** Stands in the environment of a server, in arguments, results, sources, errors and names of errors. */
const SECRET = 'sk-proj-Zq81vLr03TnXw5Yb7Kc2Md9F';
/** Does not look like a secret, and must not be visible either. */
const PRIVATE = 'Zbigniew-has-the-measles';
const LOG_BYTES = 4_096;
const MEMBER = 'vendor=abc123';

let collector: Awaited<ReturnType<typeof startCollector>>;
let home: ReturnType<typeof openHome>;
let server: Awaited<ReturnType<typeof startServe>>;
beforeAll(async () => {
  collector = await startCollector();
  const tracing = (era: string) => ({
    ...nodeServer(fixture('tracing-server.mjs'), era),
    env: { API_TOKEN: SECRET },
  });
  const sha256 = createHash('sha256').update('ann').digest('hex');
  home = openHome({
    mcpServers: { legacy: tracing('legacy'), modern: tracing('modern') },
    defaults: { codeMode: { excludedTools: ['legacy/direct', 'modern/direct'] } },
    policy: [{ tools: '*/forbidden', arguments: { now: true }, decision: 'deny' }],
    approvals: { grace: 200 },
    security: { auth: { tokens: [{ name: 'ann', sha256, scopes: ['approve'] }] } },
    telemetry: { traces: { endpoint: collector.url, headers: { 'x-key': 'key-of-the-collector' } } },
    logging: {
      level: 'debug',
      format: 'json',
      outputs: [{ type: 'console' }, { type: 'file', path: 'LOG', maxSize: LOG_BYTES, keep: 2 }],
    },
  });
  server = await startServe(home);
  await using client = await server.connect();
  await ready(client.client, 'legacy', 'modern');
}, 60_000);
afterAll(async () => {
  await server?.stop();
  await collector?.[Symbol.asyncDispose]();
  home?.[Symbol.dispose]();
});

/** A trace that some client has begun. */
function newTrace(flags = '01') {
  const [traceId, spanId] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  const traceparent = `00-${traceId}-${spanId}-${flags}`;
  const isOf = (span: ReceivedSpan) => span.traceId === traceId;
  return { traceId, spanId, traceparent, isOf };
}

async function execute(code: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${server.url}/api/v1/execute`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${server.token}`, ...headers },
    body: JSON.stringify({ code, capabilities: ['mcp:legacy', 'mcp:modern'] }),
  });
  return { status: response.status, body: (await response.json()) as { result?: unknown; requestId: string } };
}

const named = (spans: readonly ReceivedSpan[], name: string) => spans.filter((span) => span.name === name);
const only = (spans: readonly ReceivedSpan[], name: string) => {
  const found = named(spans, name);
  if (found.length !== 1) throw new Error(`${found.length} spans ${name} in ${JSON.stringify(pathsOf(spans))}`);
  return found[0] as ReceivedSpan;
};

const BOTH = `import * as legacy from '@codemode/servers/legacy'; import * as modern from '@codemode/servers/modern';
globalThis.__codemode_result__ = { legacy: await legacy.meta({}), modern: await modern.meta({}) };`;

describe('a request over MCP', () => {
  test.each(['legacy', 'modern'] as const)(
    "of the %s era continues its client's trace, and so do the servers its program calls [X4]",
    async (era) => {
      await using connected = await server.connect(era);
      const trace = newTrace();
      const _meta = { traceparent: trace.traceparent, tracestate: MEMBER, baggage: 'user=alice' };
      const answer = await connected.client.callTool({ name: 'codemode_run', arguments: { code: BOTH }, _meta });
      const { result } = answer.structuredContent as { result: Record<string, Record<string, string>> };
      const spans = await collector.trace(trace.isOf, 'tools/call codemode_run');
      expect(pathsOf(spans)).toEqual([
        'tools/call codemode_run',
        'tools/call codemode_run > codemode.run',
        'tools/call codemode_run > codemode.run > codemode.prepare',
        'tools/call codemode_run > codemode.run > codemode.start',
        'tools/call codemode_run > codemode.run > execute_tool meta',
        'tools/call codemode_run > codemode.run > execute_tool meta',
        'tools/call codemode_run > codemode.run > execute_tool meta > tools/call meta',
        'tools/call codemode_run > codemode.run > execute_tool meta > tools/call meta',
      ]);
      const root = only(spans, 'tools/call codemode_run');
      expect(root).toMatchObject({ parentSpanId: trace.spanId, kind: 2, isError: false });
      expect(root.attributes).toMatchObject({
        'mcp.method.name': 'tools/call',
        'gen_ai.tool.name': 'codemode_run',
        'network.transport': 'tcp',
      });
      expect(only(spans, 'codemode.run').attributes).toMatchObject({
        'codemode.profile': 'codemode',
        'codemode.run.outcome': 'completed',
      });
      for (const serverId of ['legacy', 'modern']) {
        const upstream = named(spans, 'tools/call meta').find(
          (span) => span.attributes['codemode.server'] === serverId,
        );
        const seen = result[serverId];
        expect(upstream?.kind).toBe(3);
        expect(seen?.traceparent).toBe(`00-${trace.traceId}-${upstream?.spanId}-01`);
        expect(seen?.tracestate).toBe(MEMBER);
        expect(seen).not.toHaveProperty('baggage');
      }
      expect(collector.requests[0]?.headers['x-key']).toBe('key-of-the-collector');
      expect(collector.resources[0]).toMatchObject({ 'service.name': 'codemode', 'telemetry.sdk.language': 'nodejs' });
    },
  );

  test('uses its HTTP headers where the message has none; a direct tool call is traced too [X4]', async () => {
    const trace = newTrace();
    const message = { jsonrpc: '2.0', id: 1, method: 'initialize' };
    const post = async (body: object, session?: string) =>
      fetch(`${server.url}/mcp`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          authorization: `Bearer ${server.token}`,
          traceparent: trace.traceparent,
          ...(session === undefined ? {} : { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' }),
        },
        body: JSON.stringify(body),
      });
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'by-hand', version: '0' } };
    const session = (await post({ ...message, params })).headers.get('mcp-session-id') as string;
    await post({ jsonrpc: '2.0', method: 'notifications/initialized' }, session);
    await using client = await server.connect();
    const { tools } = await client.client.listTools();
    const name = tools.find((tool) => tool.name.includes('direct'))?.name as string;
    const called = await post({ ...message, id: 2, method: 'tools/call', params: { name, arguments: {} } }, session);
    expect(await called.text()).toContain(trace.traceId);
    const spans = await collector.trace(trace.isOf, `tools/call ${name}`);
    expect(pathsOf(spans)).toEqual([
      `tools/call ${name}`,
      `tools/call ${name} > execute_tool direct`,
      `tools/call ${name} > execute_tool direct > tools/call direct`,
    ]);
    expect(only(spans, `tools/call ${name}`).parentSpanId).toBe(trace.spanId);
  });

  test('for a tool that no server lists has no name: any client could choose it [X4]', async () => {
    await using connected = await server.connect();
    const trace = newTrace();
    const request = { name: 'made-up-name', arguments: {}, _meta: { traceparent: trace.traceparent } };
    await expect(connected.client.callTool(request)).rejects.toThrow('made-up-name');
    const spans = await collector.trace(trace.isOf, 'tools/call');
    expect(pathsOf(spans)).toEqual(['tools/call']);
    expect(spans[0]).toMatchObject({ isError: true, attributes: { 'error.type': '-32602' } });
  });

  test('that its client does not record is not recorded here, and servers are told so [X4]', async () => {
    await using connected = await server.connect();
    const trace = newTrace('00');
    const request = { name: 'codemode_run', arguments: { code: BOTH }, _meta: { traceparent: trace.traceparent } };
    const { structuredContent } = await connected.client.callTool(request);
    const { result } = structuredContent as { result: { legacy: { traceparent: string } } };
    expect(result.legacy.traceparent).toBe(trace.traceparent);
    // What comes later is there: this one will not come.
    const later = newTrace();
    await execute('return 1', { traceparent: later.traceparent });
    await collector.trace(later.isOf, 'POST /api/v1/execute');
    expect(collector.spans.filter(trace.isOf)).toEqual([]);
  });
});

describe('a request over REST', () => {
  test('is one tree from its header to the server, with how each step went wrong [X4]', async () => {
    const trace = newTrace();
    const code = `await mcp.legacy.fail({ text: 'x' }).catch(() => {});
      await mcp.modern.forbidden({ now: true }).catch(() => {});
      throw new TypeError('it ends badly');`;
    await execute(code, { traceparent: trace.traceparent });
    const spans = await collector.trace(trace.isOf, 'POST /api/v1/execute');
    expect(pathsOf(spans)).toEqual([
      'POST /api/v1/execute',
      'POST /api/v1/execute > codemode.run',
      'POST /api/v1/execute > codemode.run > codemode.prepare',
      'POST /api/v1/execute > codemode.run > codemode.start',
      'POST /api/v1/execute > codemode.run > execute_tool fail',
      'POST /api/v1/execute > codemode.run > execute_tool fail > tools/call fail',
      'POST /api/v1/execute > codemode.run > execute_tool forbidden',
    ]);
    const errorOf = (name: string) => only(spans, name).isError && only(spans, name).attributes['error.type'];
    expect(errorOf('tools/call fail')).toBe('tool_error');
    expect(errorOf('execute_tool fail')).toBe('tool_error');
    expect(errorOf('execute_tool forbidden')).toBe('denied');
    expect(only(spans, 'execute_tool forbidden').attributes['codemode.policy.decision']).toBe('deny');
    expect(errorOf('codemode.run')).toBe('exception');
    const root = only(spans, 'POST /api/v1/execute');
    expect(root).toMatchObject({ parentSpanId: trace.spanId, isError: false });
    expect(root.attributes).toMatchObject({ 'http.route': '/api/v1/execute', 'http.response.status_code': 200 });
  });

  test('that is suspended until a person decides continues in the same trace [X4]', async () => {
    const trace = newTrace();
    const { status } = await execute('return await mcp.legacy.delete_all({})', { traceparent: trace.traceparent });
    expect(status).toBe(202);
    const suspended = await collector.trace(trace.isOf, 'POST /api/v1/execute');
    expect(only(suspended, 'codemode.run').attributes['codemode.run.outcome']).toBe('suspended');
    const headers = { authorization: 'Bearer ann', 'content-type': 'application/json' };
    const pending = (await (await fetch(`${server.url}/api/v1/approvals`, { headers })).json()) as {
      approvals: { id: string }[];
    };
    const [approval] = pending.approvals;
    const answer = await fetch(`${server.url}/api/v1/approvals/${approval?.id}/approve`, {
      method: 'POST',
      headers,
      body: '{}',
    });
    expect(answer.status).toBe(200);
    const spans = await collector.trace(trace.isOf, 'tools/call delete_all');
    await until(() => named(collector.spans.filter(trace.isOf), 'codemode.run').length === 2);
    const [before, after] = named(collector.spans.filter(trace.isOf), 'codemode.run');
    expect(after).toMatchObject({ parentSpanId: before?.spanId, attributes: { 'codemode.run.resumed': true } });
    expect(pathsOf(spans).filter((path) => path.includes('approval')).length).toBeGreaterThan(0);
  });

  test('over WebSocket is a part of what its client was doing when it connected [X4]', async () => {
    const trace = newTrace();
    const headers = { authorization: `Bearer ${server.token}`, traceparent: trace.traceparent };
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/api/v1/ws`, [], { headers });
    await new Promise((resolve) => socket.on('open', resolve));
    const payload = { code: 'return await mcp.legacy.meta({})', options: { capabilities: ['mcp:legacy'] } };
    socket.send(JSON.stringify({ id: 'a', type: 'execute', payload, timestamp: 0 }));
    const spans = await collector.trace(trace.isOf, 'execute /api/v1/ws');
    expect(pathsOf(spans)).toContain('execute /api/v1/ws > codemode.run > execute_tool meta > tools/call meta');
    expect(only(spans, 'execute /api/v1/ws').parentSpanId).toBe(trace.spanId);
    socket.terminate();
  });
});

test('nothing that programs send, receive, throw or contain is in a trace, metric or log [X4, C14]', async () => {
  const trace = newTrace();
  const code = `for (const secret of ['${SECRET}', '${PRIVATE}']) {
      console.log(secret);
      await mcp.legacy.give({ [secret]: secret });
      await mcp.modern.fail({ secret }).catch(() => {});
      await mcp.modern.forbidden({ now: true, secret }).catch(() => {});
      await mcp.modern.meta(secret, secret).catch(() => {});
      await mcp.legacy[secret]?.({}).catch(() => {});
    }
    class Thrown extends Error { name = '${PRIVATE}' }
    throw new Thrown('${PRIVATE}');`;
  const baggage = `secret=${SECRET}`;
  const { body } = await execute(code, { traceparent: trace.traceparent, tracestate: MEMBER, baggage });
  // The client itself is told.
  expect(JSON.stringify(body)).toContain(PRIVATE);
  const spans = await collector.trace(trace.isOf, 'POST /api/v1/execute');
  expect(named(spans, 'execute_tool give').length).toBe(2);
  const told = [...collector.bodies, await metrics(), server.stderr()].join('\n');
  for (const secret of [SECRET.slice(8), PRIVATE, 'key-of-the-collector']) expect(told).not.toContain(secret);
});

async function metrics(): Promise<string> {
  const response = await fetch(`${server.url}/metrics`, { headers: { authorization: `Bearer ${server.token}` } });
  return response.text();
}

test('metrics count starts, runs, calls and requests, with labels that servers cannot choose [X4]', async () => {
  await using connected = await server.connect();
  const code = `import * as legacy from '@codemode/servers/legacy';
    for (const name of Object.keys(legacy)) if (name !== 'delete_all') await legacy[name]({}).catch(() => {});`;
  await run(connected.client, code);
  const text = await metrics();
  const count = (line: string) => Number(new RegExp(`^${line} (\\d+)$`, 'm').exec(text)?.[1]);
  expect(count('codemode_run_start_seconds_count\\{profile="codemode"\\}')).toBeGreaterThan(0);
  expect(count('codemode_run_duration_seconds_count\\{profile="codemode",outcome="success"\\}')).toBeGreaterThan(0);
  expect(count('codemode_tool_call_duration_seconds_count\\{server="legacy",outcome="success"\\}')).toBeGreaterThan(0);
  expect(count('codemode_upstream_call_duration_seconds_count\\{server="legacy",outcome="failure"\\}')).toBeGreaterThan(
    0,
  );
  expect(text).not.toMatch(/meta|hostile|forbidden/);
});

test('the log is JSON on the console and in owner-only rotated files, with runs and traces [C14]', async () => {
  const trace = newTrace();
  await execute('return 1', { traceparent: trace.traceparent });
  for (let index = 0; index < 60; index++) await execute('return 1');
  const console = server
    .stderr()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const ofTrace = console.filter(({ traceId }) => traceId === trace.traceId);
  expect(ofTrace).toEqual([
    {
      time: expect.stringMatching(/Z$/),
      level: 'debug',
      message: expect.stringMatching(/^completed after [\d.]+ ms, profile unified$/),
      runId: expect.stringMatching(/^[\da-f-]{36}$/),
      traceId: trace.traceId,
    },
  ]);
  const files = readdirSync(home.work).filter((name) => name.startsWith('LOG'));
  expect(files.length).toBe(3);
  const written = files.map((name) => ({ name, text: readFileSync(join(home.work, name), 'utf8') }));
  for (const { name, text } of written) {
    expect(text.length).toBeLessThanOrEqual(LOG_BYTES);
    for (const line of text.trim().split('\n')) expect(JSON.parse(line)).toHaveProperty('message');
    expect(statSync(join(home.work, name)).mode & 0o777).toBe(0o600);
  }
});
