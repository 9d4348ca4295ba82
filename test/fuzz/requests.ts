import { once } from 'node:events';
import { connect } from 'node:net';
import { WebSocket } from 'ws';
import { everyday, openHome, startServe } from '../support/program.js';
import type { Fuzzer } from './fuzzer.js';
import type { Random } from './random.js';

const PATHS = [
  '/execute',
  '/runs',
  '/runs/x',
  '/tools',
  '/approvals',
  '/approvals/x/approve',
  '/servers',
  '/openapi.json',
];
const EXECUTE = { code: 'return 1', timeout: 1_000, capabilities: ['mcp:everyday'], context: { a: 1 }, limits: {} };
const MESSAGE = { id: 'a', type: 'execute', payload: { code: 'return 1', options: { timeout: 1_000 } }, timestamp: 1 };
const WAIT_MS = 10_000;

/** Requests to a real `codemode serve`: REST, MCP and WebSocket. None is answered with "inside codemode", none ends it. */
export async function openRequests(): Promise<Fuzzer> {
  const home = openHome({ profile: 'unified', mcpServers: { everyday: everyday() } });
  const service = await startServe(home);
  const authorized = { authorization: `Bearer ${service.token}` };
  const { host, port, hostname } = new URL(service.url);

  const viaFetch = async (random: Random, note: (what: unknown) => void) => {
    const isMcp = random.chance(3);
    const path = isMcp
      ? '/mcp'
      : `/api/v1${random.chance(4) ? `/${encodeURIComponent(random.text().replace(/\p{Cs}/gu, ''))}` : random.pick(PATHS)}`;
    const body = random.changed(isMcp ? { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} } : EXECUTE);
    const json = Buffer.from(JSON.stringify(withShortTime(body)) ?? '');
    const sent = random.chance(4) ? random.mutated(json) : json;
    const method = random.pick(['POST', 'POST', 'POST', 'GET', 'PUT', 'DELETE', 'PATCH']);
    note({ method, path, body: sent.toString('latin1') });
    const answer = await fetch(`${service.url}${path}`, {
      method,
      headers: {
        ...authorized,
        accept: 'application/json, text/event-stream',
        'content-type': random.pick(['application/json', 'application/json', 'text/plain']),
      },
      ...(method === 'GET' ? {} : { body: new Uint8Array(sent) }),
      signal: AbortSignal.timeout(WAIT_MS),
    });
    if (answer.status === 500) throw new Error(`500: ${await answer.text()}`);
    await answer.body?.cancel();
  };

  const viaSocket = async (random: Random, note: (what: unknown) => void) => {
    const head = `POST /api/v1/execute HTTP/1.1\r\nhost: ${host}\r\nauthorization: ${authorized.authorization}\r\ncontent-type: application/json\r\ncontent-length: 19\r\nconnection: close\r\n\r\n{"code":"return 1"}`;
    const sent = random.mutated(Buffer.from(head));
    note({ raw: sent.toString('latin1') });
    const socket = connect(Number(port), hostname);
    let answer = '';
    socket.on('data', (chunk: Buffer) => {
      answer += chunk.toString('latin1');
    });
    socket.on('error', () => {});
    // Half a request is not waited for: the listener's own patience has its own tests.
    socket.setTimeout(300, () => socket.destroy());
    socket.end(sent);
    await once(socket, 'close');
    if (/^HTTP\/1\.1 500/.test(answer)) throw new Error(answer.slice(0, 500));
  };

  const viaWebSocket = async (random: Random, note: (what: unknown) => void) => {
    const json = Buffer.from(
      JSON.stringify(random.chance(3) ? random.json(4) : withShortTime(random.changed(MESSAGE))) ?? '',
    );
    const sent = random.chance(4) ? random.mutated(json) : json;
    note({ message: sent.toString('latin1') });
    const socket = new WebSocket(`ws://${host}/api/v1/ws`, { headers: authorized });
    socket.on('error', () => {});
    const answered = new Promise<string>((resolve) => {
      socket.on('message', (data) => resolve(String(data)));
      socket.on('close', () => resolve(''));
      setTimeout(resolve, WAIT_MS, 'late').unref();
    });
    socket.on('open', () => socket.send(sent, { binary: random.chance(6) }));
    const text = await answered;
    socket.terminate();
    if (text === 'late') throw new Error('no answer');
    if (/something went wrong inside codemode/.test(text)) throw new Error(text);
  };

  return {
    attempt: async (random, note) => {
      await random.pick([viaFetch, viaFetch, viaSocket, viaWebSocket])(random, note);
      if (/inside codemode/.test(service.stderr())) throw new Error(service.stderr().slice(-2_000));
      if (!random.chance(20)) return;
      const health = await fetch(`${service.url}/healthz`, { signal: AbortSignal.timeout(WAIT_MS) });
      if (!health.ok) throw new Error(`it is not well: ${health.status}`);
    },
    [Symbol.asyncDispose]: async () => {
      await service[Symbol.asyncDispose]();
      home[Symbol.dispose]();
    },
  };
}

/** Programs that wait are no finding, and take time. */
function withShortTime(body: unknown): unknown {
  if (body === null || typeof body !== 'object' || Array.isArray(body)) return body;
  return 'timeout' in body && typeof body.timeout === 'number'
    ? { ...body, timeout: Math.min(body.timeout, 1_000) }
    : body;
}
