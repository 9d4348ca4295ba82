// @ts-check
// The mixed work of a soak: kinds of requests, and how many in 10,000 are of each. Most are quick, as those of users are: a million of
// them take an hour on two cores. What costs a process or a second is rare, and there are hundreds of it in a million.
import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { isBusy, mustBeAnswered, mustComeTo, mustHaveStatus, Unexpected } from './client.mjs';

const EVERYDAY = ['mcp:everyday'];
const DECISION_TIMEOUT_MS = 60_000;
const SOCKET_TIMEOUT_MS = 60_000;
const UNRULY_CALLS = ['slow', 'slow', 'chatter', 'garbage', 'storm', 'stderr', 'huge', 'twice'];

/**
 * @typedef {object} Turn one request of one caller
 * @property {import('./client.mjs').SoakClient} client
 * @property {string} token
 * @property {string} person the token of somebody who decides
 * @property {number} serial a number that no other turn has
 */

/** @typedef {{ name: string, weight: number, run(turn: Turn): Promise<unknown> }} Kind */

/** @param {(answer: import('./client.mjs').Answer) => void} judge */
const execute = (judge, request) => async (/** @type {Turn} */ turn) => {
  const answer = await turn.client.post('/execute', turn.token, request(turn));
  if (isBusy(answer)) return 'busy';
  return judge(answer);
};
const comesTo = (request, expected) => async (/** @type {Turn} */ turn) =>
  execute((answer) => mustComeTo(answer, expected(turn)), request)(turn);
const program =
  (language, code, judge) =>
  async (/** @type {Turn} */ { client, token, serial }) => {
    const answer = await client.post(`/runner/${language}`, token, { code: code(serial), timeout_ms: 20_000 });
    if (isBusy(answer)) return 'busy';
    return judge(answer, serial);
  };
const dataIs = (expected) => (answer, serial) => {
  mustBeAnswered(answer);
  if (answer.body.result?.data !== expected(serial))
    throw new Unexpected(`a program came to ${JSON.stringify(answer.body).slice(0, 300)}`);
};

