import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { everyday, openHome, startServe } from '../../support/program.js';
import { listed, restClient } from '../../support/rest.js';

const web = createServer((_, response) => response.end('x'));
const granted = mkdtempSync(join(tmpdir(), 'codemode-granted-'));
let home: ReturnType<typeof openHome>;
let server: Awaited<ReturnType<typeof startServe>>;
let rest: ReturnType<typeof restClient>;
let webPort = 0;

beforeAll(async () => {
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
  webPort = (web.address() as AddressInfo).port;
  for (const name of ['note.txt', 'note.bin']) writeFileSync(join(granted, name), name);
  writeFileSync(join(granted, 'data.txt'), '{"a": 1}\n');
  home = openHome({
    mcpServers: { everyday: everyday(), missing: { command: '/nonexistent/server' } },
    policy: [{ tools: 'everyday/*', decision: 'allow' }],
    security: {
      auth: {
        tokens: [
          listed('busy'),
          listed('bursting'),
          listed('surfing'),
          listed('counting'),
          listed('reading'),
          listed('filing'),
          { ...listed('narrow'), capabilities: { mcp: { allowedServers: ['everyday'], allowedTools: ['echo'] } } },
          { ...listed('reader'), capabilities: { filesystem: { allowedPaths: [granted], readOnly: true } } },
        ],
      },
      capabilities: {
        network: { allowedHosts: ['127.0.0.1'], allowedPorts: [webPort], maxRequestSize: '100KB' },
        filesystem: {
          allowedPaths: [granted],
          readOnly: false,
          allowedExtensions: ['.txt', '.md'],
          maxFileSize: '100KB',
        },
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
  rmSync(granted, { recursive: true, force: true });
});

const execute = async (code: string, capabilities: unknown = [], token = server.token) => {
  const { status, body } = await rest.post('/execute', token, { code, capabilities, timeout: 10_000 });
  return { status, ...body } as typeof body & { status: number };
};
const readable = () => [`filesystem:${granted}`];
const reachable = () => [`network:127.0.0.1:${webPort}`];

describe('limits per second', () => {
  /** When each call that was made began and had ended: it was counted somewhere in between. */
  const calling = (call: string) => `const until = Date.now() + 2200; const made = [];
    while (Date.now() < until) {
      const begun = Date.now();
      try { await ${call}; made.push([begun, Date.now()]) } catch { await new Promise((done) => setTimeout(done, 25)) }
    }
    return made`;
  /** The most calls that certainly fell within one second. */
  const mostInASecond = (calls: readonly (readonly [number, number])[]) =>
    Math.max(...calls.map(([from]) => calls.filter(([begun, ended]) => begun >= from && ended < from + 1_000).length));

  test('are not doubled by a burst [C6]', async () => {
    const { result } = await execute(calling('mcp.everyday.echo("x")'), ['mcp:everyday'], 'bursting');
    const most = mostInASecond(result as [number, number][]);
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(5);
  });

  test('hold for a token, however many runs it has [C6]', async () => {
    const run = async (call: string, capability: string, token: string) => {
      const answers = await Promise.all([1, 2, 3].map(() => execute(calling(call), [capability], token)));
      return mostInASecond(answers.flatMap(({ result }) => result as [number, number][]));
    };
    expect(await run('mcp.everyday.echo("x")', 'mcp:everyday', 'busy')).toBeLessThanOrEqual(5);
    const fetching = `fetch('http://127.0.0.1:${webPort}/')`;
    expect(await run(fetching, reachable()[0] ?? '', 'busy')).toBeLessThanOrEqual(10);
  });

  test('of requests are a network error, of tool calls one of mcp [C6, C13]', async () => {
    const { error } = await execute(`for (;;) await fetch('http://127.0.0.1:${webPort}/')`, reachable(), 'surfing');
    expect(error).toMatchObject({ type: 'network', code: 'RATE_LIMITED' });
    const calls = await execute(`for (;;) await mcp.everyday.echo('x')`, ['mcp:everyday'], 'surfing');
    expect(calls.error).toMatchObject({ type: 'mcp', code: 'RATE_LIMITED' });
  });
});

describe('a request that asks for more than it may have', () => {
  test.each<[string, () => object]>([
    ['mcp.maxCallsPerSecond', () => ({ mcp: { allowedServers: ['everyday'], maxCallsPerSecond: 50 } })],
    [
      'network.maxRequestsPerSecond',
      () => ({ network: { allowedHosts: ['127.0.0.1'], allowedPorts: [webPort], maxRequestsPerSecond: 50 } }),
    ],
    [
      'network.maxRequestSize',
      () => ({ network: { allowedHosts: ['127.0.0.1'], allowedPorts: [webPort], maxRequestSize: 5e6 } }),
    ],
    ['filesystem.maxFileSize', () => ({ filesystem: { allowedPaths: [granted], maxFileSize: 5e6 } })],
    [
      'filesystem.allowedExtensions',
      () => ({ filesystem: { allowedPaths: [granted], allowedExtensions: ['.txt', '.bin'] } }),
    ],
    ['system:env', () => ({ system: { env: true } })],
  ])('is refused with what it is: %s [C6, C13]', async (violation, capabilities) => {
    const answer = await execute('return 1', capabilities());
    expect([answer.status, answer.error]).toMatchObject([
      403,
      { type: 'security', code: 'CAPABILITY_VIOLATION', details: { violation: expect.stringContaining(violation) } },
    ]);
  });

  test('is told what it got, where it did not say how much it wanted [C6]', async () => {
    const tools = await execute('return mcp.everyday.echo("x")', ['mcp:everyday'], 'narrow');
    expect(tools).toMatchObject({
      success: true,
      result: 'x',
      logs: [expect.stringMatching(/^warning: .*only.*echo/)],
    });
    const files = await execute(`return fs.readFile('${granted}/note.txt')`, readable());
    expect(files.result).toBe('note.txt');
    expect(files.logs).toEqual([
      expect.stringMatching(/^warning: .*102400 bytes/),
      expect.stringMatching(/^warning: .*\.txt/),
    ]);
    const asked = { filesystem: { allowedPaths: [granted], allowedExtensions: ['.txt'], maxFileSize: 1000 } };
    expect((await execute(`return fs.readFile('${granted}/note.txt')`, asked)).logs).toEqual([]);
  });

  test('gets a tool that its token names, in each way to write it, and no other [C6]', async () => {
    const narrow = (capabilities: unknown) => execute('return mcp.everyday.echo("x")', capabilities, 'narrow');
    const echo = { allowedServers: ['everyday'], allowedTools: ['everyday.echo'] };
    for (const capabilities of [['mcp:everyday/echo'], { mcp: echo }])
      expect(await narrow(capabilities)).toMatchObject({ status: 200, result: 'x' });
    expect(await narrow(['mcp:everyday/add'])).toMatchObject({
      status: 403,
      error: { details: { violation: 'mcp:everyday/add' } },
    });
  });

  test('is told which names in it match no server and no tool [C6]', async () => {
    const { success, logs } = await execute('return 1', ['mcp:everday', 'mcp:everyday/ecko', 'mcp:everyday/add']);
    expect([success, logs]).toEqual([
      true,
      [
        'warning: mcp:everday grants nothing: there is no server "everday"; did you mean "everyday"?',
        'warning: "everyday/ecko" grants nothing: no granted server has such a tool; did you mean "echo"?',
      ],
    ]);
    expect((await execute('return 1', ['mcp:missing', 'mcp:every*'])).logs).toEqual([]);
  });

  test('an empty system grant asks for nothing [C6]', async () => {
    expect(await execute('return 1', { system: {} })).toMatchObject({ status: 200, result: 1 });
    expect(await execute('return 1', ['system:clock'])).toMatchObject({
      status: 403,
      error: { code: 'CAPABILITY_VIOLATION', details: { violation: 'system:clock' } },
    });
  });
});

describe('what a program does without a grant is a capability violation that names it', () => {
  test.each<[string, () => string, () => unknown, () => string]>([
    ['fetch', () => `await fetch('https://a.example/')`, () => [], () => 'network:a.example:443'],
    ['fs', () => `await fs.readFile('/etc/passwd')`, () => [], () => 'filesystem:/etc/passwd'],
    [
      'a file with another extension',
      () => `await fs.readFile('${granted}/note.bin')`,
      readable,
      () => `filesystem:${granted}/note.bin with the extension .bin`,
    ],
    [
      'a write where only reading was granted',
      () => `await fs.writeFile({ path: '${granted}/new.txt', text: 'x' })`,
      readable,
      () => `filesystem:${granted}/new.txt for writing`,
    ],
    [
      'a write with another extension',
      () => `await fs.writeFile({ path: '${granted}/new.bin', text: 'x' })`,
      () => ({ filesystem: { allowedPaths: [granted], readOnly: false, allowedExtensions: ['.txt'] } }),
      () => `filesystem:${granted}/new.bin with the extension .bin`,
    ],
    [
      'a file with another extension outside of the folder',
      () => `await fs.readFile('/etc/note.bin')`,
      readable,
      () => 'filesystem:/etc/note.bin',
    ],
    ['a dead server', () => 'await mcp.missing.tool()', () => [], () => 'mcp:missing'],
  ])('%s [C6, C13]', async (_, code, capabilities, violation) => {
    const answer = await execute(code(), capabilities());
    expect([answer.status, answer.error]).toMatchObject([
      200,
      { type: 'security', code: 'CAPABILITY_VIOLATION', details: { violation: violation() } },
    ]);
    expect(existsSync(join(granted, 'new.txt'))).toBe(false);
  });
});

test('the hint for a refused file is a request that would be granted, or to do without it [C13]', async () => {
  const hintOf = async (code: string, capabilities: unknown = readable(), token = server.token) =>
    String((await execute(code, capabilities, token)).error?.details?.hint);
  const asked = (hint: string) =>
    JSON.parse(/"capabilities": (\{.*\})\.$/.exec(hint)?.[1] ?? 'null') as { filesystem: object };
  const markdown = { filesystem: { allowedPaths: [granted], allowedExtensions: ['.md'] } };
  const both = asked(await hintOf(`await fs.readFile('${granted}/note.txt')`, markdown));
  expect(both).toEqual({ filesystem: { allowedPaths: [granted], allowedExtensions: ['.md', '.txt'] } });
  const write = `await fs.writeFile('${granted}/new.txt', 'x')`;
  const writable = asked(await hintOf(write));
  expect(writable).toEqual({ filesystem: { allowedPaths: [granted], readOnly: false } });
  // A write needs both: the extension alone would be refused again.
  const ofMarkdown = { filesystem: { ...markdown.filesystem, readOnly: false } };
  const written = asked(await hintOf(write, ofMarkdown));
  expect(written).toEqual({ filesystem: { ...both.filesystem, readOnly: false } });
  for (const request of [both, writable, written])
    expect(await execute('return 1', request)).toMatchObject({ status: 200, result: 1 });
  expect(await hintOf(`await fs.readFile('${granted}/note.bin')`)).toMatch(/^Continue without it/);
  expect(await hintOf(write, readable(), 'reader')).toMatch(/^Continue without it/);
});

test("files use the encodings of Node's fs, and an unknown encoding is refused by name [C6]", async () => {
  const read = (encoding: string) => `fs.readFile('${granted}/note.txt', ${encoding})`;
  const code = (...calls: string[]) =>
    `return Promise.all([${calls.join(', ')}].map((each) => each.catch((e) => e.message)))`;
  const ways = ["'utf8'", "'utf-8'", "{ encoding: 'utf8' }", 'null', "'base64'", "'rot13'"].map(read);
  const { result } = await execute(code(...ways), readable(), 'reading');
  const text = 'note.txt';
  expect(result).toEqual([text, text, text, text, btoa(text), expect.stringContaining('"utf8"')]);
});

test('a file is text also where it holds JSON, and files are not counted as calls of servers [C6]', async () => {
  const read = `fs.readFile('${granted}/data.txt')`;
  // More at once than calls of servers may be made in a second.
  const code = `const texts = await Promise.all(Array.from({ length: 8 }, () => ${read}));
    return [[...new Set(texts)], JSON.parse(texts[0]).a, await mcp.everyday.echo('x')]`;
  const { result, error } = await execute(code, [...readable(), 'mcp:everyday'], 'filing');
  expect([result, error]).toEqual([[['{"a": 1}\n'], 1, 'x'], undefined]);
});

test('a server that cannot be reached is SERVER_UNAVAILABLE, whichever tool is called [C13]', async () => {
  for (const code of ['await mcp.missing.tool()', 'const { other } = mcp.missing; await other({ a: 1 })']) {
    const { error } = await execute(code, ['mcp:missing']);
    expect(error).toMatchObject({ type: 'mcp', code: 'SERVER_UNAVAILABLE' });
    expect(error?.message).toContain('missing');
  }
  const caught = await execute('return mcp.missing.tool().catch((e) => [e.name, e.hint])', ['mcp:missing']);
  expect(caught.result).toEqual(['ToolCallError', expect.stringContaining('codemode servers')]);
});

test('apiCalls counts the calls that reached a server, not those that were refused [C1]', async () => {
  const code = `await mcp.everyday.echo('x'); await mcp.everyday.fail().catch(() => {});
    await mcp.everyday.add('x', 1).catch(() => {}); await fetch('https://a.example/').catch(() => {});
    await fs.readFile('/etc/passwd').catch(() => {}); await mcp.missing.tool().catch(() => {}); return 1`;
  const { metrics, result } = await execute(code, ['mcp:everyday'], 'counting');
  expect([result, metrics]).toMatchObject([1, { apiCalls: 2 }]);
});

test('a preflight of another origin is refused with the fields of every other error [C13]', async () => {
  const response = await fetch(`${server.url}/api/v1/execute`, {
    method: 'OPTIONS',
    headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
  });
  const body = (await response.json()) as { requestId: string };
  expect([response.status, body]).toEqual([
    403,
    {
      error: {
        type: 'security',
        code: 'FORBIDDEN',
        message: expect.stringMatching(/^web pages of this origin may not call/),
        timestamp: expect.any(String),
        requestId: body.requestId,
      },
      requestId: expect.stringMatching(/^[\da-f-]{36}$/),
    },
  ]);
});

test('another method than that of a route is 405, with those there are [C1, C13]', async () => {
  for (const [method, path, allow] of [
    ['GET', '/execute', 'POST'],
    ['DELETE', '/tools', 'GET, HEAD'],
    ['POST', '/runs/some', 'GET, HEAD'],
  ] as const) {
    const response = await fetch(`${server.url}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${server.token}` },
    });
    const { error } = (await response.json()) as { error: object };
    expect([path, response.status, response.headers.get('allow'), error]).toMatchObject([
      path,
      405,
      allow,
      { type: 'validation', code: 'METHOD_NOT_ALLOWED' },
    ]);
  }
});
