import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { everyday, openHome, run, startServe } from '../support/program.js';
import { listed, restClient } from '../support/rest.js';

/*
 * The quotas of one caller. Mallory takes all that there is; the quota refuses her more, and bob
 * notices nothing.
 */
let home: ReturnType<typeof openHome>;
let server: Awaited<ReturnType<typeof startServe>>;
let rest: ReturnType<typeof restClient>;
beforeAll(async () => {
  home = openHome({
    mcpServers: { everyday: everyday() },
    policy: { preset: 'open', rules: [{ tools: 'everyday/echo', decision: 'ask' }] },
    quotas: { runs: 3, memory: '1MiB', approvals: 2, sessions: 3, saved: 2 },
    security: { auth: { tokens: ['mallory', 'trudy', 'eve', 'peggy', 'bob'].map((name) => listed(name)) } },
  });
  server = await startServe(home);
  rest = restClient(server.url, 'bob');
});
afterAll(async () => {
  await server?.stop();
  home?.[Symbol.dispose]();
});

const execute = (token: string, code: string, timeout = 20_000) =>
  rest.post('/execute', token, { code, timeout, capabilities: ['mcp:everyday'] });
const isServed = async () =>
  expect((await execute('bob', 'return (await mcp.everyday.add({ a: 1, b: 2 })).sum')).body.result).toBe(3);

async function mcp(token: string, method: string, session?: string, params: object = {}): Promise<Response> {
  return fetch(`${server.url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(session === undefined ? {} : { 'mcp-session-id': session, 'mcp-protocol-version': '2025-06-18' }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
}

async function openSession(token: string): Promise<{ status: number; session: string }> {
  const clientInfo = { name: 'test', version: '0' };
  const response = await mcp(token, 'initialize', undefined, {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo,
  });
  await response.text();
  return { status: response.status, session: response.headers.get('mcp-session-id') ?? '' };
}

test('more runs at once than the quota allows are refused by name', async () => {
  const code = 'await mcp.everyday.slow({ ms: 2_000 }); return 1';
  const flood = Promise.all([1, 2, 3, 4].map(() => execute('mallory', code)));
  // Somebody else is served meanwhile.
  await isServed();
  const refused = (await flood).flatMap(({ status, body }) => (status === 429 ? [body.error?.message] : []));
  expect(refused).toEqual([expect.stringContaining('quotas.runs allows one caller')]);
  expect((await execute('mallory', 'return 1')).body.result).toBe(1);
});

test('answers that programs hold in the host end the program that holds too much', async () => {
  const { body } = await execute('trudy', 'for (;;) await mcp.everyday.big({ bytes: 600_000 })');
  expect(body.error?.message).toContain('quotas.memory');
  await isServed();
  // What it held is given back with its end.
  expect((await execute('trudy', 'return (await mcp.everyday.big({ bytes: 300_000 })).length > 0')).body.success).toBe(
    true,
  );
});

test('calls that wait for a person are refused beyond the quota', async () => {
  const code = `const all = [1, 2, 3, 4].map((n) => mcp.everyday.echo({ message: String(n) }).catch((error) => error.message));
    return await Promise.all(all)`;
  const { body } = await execute('eve', code);
  // The other two were refused at once.
  expect(body.error?.message).toContain('decided about 2 calls');
  await isServed();
});

test('sessions of one caller take none of another: its own idle ones make room', async () => {
  const { session } = await openSession('bob');
  const mine = [];
  for (let n = 0; n < 8; n += 1) mine.push(await openSession('mallory'));
  expect(mine.map(({ status }) => status)).toEqual(Array(8).fill(200));
  const answers = [session, mine[0]?.session, mine[7]?.session];
  const tokens = ['bob', 'mallory', 'mallory'];
  const statuses = await Promise.all(
    answers.map(async (each, index) => (await mcp(tokens[index] as string, 'ping', each)).status),
  );
  expect(statuses).toEqual([200, 404, 200]);
});

test('requests that listen for news have the quota of sessions, and take none of another caller', async () => {
  const stop = new AbortController();
  const listen = async (token: string) => {
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '0' },
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const method = 'subscriptions/listen';
    const response = await fetch(`${server.url}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...{ 'mcp-protocol-version': '2026-07-28', 'mcp-method': method },
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method,
        params: { _meta, notifications: { toolsListChanged: true } },
      }),
      signal: stop.signal,
    });
    return response.status;
  };
  const mine = [await listen('mallory'), await listen('mallory'), await listen('mallory'), await listen('mallory')];
  expect([...mine, await listen('bob')]).toEqual([200, 200, 200, 429, 200]);
  stop.abort();
});

