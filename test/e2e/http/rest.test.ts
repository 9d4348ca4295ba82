import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needs } from '../../support/needs.js';
import { everyday, openHome, run, startServe } from '../../support/program.js';
import { listed, restClient } from '../../support/rest.js';

const web = createServer((request, response) => {
  response.setHeader('x-seen', request.method ?? '');
  response.end(JSON.stringify({ path: request.url }));
});
let home: ReturnType<typeof openHome>;
let server: Awaited<ReturnType<typeof startServe>>;
let rest: ReturnType<typeof restClient>;
let webPort = 0;
let granted = '';

beforeAll(async () => {
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
  webPort = (web.address() as AddressInfo).port;
  const tokens = [
    { ...listed('narrow'), capabilities: ['mcp:everyday/echo'] },
    listed('reader', 'tools'),
    listed('admin', 'servers'),
    listed('ann', 'approve'),
  ];
  const granting = openHome({});
  granted = join(granting.work, 'granted');
  mkdirSync(granted);
  writeFileSync(join(granted, 'note.txt'), 'a note');
  home = openHome({
    mcpServers: { everyday: everyday(), 'my-tools.v2': everyday() },
    check: { compiler: fileURLToPath(new URL('../../../node_modules/typescript-native', import.meta.url)) },
    security: {
      auth: { tokens },
      capabilities: {
        network: { allowedHosts: ['127.0.0.1'], allowedPorts: [webPort] },
        filesystem: { allowedPaths: [granted] },
        // Tests make calls one after the other with the same token.
        mcp: { maxCallsPerSecond: 1_000 },
      },
    },
  });
  server = await startServe(home);
  rest = restClient(server.url, server.token);
}, 60_000);
afterAll(async () => {
  await server?.stop();
  web.close();
});

async function post(path: string, body: unknown, token = server.token) {
  return rest.post(path, token, body);
}
const get = (path: string, token = server.token) => rest.get(path, token);
const execute = (body: object, token?: string) => post('/execute', body, token);
const EVERYDAY = { capabilities: ['mcp:everyday'] };

test('code runs over REST, whatever the profile, and is answered with what it returned and used [C1]', async () => {
  const code = `console.log('Searching', context.userId);
    const said: string = await mcp.everyday.echo({ message: 'hello' });
    return { said, again: await mcp.everyday.echo('by position') };`;
  const { status, body } = await execute({ code, ...EVERYDAY, context: { userId: 'user123', requestId: 'req456' } });
  expect({ status, body }).toEqual({
    status: 200,
    body: {
      success: true,
      result: { said: 'hello', again: 'by position' },
      metrics: {
        executionTime: expect.any(Number),
        memoryUsed: expect.any(Number),
        cpuTime: expect.any(Number),
        apiCalls: 2,
      },
      logs: ['Searching user123'],
      requestId: 'req456',
    },
  });
  expect(body.metrics?.cpuTime).toBeGreaterThan(0);
  expect(body.metrics?.memoryUsed).toBeGreaterThan(0);
  const plain = await execute({ code: 'return 1 as any', typescript: false });
  expect(plain.body.error).toMatchObject({
    type: 'validation',
    code: 'SYNTAX_ERROR',
    details: { position: { line: 1 } },
  });
  expect(plain.body.requestId).toMatch(/^[\da-f-]{36}$/);
});

test.each<[unknown, string]>([
  ['', 'must be an object'],
  ['{', 'JSON'],
  [[], 'must be an object'],
  [{}, 'code: is missing'],
  [{ source: 'return 1' }, 'code: is missing; source is not known: give the program as code'],
  [{ code: 7 }, 'code: must be a string'],
  [{ code: '' }, 'code: is empty'],
  [{ code: '1', timeout: 0 }, 'timeout: must be a whole number'],
  [{ code: '1', timeout: '5' }, 'timeout: must be a whole number'],
  [{ code: '1', timeout: 600_001 }, 'timeout: must be at most 600000'],
  [{ code: '1', memoryLimit: 1.5 }, 'memoryLimit: must be a whole number'],
  [{ code: '1', typescript: 'yes' }, 'typescript: must be true or false'],
  [{ code: '1', context: [] }, 'context: must be an object'],
  [{ code: '1', capabilities: 'mcp:x' }, 'capabilities: must be an array'],
  [{ code: '1', capabilities: { system: true } }, 'capabilities: system'],
  [{ code: '1', capabilities: ['nonsense'] }, 'write kind:target'],
  [{ code: '1', timeoutMs: 5 }, 'timeoutMs: is not known; did you mean timeout?'],
])('a request that is malformed is refused with 400 and the field: %j [C1, C13]', async (body, message) => {
  const { status, body: answer } = await post('/execute', body);
  expect([status, answer.error?.type]).toEqual([400, 'validation']);
  expect(answer.error?.message).toContain(message);
  expect(answer.error?.requestId).toBe(answer.requestId);
});