/** @type {Kind[]} */
export const WORK = [
  {
    name: 'computes',
    weight: 5_200,
    run: comesTo(
      ({ serial }) => ({ code: `return ${serial} + 2` }),
      ({ serial }) => serial + 2,
    ),
  },
  {
    name: 'calls a tool',
    weight: 3_400,
    run: comesTo(
      ({ serial }) => ({ code: `return (await mcp.everyday.add({ a: ${serial}, b: 2 })).sum`, capabilities: EVERYDAY }),
      ({ serial }) => serial + 2,
    ),
  },
  {
    name: 'calls several at once',
    weight: 500,
    run: comesTo(
      () => ({
        code: `const all = await Promise.all(Array.from({ length: 4 }, (_, a) => mcp.everyday.add({ a, b: 1 })));
          console.log('sums', all); return all.reduce((sum, each) => sum + each.sum, 0)`,
        capabilities: EVERYDAY,
      }),
      () => 10,
    ),
  },
  {
    name: 'waits for a slow tool',
    weight: 150,
    run: comesTo(
      () => ({ code: 'return (await mcp.everyday.slow({ ms: 30 })).length', capabilities: EVERYDAY }),
      () => 4,
    ),
  },
  {
    name: 'gets a large answer',
    weight: 60,
    run: comesTo(
      () => ({ code: 'return (await mcp.everyday.big({ bytes: 300_000 })).length', capabilities: EVERYDAY }),
      () => 300_000,
    ),
  },
  {
    name: 'throws',
    weight: 250,
    run: execute(mustBeAnswered, ({ serial }) => ({
      code: `console.error('x'.repeat(2_000)); throw new Error('${serial}')`,
    })),
  },
  {
    name: 'is not a program',
    weight: 120,
    run: execute(mustBeAnswered, ({ serial }) => ({ code: `return ${serial} +` })),
  },
  {
    name: 'never ends',
    weight: 6,
    run: execute(mustBeAnswered, () => ({ code: 'for (;;) {}', timeout: 60 })),
  },
  {
    name: 'takes all memory',
    weight: 3,
    run: execute(mustBeAnswered, () => ({
      code: 'const kept = []; for (;;) kept.push(new Array(1_000).fill(kept.length))',
      memoryLimit: 16 * 1024 * 1024,
    })),
  },
  {
    name: 'calls a server that misbehaves',
    weight: 60,
    run: execute(mustBeAnswered, ({ serial }) => ({
      code: `return (await mcp.unruly.${UNRULY_CALLS[serial % UNRULY_CALLS.length]}({})).length`,
      capabilities: ['mcp:unruly'],
    })),
  },
  {
    name: 'calls a server that dies',
    weight: 4,
    run: execute(mustBeAnswered, ({ serial }) => ({
      code: `return await mcp.dying.${serial % 2 === 0 ? 'die' : 'half'}({})`,
      capabilities: ['mcp:dying'],
    })),
  },
  {
    name: 'calls a server that never answers',
    weight: 4,
    run: execute(mustBeAnswered, () => ({ code: 'return await mcp.silent.never({})', capabilities: ['mcp:silent'] })),
  },
  {
    name: 'calls a server that floods',
    weight: 1,
    run: execute(mustBeAnswered, ({ serial }) => {
      const name = ['flooding', 'pinging', 'changing'][serial % 3];
      return { code: `return await mcp.${name}.flood({})`, capabilities: [`mcp:${name}`], timeout: 8_000 };
    }),
  },
  {
    name: 'leaves before its answer',
    weight: 40,
    run: async ({ client, token }) => {
      const code = 'return await mcp.everyday.slow({ ms: 5_000 })';
      const gone = AbortSignal.timeout(15);
      await client.post('/execute', token, { code, capabilities: EVERYDAY }, { signal: gone }).catch((error) => {
        if (!gone.aborted) throw error;
      });
    },
  },
  { name: 'asks a person', weight: 30, run: asksAPerson },
  {
    name: 'has a wrong request',
    weight: 60,
    run: async ({ client, token, serial }) => {
      const body = [{ code: 7 }, { code: 'return 1', timeOut: 1 }, '{"code":', []][serial % 4];
      mustHaveStatus(await client.post('/execute', token, body), [400, 429]);
    },
  },
  {
    name: 'has a wrong token',
    weight: 30,
    run: async ({ client, serial }) => mustHaveStatus(await client.get('/tools', `nobody ${serial}`), [401]),
  },
  {
    name: 'looks around',
    weight: 40,
    run: async ({ client, token, serial }) => {
      const path = ['/tools', '/runs', '/runs/of-nobody'][serial % 3] ?? '';
      mustHaveStatus(await client.get(path, token), serial % 3 === 2 ? [404] : [200]);
    },
  },
  { name: 'opens a WebSocket', weight: 20, run: opensAWebSocket },
  { name: 'opens an MCP session', weight: 15, run: opensAnMcpSession },
  {
    name: 'runs on Node',
    weight: 3,
    run: program(
      'node',
      (serial) => `import { add } from './servers/everyday/index.js';
        globalThis.result = (await add({ a: ${serial}, b: 2 })).structuredContent.sum;`,
      dataIs((serial) => serial + 2),
    ),
  },
  {
    name: 'runs on Python',
    weight: 3,
    run: program(
      'python',
      (serial) =>
        `from servers.everyday import add\nresult = (await add({'a': ${serial}, 'b': 2}))['structuredContent']['sum']`,
      dataIs((serial) => serial + 2),
    ),
  },
  {
    name: 'never ends on a real interpreter',
    weight: 1,
    run: async ({ client, token, serial }) => {
      const [language, code] = serial % 2 === 0 ? ['node', 'for (;;);'] : ['python', 'while True: pass'];
      const answer = await client.post(`/runner/${language}`, token, { code, timeout_ms: 300 });
      if (!isBusy(answer)) mustBeAnswered(answer);
    },
  },
];

