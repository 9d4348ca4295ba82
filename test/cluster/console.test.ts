import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApprovalPage } from '../../src/domain/console/approvals.js';
import type { RunPage } from '../../src/domain/console/runs.js';
import { needs } from '../support/needs.js';
import { until } from '../support/program.js';
import { AGENT, idOf, type SharedHost, SharedHosts } from '../support/shared-hosts.js';

/* One console at the address of a balancer: nginx as in the guide, two hosts on one Postgres, each request at the next one. */

const CONF = readFileSync(new URL('../../examples/cluster/nginx.conf', import.meta.url), 'utf8');
const ASKS = 'return (await mcp.ledger.write({ text: "from the console" })).did';

describe('the console behind a balancer', needs('postgresql', 'bubblewrap', 'nginx'), () => {
  let shared: SharedHosts;
  let hosts: SharedHost[];
  let nginx: ChildProcess;
  let url: string;

  beforeAll(async () => {
    shared = await SharedHosts.open({
      profile: 'codemode',
      policy: { rules: [{ tools: 'ledger/write', decision: 'ask' }] },
    });
    hosts = [await shared.start(), await shared.start()];
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    const folder = join(shared.folder, 'nginx');
    mkdirSync(folder);
    const [first = '', second = ''] = hosts.map((host) => new URL(host.url).port);
    const conf = CONF.replace(/^.*:3003 .*$/m, '')
      .replace(':3001 ', `:${first} `)
      .replace(':3002 ', `:${second} `)
      .replace(':3000;', `:${port};`);
    writeFileSync(join(folder, 'nginx.conf'), conf);
    nginx = spawn('nginx', ['-p', folder, '-c', 'nginx.conf', '-e', 'stderr'], { stdio: 'ignore' });
    await until(async () => (await fetch(`${url}/`).catch(() => undefined))?.status === 200);
  }, 120_000);
  afterAll(async () => {
    nginx?.kill('SIGTERM');
    if (nginx?.exitCode === null) await once(nginx, 'exit');
    await shared?.close();
  });

  async function logIn() {
    const { stdout } = await shared.run(['console', '--no-open', '--url', url]);
    expect(stdout.startsWith(`${url}/?at=`)).toBe(true);
    const link = new URLSearchParams(new URL(stdout.trim()).hash.slice(1)).get('link');
    const headers = { origin: url, 'content-type': 'application/json' };
    const response = await fetch(`${url}/console/api/login`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ link }),
    });
    expect(response.status).toBe(200);
    const { key } = (await response.json()) as { key: string };
    return { cookie: response.headers.get('set-cookie')?.split(';')[0] ?? '', 'x-codemode-console': key };
  }

  test('one session is good at every host, decides there, and ends at all of them', async () => {
    const session = await logIn();
    const ask = (path: string, body?: unknown) =>
      fetch(`${url}/console/api${path}`, {
        headers: { ...session, origin: url, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
      });
    const statuses = await Promise.all(Array.from({ length: 8 }, async () => (await ask('/session')).status));
    expect(new Set(statuses)).toEqual(new Set([200]));
    const { status } =
      (await hosts[0]?.request('POST', '/api/v1/execute', AGENT, { code: ASKS, capabilities: ['mcp:ledger'] })) ?? {};
    expect(status).toBe(202);
    const pending = async () => (await (await ask('/approvals')).json()) as ApprovalPage;
    await until(async () => (await pending()).cards.length === 1);
    const { cards } = await pending();
    const calls = cards.flatMap((card) => card.calls.map(({ id, digest }) => ({ id, digest })));
    expect((await ask('/approvals/decide', { decision: 'approve', calls })).status).toBe(200);
    await until(() => shared.ledger.length === 1);
    // Both hosts list it, with what it called, and with the time that clients see.
    const newest = async () => ((await (await ask('/runs')).json()) as RunPage).runs[0];
    for (let at = 0; at < 4; at += 1) await until(async () => (await newest())?.toolCalls === 1);
    const { runId = '', createdAtMs = 0 } = (await newest()) ?? {};
    expect((await hosts[1]?.request('GET', `/api/v1/runs/${runId}`, AGENT))?.body).toMatchObject({
      createdAt: new Date(createdAtMs).toISOString(),
    });
    expect((await ask('/logout', {})).status).toBe(200);
    for (let at = 0; at < 4; at += 1) expect((await ask('/session')).status).toBe(401);
  });

  test('a page lists the pending calls of every host', async () => {
    const stopped = new AbortController();
    const headers = { ...(await logIn()), origin: url };
    const stream = await fetch(`${url}/console/api/events`, { headers, signal: stopped.signal });
    expect(stream.status).toBe(200);
    let told = '';
    const reading = (async () => {
      for await (const chunk of stream.body ?? []) told += Buffer.from(chunk).toString();
    })().catch(() => {});
    await until(() => told.includes('refresh'));
    const body = { code: ASKS, capabilities: ['mcp:ledger'] };
    // The stream is at one of them.
    const asked = await Promise.all(hosts.map((host) => host.request('POST', '/api/v1/execute', AGENT, body)));
    expect(asked.map(({ status }) => status)).toEqual([202, 202]);
    for (const answer of asked) await until(() => told.includes(idOf(answer)));
    stopped.abort();
    await reading;
  });

  test('a proxy that drops the port from the Host header is refused, and told what to pass on', async () => {
    const port = Number(new URL(hosts[0]?.url ?? '').port);
    const headers = { host: '127.0.0.1', origin: url };
    const sent = request({ host: '127.0.0.1', port, path: '/console/api/session', headers }).end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(403);
    expect(await text(response)).toContain('proxy_set_header Host $http_host');
  });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}