describe('what goes wrong in code', () => {
  test.each<[string, string, object, object]>([
    [
      'a timeout',
      'for (;;);',
      { timeout: 200 },
      {
        type: 'timeout',
        code: 'EXECUTION_TIMEOUT',
        message: 'Code execution timed out after 200ms',
        details: { timeout: 200 },
      },
    ],
    [
      'memory',
      'const a = []; for (;;) a.push(new Array(1e5).fill(1.5))',
      { memoryLimit: 8e6 },
      { type: 'memory', code: 'MEMORY_LIMIT' },
    ],
    [
      'an exception',
      '\n  throw new RangeError("no")',
      {},
      {
        type: 'runtime',
        code: 'RUNTIME_ERROR',
        message: 'RangeError: no',
        details: { position: { line: 2, column: 13 } },
      },
    ],
    ['a tool', 'await mcp.everyday.fail({})', EVERYDAY, { type: 'mcp' }],
    [
      'arguments',
      'const message: unknown = 5; await mcp.everyday.echo({ message } as never)',
      EVERYDAY,
      { type: 'validation', code: 'INVALID_ARGUMENTS' },
    ],
    [
      'a literal of the wrong type',
      'await mcp.everyday.echo({ message: 5 })',
      EVERYDAY,
      { type: 'validation', code: 'TYPE_ERROR' },
    ],
    [
      'a call that was not granted',
      'await mcp.everyday.echo("x")',
      {},
      {
        type: 'security',
        code: 'CAPABILITY_VIOLATION',
        details: { violation: 'mcp:everyday', hint: 'Ask for it in the request: "capabilities": ["mcp:everyday"].' },
      },
    ],
    ['a result that is not data', 'return () => 1', {}, { type: 'runtime', code: 'RESULT_NOT_SERIALIZABLE' }],
  ])('%s is an answer with its own type and code [C13]', async (_, code, options, error) => {
    const { status, body } = await execute({ code, ...options });
    expect(status).toBe(200);
    expect(body).toMatchObject({ success: false, error: { ...error, timestamp: expect.any(String) } });
  });
});