/** @param {Turn} turn */
async function asksAPerson({ client, token, person, serial }) {
  const request = { code: `return String(await mcp.everyday.count({})).length > 0`, capabilities: EVERYDAY };
  const answer = await client.post('/execute', token, request);
  if (isBusy(answer)) return 'busy';
  mustHaveStatus(answer, [202]);
  const { runId, approvals } = answer.body.error.details;
  const id = approvals[0]?.id;
  switch (serial % 5) {
    case 0:
      // Nobody answers: it is closed when its time has run out.
      return undefined;
    case 1:
      return mustHaveStatus(await client.post(`/runs/${runId}/cancel`, token, {}), [200]);
    case 2:
      mustHaveStatus(await client.post(`/approvals/${id}/deny`, person, { reason: 'no' }), [200]);
      return mustBeAnswered(await resultOf(client, token, runId));
    default:
      mustHaveStatus(await client.post(`/approvals/${id}/approve`, person, {}), [200]);
      return mustComeTo(await resultOf(client, token, runId), true);
  }
}

/** @returns {Promise<import('./client.mjs').Answer>} */
async function resultOf(client, token, runId) {
  const until = performance.now() + DECISION_TIMEOUT_MS;
  for (;;) {
    const answer = await client.get(`/runs/${runId}/result`, token);
    if (answer.status !== 202) return answer;
    if (performance.now() > until) throw new Unexpected(`run ${runId} did not go on after the decision`);
    await pause(50);
  }
}

/** Half of them leave while their runs are in progress. @param {Turn} turn */
async function opensAWebSocket({ client, token, serial }) {
  const socket = new WebSocket(`${client.url.replace('http', 'ws')}/api/v1/ws`, [], {
    headers: { authorization: `Bearer ${token}` },
    handshakeTimeout: SOCKET_TIMEOUT_MS,
  });
  let timer;
  try {
    await new Promise((resolve, reject) => {
      timer = setTimeout(() => reject(new Unexpected('a WebSocket got no answer')), SOCKET_TIMEOUT_MS);
      let answered = 0;
      socket.on('error', reject);
      socket.on('close', (code) => reject(new Unexpected(`a WebSocket was closed with ${code}`)));
      socket.on('open', () => {
        for (const id of ['a', 'b', 'c'])
          socket.send(JSON.stringify({ id, type: 'execute', payload: { code: `console.log(1); return "${id}"` } }));
        if (serial % 2 === 0) resolve(undefined);
      });
      socket.on('message', (data) => {
        if (JSON.parse(data.toString()).type !== 'log' && ++answered === 3) resolve(undefined);
      });
    });
  } finally {
    clearTimeout(timer);
    socket.terminate();
  }
}

/** Half of them are left behind: the host has a bound on them. @param {Turn} turn */
async function opensAnMcpSession({ client, token, serial }) {
  const headers = { accept: 'application/json, text/event-stream' };
  const clientInfo = { name: 'soak', version: '0' };
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
  const greeting = { jsonrpc: '2.0', id: 1, method: 'initialize', params };
  const opened = await client.send('POST', '/mcp', token, greeting, { headers });
  const session = opened.headers['mcp-session-id'];
  if (opened.status !== 200 || session === undefined) throw new Unexpected(`no MCP session: status ${opened.status}`);
  const inSession = { ...headers, 'mcp-session-id': String(session), 'mcp-protocol-version': '2025-11-25' };
  const listing = { jsonrpc: '2.0', id: 2, method: 'tools/list' };
  const { status } = await client.send('POST', '/mcp', token, listing, { headers: inSession });
  // 404: other sessions of this caller have taken its place.
  if (![200, 404].includes(status)) throw new Unexpected(`tools/list was answered with ${status}`);
  if (serial % 2 === 0) await client.send('DELETE', '/mcp', token, undefined, { headers: inSession });
}
