import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { everyday, openHome, startServe, until } from '../../support/program.js';

const home = openHome({ mcpServers: { everyday: everyday() } });
let server: Awaited<ReturnType<typeof startServe>>;
beforeAll(async () => {
  server = await startServe(home);
}, 60_000);
afterAll(async () => {
  await server?.stop();
  home[Symbol.dispose]();
});

interface Message {
  readonly id: string;
  readonly type: string;
  readonly payload: Record<string, unknown>;
  readonly timestamp: number;
}

async function connect(protocols: string[] = [], headers: Record<string, string> = {}) {
  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/api/v1/ws`, protocols, { headers });
  const messages: Message[] = [];
  socket.on('message', (data: Buffer) => messages.push(JSON.parse(data.toString()) as Message));
  const closed = new Promise<number>((resolve) => socket.on('close', resolve));
  await new Promise<void>((resolve, reject) => {
    socket.on('open', resolve);
    socket.on('error', reject);
    socket.on('unexpected-response', (_, response) => reject(new Error(String(response.statusCode))));
  });
  const execute = (id: string, code: string, options: object = { capabilities: ['mcp:everyday'] }) =>
    socket.send(JSON.stringify({ id, type: 'execute', payload: { code, options }, timestamp: Date.now() }));
  const answerTo = async (id: string) => {
    const isAnswer = (each: Message) => each.id === id && each.type !== 'log';
    await until(() => messages.some(isAnswer));
    return messages.find(isAnswer) as Message;
  };
  return { socket, messages, closed, execute, answerTo };
}
const withToken = () => connect([], { authorization: `Bearer ${server.token}` });
const live = async () => {
  const headers = { authorization: `Bearer ${server.token}` };
  const { runs } = (await (await fetch(`${server.url}/api/v1/runs`, { headers })).json()) as {
    runs: { state: string }[];
  };
  return runs.filter(({ state }) => state === 'running').length;
};

test('logs come while the code runs, then the result; several run at once on one connection [C4, X3]', async () => {
  const { messages, execute, answerTo, socket } = await withToken();
  execute(
    'slow',
    'console.log("begun"); console.warn("w"); console.error("e"); return await mcp.everyday.slow({ ms: 60_000 })',
    {
      capabilities: ['mcp:everyday'],
      timeout: 1_500,
    },
  );
  await until(() => messages.length === 3);
  expect(new Set(messages.map(({ id }) => id))).toEqual(new Set(['slow']));
  expect(messages.map(({ type, payload }) => [type, payload])).toEqual([
    ['log', { level: 'info', message: 'begun' }],
    ['log', { level: 'warn', message: 'w' }],
    ['log', { level: 'error', message: 'e' }],
  ]);
  execute('fast', 'return await mcp.everyday.echo(context.word)', {
    capabilities: ['mcp:everyday'],
    context: { word: 'x' },
  });
  expect(await answerTo('fast')).toMatchObject({
    type: 'result',
    payload: { success: true, result: 'x', metrics: { apiCalls: 1, executionTime: expect.any(Number) }, logs: [] },
  });
  expect(messages.some(({ id, type }) => id === 'slow' && type === 'result')).toBe(false);
  expect(await answerTo('slow')).toMatchObject({
    type: 'result',
    payload: { success: false, error: { code: 'EXECUTION_TIMEOUT' } },
    timestamp: expect.any(Number),
  });
  socket.close();
});

test('an id that is running already is refused under no id, so that the run keeps its own answer [C4]', async () => {
  const { messages, execute, answerTo, socket } = await withToken();
  execute('a', 'return await mcp.everyday.slow({ ms: 300 })');
  execute('a', 'return 2');
  expect((await answerTo('')).payload).toMatchObject({ code: 'VALIDATION_ERROR', details: { id: 'a' } });
  expect(await answerTo('a')).toMatchObject({ type: 'result', payload: { success: true } });
  expect(messages.filter(({ id }) => id === 'a')).toHaveLength(1);
  socket.send(JSON.stringify({ id: 7, type: 'execute', payload: { code: 'return 1' } }));
  expect(await answerTo('7')).toMatchObject({ type: 'error', payload: { message: expect.stringContaining('id') } });
  socket.close();
});

test('a closed connection ends its runs [C4]', async () => {
  const { execute, socket, closed } = await withToken();
  execute('a', 'return await mcp.everyday.slow({ ms: 60_000 })');
  await expect.poll(live).toBe(1);
  socket.terminate();
  await closed;
  await expect.poll(live).toBe(0);
});

test('a browser passes its token as a subprotocol; without one it is refused [C4, C5]', async () => {
  const { socket, execute, answerTo } = await connect(['codemode', `bearer.${server.token}`]);
  expect(socket.protocol).toBe('codemode');
  execute('a', 'return 1');
  expect(await answerTo('a')).toMatchObject({ payload: { result: 1 } });
  socket.close();
  await expect(connect()).rejects.toThrow('401');
  await expect(connect(['codemode', 'bearer.wrong'])).rejects.toThrow('401');
  await expect(
    connect([], { authorization: `Bearer ${server.token}`, origin: 'https://evil.example' }),
  ).rejects.toThrow('403');
  await expect(connect([], { authorization: `Bearer ${server.token}`, host: 'evil.example' })).rejects.toThrow('403');
});

test('an execute message without code is refused under its own id, and the connection stays [C4]', async () => {
  const { socket, execute, answerTo } = await withToken();
  socket.send(JSON.stringify({ id: 'empty', type: 'execute', payload: { options: {} }, timestamp: Date.now() }));
  expect(await answerTo('empty')).toMatchObject({
    type: 'error',
    payload: {
      type: 'validation',
      code: 'VALIDATION_ERROR',
      message: expect.stringMatching(/^payload\.code: is missing/),
    },
  });
  execute('next', 'return 1');
  expect(await answerTo('next')).toMatchObject({ type: 'result', payload: { success: true, result: 1 } });
  socket.close();
});

test('a request without an upgrade is told to use WebSocket [C4]', async () => {
  const headers = { authorization: `Bearer ${server.token}` };
  const response = await fetch(`${server.url}/api/v1/ws`, { headers });
  expect([response.status, response.headers.get('upgrade')]).toEqual([426, 'websocket']);
  expect(await response.json()).toMatchObject({
    error: { code: 'UPGRADE_REQUIRED', message: 'GET /api/v1/ws is a WebSocket: connect to ws://' },
  });
});

test('an invalid request is answered with an error that names it; the connection stays [C4, C13]', async () => {
  const { socket, messages, execute, answerTo } = await withToken();
  for (const text of [
    '{',
    '[]',
    '{"id":"a","type":"result","payload":{}}',
    '['.repeat(5_000),
    '{"id":"b","type":"execute"}',
  ])
    socket.send(text);
  const SENT = 'send {"id": "1", "type": "execute", "payload": {"code": "return 1", "options": {}}}';
  for (const [id, payload, problem] of [
    ['b', undefined, 'payload: is missing'],
    ['e', {}, 'payload.code: is missing'],
    ['f', { code: '  ' }, 'payload.code: is empty'],
    ['g', { code: 7 }, 'payload.code: must be a string of code'],
    ['h', { code: 'return 1', timeout: 5 }, 'payload: timeout does not belong here'],
    ['i', { code: 'return 1', options: [] }, 'payload.options: must be an object'],
  ] as const) {
    if (id !== 'b') socket.send(JSON.stringify({ id, type: 'execute', payload }));
    expect((await answerTo(id)).payload).toMatchObject({ type: 'validation', message: `${problem}; ${SENT}` });
  }
  execute('c', 'return 1', { timeout: -1 });
  execute('d', 'return 1', { capabilities: ['network:evil.example'] });
  expect(await answerTo('c')).toMatchObject({ type: 'error', payload: { type: 'validation' } });
  expect(await answerTo('d')).toMatchObject({ type: 'error', payload: { code: 'CAPABILITY_VIOLATION' } });
  await until(() => messages.length === 12);
  expect(messages.map(({ type }) => type)).toEqual(Array(12).fill('error'));
  expect(messages.map(({ id }) => id).sort()).toEqual(['', '', '', ...'abcdefghi']);
  socket.close();
});