describe('capabilities', () => {
  test('what the token or the configuration does not grant is refused before anything runs [C5, C6]', async () => {
    const code = 'return 1';
    const asked = async (capabilities: unknown, token?: string) => {
      const { status, body } = await execute({ code, capabilities }, token);
      return [status, body.error?.code, body.error?.details?.violation];
    };
    const no = (violation: string) => [403, 'CAPABILITY_VIOLATION', violation];
    expect(await asked(['network:evil.example:443'])).toEqual(no('network:evil.example:443'));
    expect(await asked(['filesystem:/etc'])).toEqual(no('filesystem:/etc'));
    expect(await asked({ filesystem: { allowedPaths: [granted], readOnly: false } })).toEqual(
      no(`filesystem:${granted} for writing`),
    );
    expect(await asked(['mcp:my-tools.v2'], 'narrow')).toEqual(no('mcp:my-tools.v2'));
    expect(await asked([`filesystem:${granted}`], 'narrow')).toEqual(no(`filesystem:${granted}`));
    expect(await asked(['mcp:everyday/echo'], 'narrow')).toEqual([200, undefined, undefined]);
    expect(await asked(['network:everyday'])).toEqual([200, undefined, undefined]);
    expect(await asked(['system:clock'])).toEqual(no('system:clock'));
    expect(await asked({ system: {} })).toEqual([200, undefined, undefined]);
  });

  test('a token that is granted one tool reaches no other one [C5, C6]', async () => {
    const code = 'return [await mcp.everyday.echo("x"), Object.keys(mcp.everyday)]';
    const { body } = await execute({ code, capabilities: ['mcp:everyday'] }, 'narrow');
    expect(body.result).toEqual(['x', ['echo']]);
    const other = await execute(
      { code: 'return await mcp.everyday.add(1, 2)', capabilities: ['mcp:everyday'] },
      'narrow',
    );
    expect(other.body.error).toMatchObject({
      ...{ type: 'security', code: 'CAPABILITY_VIOLATION', details: { violation: 'mcp:everyday/add' } },
    });
  });

  test('fetch and fs reach what was granted only [C6]', async () => {
    const code = `const answer = await fetch('http://127.0.0.1:${webPort}/a', { method: 'POST', body: 'x' });
      const other = await fetch('http://127.0.0.1:1/').catch((e) => e.message);
      return [answer.ok, answer.headers.get('X-Seen'), await answer.json(), other, await fs.readFile('${granted}/note.txt'),
        (await fs.listFolder('${granted}')).entries.length, await fs.readFile('/etc/passwd').catch((e) => e.message)]`;
    const capabilities = [`network:127.0.0.1:${webPort}`, `filesystem:${granted}`];
    const { body } = await execute({ code, capabilities });
    expect(body.result).toEqual([
      true,
      'POST',
      { path: '/a' },
      expect.stringContaining('network:127.0.0.1:1'),
      'a note',
      1,
      expect.stringContaining('not granted filesystem:/etc/passwd'),
    ]);
    const violated = await execute({ code: `await fs.readFile('/etc/passwd')`, capabilities });
    expect(violated.body.error).toMatchObject({
      type: 'security',
      code: 'CAPABILITY_VIOLATION',
      details: { violation: 'filesystem:/etc/passwd' },
    });
  });

  test('calls faster than the grant fail with the time to wait [C6]', async () => {
    const code = `const all = await Promise.allSettled(Array.from({ length: 8 }, () => mcp.everyday.echo('x')));
      return all.filter((each) => each.status === 'rejected').map((each) => each.reason.message)`;
    const { body } = await execute({ code, ...EVERYDAY });
    expect(body.result).toHaveLength(3);
    expect((body.result as string[])[0]).toMatch(/ms|second/);
  });
});

test('tools are listed by namespace, under the names that code calls them by [C2, C3]', async () => {
  const { status, body } = await get('/tools');
  const namespaces = body.namespaces as Record<
    string,
    { description: string; tools: { name: string; inputSchema: object }[] }
  >;
  expect([status, Object.keys(namespaces)]).toEqual([200, ['everyday', 'myToolsV2']]);
  expect(namespaces.everyday?.tools.find(({ name }) => name === 'echo')).toMatchObject({
    inputSchema: { type: 'object', properties: { message: { type: 'string' } } },
  });
  const { body: answer } = await execute({ code: 'return mcp.myToolsV2.echo("x")', capabilities: ['mcp:my-tools.v2'] });
  expect(answer.result).toBe('x');
});

test('a note about failed calls has the namespace that code writes [C3]', async () => {
  const code = 'await mcp.myToolsV2.fail().catch(() => {}); return 1';
  const { body } = await execute({ code, capabilities: ['mcp:my-tools.v2'] });
  expect(body.logs).toEqual([
    expect.stringMatching(/^warning: 1 of 1 calls failed, and the program continued: myToolsV2\/fail \(1\)/),
  ]);
});

test.each([
  // As text it is one value of the server's message. Parsing it stopped everybody for seconds.
  ['millions of values', "'[' + '{},'.repeat(1_000_001) + '{}]'"],
  // Writing the parsed value overflowed the stack, and a call that was made had failed.
  ['thousands of levels', "'['.repeat(5_000) + ']'.repeat(5_000)"],
])('a text that holds %s of JSON stays a text', async (_, text) => {
  const code = `const text = ${text}; return (await mcp.everyday.echo({ message: text })) === text`;
  expect((await execute({ code, ...EVERYDAY })).body).toMatchObject({ result: true });
});

test('the types of a program are checked with the tools that the token may call', needs('bubblewrap'), async () => {
  const code = "import * as all from '@codemode/servers/everyday';\nawait all.add({ a: 'one', b: 2 });";
  const problem = (each: object) => ({
    status: 200,
    body: { isChecked: true, problems: [{ severity: 'error', ...each }] },
  });
  expect(await post('/check', { code })).toMatchObject(problem({ code: 2322, line: 2, column: 17 }));
  expect(await post('/check', { code }, 'narrow')).toMatchObject(problem({ code: 2339, line: 2, column: 11 }));
  expect(await post('/check', { code: 5 })).toMatchObject({ status: 400 });
  expect(await post('/check', { code }, 'reader')).toMatchObject({ status: 403 });
});