test('a request with a batch of thousands of messages is refused before any is answered', async () => {
  const batch = Array.from({ length: 5_000 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'tools/list' }));
  const { session } = await openSession('mallory');
  const response = await fetch(`${server.url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: 'Bearer mallory',
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-session-id': session,
    },
    body: JSON.stringify(batch),
  });
  expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('at most 100 messages')]);
});

test('WebSockets of one caller have a quota, pings count, and another caller connects', async () => {
  const open = async (token: string) => {
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/api/v1/ws`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const refused = once(socket, 'unexpected-response').then(([, response]) => response.statusCode as number);
    socket.on('error', () => {});
    return { socket, status: await Promise.race([once(socket, 'open').then(() => 101), refused]) };
  };
  const mine = [await open('mallory'), await open('mallory'), await open('mallory'), await open('mallory')];
  expect(mine.map(({ status }) => status)).toEqual([101, 101, 101, 429]);
  const theirs = await open('bob');
  expect(theirs.status).toBe(101);
  const closed = once(mine[0]?.socket as WebSocket, 'close');
  for (let n = 0; n < 1_000; n += 1) mine[0]?.socket.ping('x');
  expect((await closed)[0]).toBe(1008);
  for (const { socket } of [...mine, theirs]) socket.terminate();
});

test('a question about the catalog of megabytes is answered by its length', async () => {
  await using connected = await server.connect();
  const answer = await connected.client.callTool({
    name: 'codemode_run',
    arguments: {
      code: `import { searchTools, getTool } from '@codemode/discovery';
        const said = [];
        for (const ask of [() => searchTools('x'.repeat(900_000)), () => searchTools('y'.repeat(5_000)), () => getTool('z'.repeat(70_000), 'a')])
          said.push(await ask().catch((error) => error.message));
        globalThis.__codemode_result__ = said;`,
    },
  });
  expect((answer.structuredContent as { result: unknown }).result).toEqual([
    'the question has 900004 characters; at most 65536 are read',
    'searchTools: the query has 5000 characters; at most 4000 are read',
    'the question has 70008 characters; at most 65536 are read',
  ]);
});

