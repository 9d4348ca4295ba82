import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needs } from '../../support/needs.js';
import { everyday, nodeServer, openHome, PROGRAM, startServe } from '../../support/program.js';
import { listed, restClient } from '../../support/rest.js';
import { fixture } from '../../support/upstreams.js';

/** Statements of the contract that are short and easily lost: one request each. */

const web = createServer((_, response) => response.end('page'));
let home: ReturnType<typeof openHome>;
let server: Awaited<ReturnType<typeof startServe>>;
let rest: ReturnType<typeof restClient>;
let webPort = 0;
let folder = '';

beforeAll(async () => {
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
  webPort = (web.address() as AddressInfo).port;
  folder = mkdtempSync(join(tmpdir(), 'codemode-test-'));
  const script = join(folder, 'script.json');
  writeFileSync(script, JSON.stringify({ tools: [{ name: 'say-hello', inputSchema: { type: 'object' } }] }));
  home = openHome({
    mcpServers: { everyday: everyday(), 'every-day': nodeServer(fixture('scripted-server.mjs'), script) },
    policy: [{ tools: '*/*', decision: 'allow' }],
    sandbox: { workers: { min: 1 }, retryOnTimeout: true, unsafelyAllowNoJail: true },
    security: {
      auth: {
        tokens: ['ann', 'bob', 'manager'].map((name) => listed(name, ...(name === 'manager' ? ['servers'] : []))),
      },
      capabilities: {
        network: { allowedHosts: ['127.0.0.1'], allowedPorts: [webPort] },
        mcp: { maxCallsPerSecond: 4 },
      },
    },
  });
  server = await startServe(home);
  rest = restClient(server.url, server.token);
}, 60_000);
afterAll(async () => {
  await server?.stop();
  web.close();
  home?.[Symbol.dispose]();
  rmSync(folder, { recursive: true, force: true });
});

const execute = async (code: string, more: object = {}, token = server.token) =>
  (await rest.post('/execute', token, { code, ...more })).body;

test('context is an empty object where the request has none [C1]', async () => {
  expect(await execute('return context')).toMatchObject({ success: true, result: {} });
});

test('values that JSON cannot hold are reported in the logs, and usual omissions are not [C1]', async () => {
  const { result, logs } = await execute(
    'return { price: NaN, at: new Date(NaN), tags: new Set([1]), gone: undefined }',
  );
  expect(result).toEqual({ price: null, at: null, tags: {} });
  expect(logs).toEqual([
    'warning: `result` had what JSON cannot hold: NaN at /price, an invalid Date at /at, a Set at /tags and 1 more; sent as null or {}, or left out. Return a string, a number or null there.',
  ]);
  expect(await execute('return { a: 1, gone: undefined }')).toMatchObject({ result: { a: 1 }, logs: [] });
});

test.each<[string, string, string, RegExp, RegExp]>([
  ['mcp', 'TOOL_NOT_FOUND', 'await mcp.everyDay.sayHallo()', /has no such tool/, /mcp\.everyDay\.sayHello /],
  [
    'mcp',
    'SERVER_NOT_FOUND',
    "await mcp['every-day'].sayHello()",
    /mcp has no "every-day"/,
    /^Use mcp\.everyDay instead/,
  ],
  ['mcp', 'SERVER_NOT_FOUND', 'await mcp.nowhere.tool()', /mcp has no "nowhere"/, /everyDay/],
  [
    'runtime',
    'RUNTIME_ERROR',
    'await fs.readFileSync("/x")',
    /fs\.readFileSync is not a function/,
    /readFile, writeFile/,
  ],
  ['runtime', 'RUNTIME_ERROR', 'const a = {}; a.b.c', /cannot read property 'c' of undefined/, /^undefined$/],
  [
    'validation',
    'SYNTAX_ERROR',
    'import x from "y"; return x',
    /import and export are not supported/,
    /body of a function/,
  ],
  ['validation', 'SYNTAX_ERROR', 'export default 1', /import and export are not supported/, /body of a function/],
  ['validation', 'INVALID_ARGUMENTS', 'await fs.readFile("/x", "rot13")', /utf8/, /utf8/],
])('%s %s: %s says what to write instead [C13]', async (type, code, source, message, hint) => {
  const { error } = await execute(source, { capabilities: ['mcp:every-day'] });
  expect([error?.type, error?.code]).toEqual([type, code]);
  expect(error?.message).toMatch(message);
  expect(String(error?.details?.hint)).toMatch(hint);
});

test('types in code that is said to be JavaScript are named as what is wrong [C2]', async () => {
  const { error } = await execute('const a: number = 1; return a', { typescript: false });
  expect(error).toMatchObject({
    code: 'SYNTAX_ERROR',
    details: { hint: 'This is TypeScript: leave out `typescript: false`.' },
  });
  const { error: mistake } = await execute('return (', { typescript: false });
  expect(mistake?.details).not.toHaveProperty('hint');
});

test('errors name server and tool as code writes them [C13]', async () => {
  const { error } = await execute('await mcp.everyDay.sayHello(1, 2)', { capabilities: ['mcp:every-day'] });
  expect(error?.message).toContain('everyDay.sayHello takes');
  const { error: unknown } = await execute('await mcp.everyDay.sayGoodbye()', { capabilities: ['mcp:every-day'] });
  expect(unknown?.message).toContain('everyDay has no such tool');
});

