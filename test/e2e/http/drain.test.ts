import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { everyday, nodeServer, openHome, startServe, until } from '../../support/program.js';
import { fixture } from '../../support/upstreams.js';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
/** Where the host works. */
const LEDGER = 'ledger.txt';
type Served = Awaited<ReturnType<typeof startServe>>;

interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly body: { success?: boolean; result?: unknown; runId?: string; error?: { code: string } };
}

async function execute({ url, token }: Served, code: string, capabilities: string[]): Promise<Answer> {
  const response = await fetch(`${url}/api/v1/execute`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ code, capabilities }),
  });
  const body = (await response.json()) as Answer['body'];
  return { status: response.status, retryAfter: response.headers.get('retry-after'), body };
}

test('on shutdown it refuses new work, lets a run finish, and suspends one that needs a person [C14]', async () => {
  using home = openHome({
    // Longer than a shutdown may take: a shutdown does not wait for a person.
    approvals: { grace: '10m' },
    mcpServers: { everyday: everyday(), ledger: nodeServer(fixture('ledger-server.mjs'), LEDGER) },
    security: { auth: { tokens: [{ name: 'ann', sha256: sha256('ann'), scopes: ['approve'] }] } },
  });
  await using server = await startServe(home);
  const waiting = execute(server, 'return (await mcp.ledger.write({ text: "kept" })).did', ['mcp:ledger']);
  await until(async () => (await pending(server)).length === 1);
  const meeting = execute(server, 'return await mcp.everyday.meet({ count: 2 })', ['mcp:everyday']);
  const slow = execute(server, 'await mcp.everyday.slow({ ms: 2_000 }); return "finished"', ['mcp:everyday']);
  expect((await execute(server, 'return await mcp.everyday.meet({ count: 2 })', ['mcp:everyday'])).status).toBe(200);
  await meeting;
  const stopped = server.stop('SIGTERM');
  await until(async () => (await fetch(`${server.url}/readyz`)).status === 503);
  const late = await execute(server, 'return 1', []);
  expect([late.status, late.retryAfter, late.body.error?.code]).toEqual([503, '1', 'SHUTTING_DOWN']);
  expect(await slow).toMatchObject({ status: 200, body: { success: true, result: 'finished' } });
  const suspended = await waiting;
  expect(suspended.status).toBe(202);
  expect(await stopped).toEqual([0, null]);

  // Another process resumes it.
  await using next = await startServe(home);
  const [approval] = await pending(next);
  const decided = await asAnn(next, `/${approval?.id}/approve`, { method: 'POST' });
  expect(decided.status).toBe(200);
  await until(async () => (await runOf(next, approval?.runId ?? '')).state === 'succeeded');
  expect(await runOf(next, approval?.runId ?? '')).toMatchObject({ response: { success: true, result: 'write' } });
  expect(readFileSync(join(home.work, LEDGER), 'utf8')).toBe('write kept\n');
}, 60_000);

test('clients that never finish a request or never say goodbye do not keep it from stopping [C14]', async () => {
  using home = openHome({});
  await using server = await startServe(home);
  const { hostname, port } = new URL(server.url);
  const loris = connect(Number(port), hostname);
  loris.on('error', () => {});
  loris.write(`POST /api/v1/execute HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${server.token}\r\n`);
  loris.write('Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{');
  const headers = { authorization: `Bearer ${server.token}` };
  const deaf = new WebSocket(`${server.url.replace('http', 'ws')}/api/v1/ws`, { headers });
  deaf.on('error', () => {});
  await once(deaf, 'open');
  // It reads nothing any more, so that it never answers the other side's goodbye.
  deaf.pause();
  expect(await server.stop('SIGTERM')).toEqual([0, null]);
  loris.destroy();
  deaf.terminate();
});

/** A person who may decide, and nothing else. */
function asAnn({ url }: Served, path = '', options: RequestInit = {}) {
  return fetch(`${url}/api/v1/approvals${path}`, { ...options, headers: { authorization: 'Bearer ann' } });
}

async function pending(server: Served) {
  const { approvals } = (await (await asAnn(server)).json()) as { approvals: { id: string; runId: string }[] };
  return approvals;
}

async function runOf({ url, token }: Served, runId: string) {
  const response = await fetch(`${url}/api/v1/runs/${runId}`, { headers: { authorization: `Bearer ${token}` } });
  return (await response.json()) as { state: string; response: unknown };
}