test('what the host computes for a program, it computes in turns with what others want', async () => {
  await using mallory = await server.connect('modern', {}, 'mallory');
  const made = await run(mallory.client, `globalThis.__codemode_result__ = { rows: Array(300_000).fill(1.5) };`);
  const handle = /result-[0-9a-f-]{36}/.exec(JSON.stringify(made.diagnostics))?.[0];
  let isOver = false;
  const longestWait = async () => {
    let longestMs = 0;
    while (!isOver) {
      const askedAt = performance.now();
      await (await fetch(`${server.url}/healthz`)).text();
      longestMs = Math.max(longestMs, performance.now() - askedAt);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return longestMs;
  };
  const waiting = longestWait();
  const startedAt = performance.now();
  const { result } = await run(
    mallory.client,
    `import { load } from '@codemode/results';
     const parts = await Promise.all(Array.from({ length: 50 }, () => load('${handle}', { path: 'rows.5' })));
     globalThis.__codemode_result__ = parts.every((part) => part === 1.5);`,
  );
  const tookMs = performance.now() - startedAt;
  isOver = true;
  expect(result).toBe(true);
  // All of them at once keep everybody waiting for nearly as long as they take.
  expect(await waiting).toBeLessThan(tookMs / 3);
});

test('the arguments of open calls count as memory of the host', async () => {
  const code = `const text = 'x'.repeat(300_000);
    return await Promise.all([1, 2, 3, 4, 5].map(() => mcp.everyday.slow({ ms: 1_000, note: text }).catch((error) => error.message)))`;
  const { body } = await execute('trudy', code);
  expect(body.error?.message).toContain('quotas.memory');
  // Parsed, 60 KB of empty objects take more than a megabyte.
  const small = 'return await mcp.everyday.slow({ ms: 1_000, note: Array(20_000).fill({}) })';
  expect((await execute('trudy', small)).body.error?.message).toContain('quotas.memory');
  await isServed();
});

test('scripts that programs save have a quota, and take no place of another caller', async () => {
  const save = async (token: string, name: string) => {
    await using agent = await server.connect('modern', {}, token);
    await run(agent.client, 'globalThis.__codemode_result__ = 1;');
    const wish = JSON.stringify({ name });
    const code = `import { save } from '@codemode/scripts';
      globalThis.__codemode_result__ = await save(${wish}).then(({ version }) => version, (error) => error.message);`;
    return (await run(agent.client, code)).result;
  };
  expect([await save('peggy', 'one'), await save('peggy', 'two'), await save('peggy', 'three')]).toEqual([
    ...[1, 1, expect.stringContaining('saved 2 scripts, the most that quotas.saved allows one caller')],
  ]);
  expect(await save('bob', 'three')).toBe(1);
});

test('metrics say the quotas, and how often one was refused more', async () => {
  const response = await fetch(`${server.url}/metrics`, { headers: { authorization: 'Bearer bob' } });
  const text = await response.text();
  expect(text).toContain('codemode_quota{quota="sessions"} 3');
  expect(text).toContain('codemode_quota{quota="suspended"} 536870912');
  for (const quota of ['runs', 'memory', 'approvals', 'saved'])
    expect(text).toMatch(new RegExp(`codemode_quota_refused\\{quota="${quota}"\\} [1-9]`));
  expect(text).toMatch(/codemode_quota_highest_use\{quota="runs"\} \d/);
});

test('an object of very many keys is parsed neither as arguments, result nor body', async () => {
  // Each different key takes 3 µs of everybody's time: a call of 15 MB stopped the host for 12 s.
  const make = 'const o = {}; for (let i = 0; i < 210_000; i++) o["k" + i] = 1;';
  const said = async (code: string) => JSON.stringify((await execute('peggy', code)).body.error);
  const [called, returned] = [await said(`${make} return mcp.everyday.add(o)`), await said(`${make} return o`)];
  expect(called).toContain('the arguments of a call had more than 200000 different keys');
  expect(returned).toContain('the result had more than 200000 different keys');
  const body = `{${Array.from({ length: 210_000 }, (_, index) => `"k${index}" :1`).join()}}`;
  const headers = { authorization: 'Bearer peggy', 'content-type': 'application/json' };
  const refused = await fetch(`${server.url}/api/v1/execute`, { method: 'POST', headers, body });
  expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('200000 different keys')]);
  await isServed();
});

test('millions of small values and thousands of levels are neither arguments nor result', async () => {
  // A program of 30 MB of empty objects took 640 MB of the host, and stopped it for 3 s.
  const many = 'Array(1_000_001).fill({})';
  const said = async (code: string) => JSON.stringify((await execute('peggy', code)).body.error);
  expect(await said(`return mcp.everyday.add({ a: ${many} })`)).toContain(
    'the arguments of a call had more than 2000000 values',
  );
  expect(await said(`return ${many}`)).toContain('the result had more than 2000000 values');
  const deep = 'let deep = 1; for (let i = 0; i < 5_000; i++) deep = [deep];';
  expect(await said(`${deep} return mcp.everyday.add({ a: deep })`)).toContain(
    'the arguments of a call had more than 1000 levels of nesting',
  );
  expect(await said(`${deep} return deep`)).toContain('the result had more than 1000 levels of nesting');
  const body = `{"code":"return 1","more":[${'{},'.repeat(1_000_000)}{}]}`;
  const headers = { authorization: 'Bearer peggy', 'content-type': 'application/json' };
  const refused = await fetch(`${server.url}/api/v1/execute`, { method: 'POST', headers, body });
  expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('2000000 values')]);
  await isServed();
});