test('code that failed has no result, and an error with the stack in its own lines [C1, C13]', async () => {
  const failed = await execute('const a = 1;\nthrow new Error("no")');
  expect(failed.success).toBe(false);
  expect(failed).not.toHaveProperty('result');
  expect(failed.error).toMatchObject({ stack: expect.stringMatching(/:2/) });
});

test('apiCalls counts calls of tools and nothing else [C1]', async () => {
  const code = `await fetch('http://127.0.0.1:${webPort}/'); return await mcp.everyday.echo('x')`;
  const capabilities = ['mcp:everyday', `network:127.0.0.1:${webPort}`];
  expect(await execute(code, { capabilities }, 'ann')).toMatchObject({ result: 'x', metrics: { apiCalls: 1 } });
});

test('a tool of the listing keeps its required properties [C3]', async () => {
  const { body } = await rest.get('/tools', server.token);
  const { everyday } = body.namespaces as Record<
    string,
    { tools: { name: string; inputSchema: { required?: string[] } }[] }
  >;
  expect(everyday?.tools.find(({ name }) => name === 'add')?.inputSchema.required).toEqual(['a', 'b']);
});

test('what was not granted is named in the message [C13]', async () => {
  const { error } = await execute(`return await mcp.everyday.echo('x')`);
  expect(error).toMatchObject({ code: 'CAPABILITY_VIOLATION', message: expect.stringContaining('mcp:everyday') });
});

test('hints name what this contract has, and positional arguments are counted [C13]', async () => {
  const hintOf = async (call: string) => {
    const { error } = await execute(`return await ${call}`, { capabilities: ['mcp:everyday'] });
    return `${error?.message} ${error?.details?.hint}`;
  };
  expect(await hintOf('mcp.everyday.zzzzzzzzzzzz()')).not.toMatch(/@codemode|getTool/);
  expect(await hintOf('mcp.everyday.add(1, 2, 3)')).toContain('at most 2 arguments');
});

test('a tool list that leaves a tool out is named with the tool; the id server.tool is an entry [C6]', async () => {
  const mcp = (allowedTools: string[]) => ({ mcp: { allowedServers: ['everyday'], allowedTools } });
  const code = `return await mcp.everyday.echo('x')`;
  expect(await execute(code, { capabilities: mcp(['everyday.echo']) })).toMatchObject({ success: true, result: 'x' });
  expect((await execute(code, { capabilities: mcp(['add']) })).error).toMatchObject({
    code: 'CAPABILITY_VIOLATION',
    details: { violation: 'mcp:everyday/echo' },
  });
});

test('a failure other than a timeout is not retried [C13]', async () => {
  const before = await execute('return await mcp.everyday.count()', { capabilities: ['mcp:everyday'] }, 'bob');
  const failed = await execute(
    'await mcp.everyday.count(); throw new Error("no")',
    { capabilities: ['mcp:everyday'] },
    'bob',
  );
  expect(failed.success).toBe(false);
  const after = await execute('return await mcp.everyday.count()', { capabilities: ['mcp:everyday'] }, 'bob');
  expect(Number(after.result) - Number(before.result)).toBe(2);
});

describe('a server that was registered while the host runs', () => {
  test('is granted by network:NAME too [C6]', async () => {
    await rest.post('/servers', 'manager', { name: 'later', transport: 'stdio', ...everyday() });
    const code = `return await mcp.later.echo('x')`;
    expect(await execute(code, { capabilities: ['network:later'] })).toMatchObject({ success: true, result: 'x' });
  });

  test('is answered for as soon as it is ready, while another does not answer [C7]', async () => {
    const silent = { command: process.execPath, args: ['-e', 'process.stdin.resume()'], connectTimeout: '60s' };
    let isSilent = true;
    const waiting = rest.post('/servers', 'manager', { name: 'silent', ...silent }).finally(() => {
      isSilent = false;
    });
    const { body } = await rest.post('/servers', 'manager', { name: 'prompt', ...everyday() });
    expect([body, isSilent]).toEqual([expect.objectContaining({ name: 'prompt', state: 'ready' }), true]);
    const headers = { authorization: 'Bearer manager' };
    await fetch(`${server.url}/api/v1/servers/silent`, { method: 'DELETE', headers });
    expect(await waiting).toMatchObject({ status: 404, body: { error: { code: 'NOT_FOUND' } } });
  });
});

test('with host 0.0.0.0 it listens on all addresses [C12]', needs('bubblewrap'), () => {
  // In its own network, so that nobody else can connect.
  const script = `
    const { spawn } = require('node:child_process');
    const words = ['--config', ${JSON.stringify(home.configFile)}, 'serve', '--host', '0.0.0.0', '--port', '0'];
    const child = spawn(process.execPath, [${JSON.stringify(PROGRAM)}, ...words, '--isolation', 'none']);
    let text = '', isAsked = false;
    child.stderr.on('data', async (chunk) => {
      text += chunk;
      const port = /listening on http:\\S*:(\\d+)/.exec(text)?.[1];
      if (port === undefined || isAsked) return;
      isAsked = true;
      const answer = await fetch('http://127.0.0.2:' + port + '/healthz').then((each) => each.text(), String);
      child.kill();
      child.once('exit', () => process.stdout.write(answer));
    });`;
  const words = ['--dev-bind', '/', '/', '--unshare-net', '--die-with-parent', process.execPath, '-e', script];
  const { stdout, stderr } = spawnSync('bwrap', words, { env: home.environment, encoding: 'utf8', timeout: 30_000 });
  expect(JSON.parse(stdout || '{}'), stderr).toEqual({ status: 'ok' });
});