test('tokens open what they are good for: 401 without one, 403 with another scope [C5, C13]', async () => {
  const wrong = await execute({ code: '1' }, 'wrong');
  expect([wrong.status, wrong.body.error?.type, wrong.body.error?.code]).toEqual([401, 'security', 'UNAUTHORIZED']);
  const reader = await execute({ code: '1' }, 'reader');
  expect([reader.status, reader.body.error?.code]).toEqual([403, 'FORBIDDEN']);
  expect((await get('/tools', 'reader')).status).toBe(200);
  expect((await get('/approvals')).status).toBe(403);
  expect(await get('/approvals', 'ann')).toMatchObject({ status: 200, body: { approvals: [] } });
});

test('a client that disconnects ends its run; only its caller can see and cancel a run [C1]', async () => {
  const code = 'return await mcp.everyday.slow({ ms: 60_000 })';
  const hangUp = new AbortController();
  const leaving = fetch(`${server.url}/api/v1/execute`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${server.token}` },
    body: JSON.stringify({ code, ...EVERYDAY }),
    signal: hangUp.signal,
  }).catch(() => 'gone');
  const runs = async () => (await get('/runs')).body.runs as { runId: string; state: string }[];
  const running = async () => (await runs()).filter(({ state }) => state === 'running');
  await expect.poll(running).toHaveLength(1);
  hangUp.abort();
  expect(await leaving).toBe('gone');
  await expect.poll(running).toHaveLength(0);

  const waiting = execute({ code, ...EVERYDAY });
  await expect.poll(running).toHaveLength(1);
  const [mine] = await running();
  expect((await post(`/runs/${mine?.runId}/cancel`, {}, 'narrow')).status).toBe(404);
  expect((await post(`/runs/${mine?.runId}/cancel`, {})).status).toBe(200);
  expect((await waiting).body).toMatchObject({ success: false, error: { code: 'CANCELLED' } });
  expect((await get('/runs/none')).status).toBe(404);
});

test.each(['legacy', 'modern'] as const)(
  'over MCP a token reaches no more than its capabilities either, in the %s era [C5]',
  async (era) => {
    const mode = era === 'modern' ? ({ pin: '2026-07-28' } as const) : 'legacy';
    const client = new Client({ name: 'test', version: '0' }, { versionNegotiation: { mode } });
    const requestInit = { headers: { authorization: 'Bearer narrow' } };
    await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { requestInit }));
    const { result } = await run(
      client,
      `import * as everyday from '@codemode/servers/everyday';
     globalThis.__codemode_result__ = [await everyday.echo({ message: 'x' }), Object.keys(everyday)];`,
    );
    expect(result).toEqual(['x', ['__meta__', 'echo']]);
    const { diagnostics } = await run(
      client,
      `import { add } from '@codemode/servers/everyday'; await add({ a: 1, b: 2 });`,
    );
    expect(diagnostics).toMatchObject([{ severity: 'error', message: expect.stringContaining('add') }]);
    await client.close();
  },
);

test('servers come and go over REST, for tokens that may add them [C7, C8]', async () => {
  expect((await get('/servers')).status).toBe(403);
  expect((await post('/servers', { name: 'x', command: 'true' })).status).toBe(403);
  const wrong = await post('/servers', { name: 'late', comand: 'x' }, 'admin');
  expect([wrong.status, wrong.body.error?.message]).toEqual([400, expect.stringContaining('comand')]);
  const added = await post('/servers', { name: 'late', ...everyday() }, 'admin');
  expect([added.status, added.body]).toEqual([
    201,
    expect.objectContaining({ name: 'late', state: 'ready', source: 'mcp' }),
  ]);
  const code = 'return mcp.late.echo("x")';
  expect((await execute({ code, capabilities: ['mcp:late'] })).body.result).toBe('x');
  expect((await post('/servers', { name: 'late', ...everyday() }, 'admin')).status).toBe(400);
  const remove = (name: string) =>
    fetch(`${server.url}/api/v1/servers/${name}`, { method: 'DELETE', headers: { authorization: 'Bearer admin' } });
  expect((await remove('late')).status).toBe(204);
  expect((await remove('late')).status).toBe(404);
  expect((await remove('codemode%2Fnetwork')).status).not.toBe(204);
  const { servers } = (await get('/servers', 'admin')).body as { servers: { name: string }[] };
  expect(servers.map(({ name }) => name)).toEqual(['everyday', 'my-tools.v2']);
});
