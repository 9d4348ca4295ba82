import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { descendantsOf, everyday, openHome, startProgram, startServe, until } from '../../support/program.js';

/** Two workers, two more while programs compute in those for longer than a turn, and room for one caller to wait. */
const BUSY = ['ada', 'grace', 'edsger', 'barbara'];
const CALLERS = [...BUSY, 'linus'];
const listed = CALLERS.map((name) => ({
  name,
  sha256: createHash('sha256').update(name).digest('hex'),
  scopes: ['execute', 'tools'],
}));
const home = openHome({
  mcpServers: { everyday: everyday() },
  sandbox: { workers: { min: 1, max: 2, idleTimeout: '300ms', maxQueued: 1 } },
  security: { auth: { tokens: listed } },
});
let server: Awaited<ReturnType<typeof startServe>>;
beforeAll(async () => {
  server = await startServe(home);
}, 60_000);
afterAll(async () => {
  await server?.stop();
  home[Symbol.dispose]();
});

const bearer = (name: string) => ({ authorization: `Bearer ${name}` });

async function execute(name: string, code: string, signal: AbortSignal | null = null) {
  const response = await fetch(`${server.url}/api/v1/execute`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...bearer(name) },
    body: JSON.stringify({ code, capabilities: ['mcp:everyday'], timeout: 30_000 }),
    signal,
  });
  const body = (await response.json()) as { result?: unknown; error?: { code: string; message: string } };
  return { status: response.status, retryAfter: response.headers.get('retry-after'), ...body };
}

async function figures(): Promise<Record<string, number>> {
  const text = await (await fetch(`${server.url}/metrics`, { headers: bearer('ada') })).text();
  const found = text.matchAll(/^codemode_(?:workers\{kind|pool_total\{event)="(\w+)"\} (\d+)$/gm);
  return Object.fromEntries([...found].map(([, name, count]) => [name, Number(count)]));
}

test('processes start before the first program, grow with callers to the maximum, and shrink [C11]', async () => {
  await until(async () => (await figures()).spares === 1);
  expect(await figures()).toMatchObject({ processes: 0, running: 0, queued: 0, refused: 0 });
  const meet = 'return await mcp.everyday.meet({ count: 3 })';
  // Both are there until a third one comes, and callers never share a process.
  const together = ['ada', 'grace'].map((name) => execute(name, meet));
  await until(async () => (await figures()).running === 2);
  expect(await figures()).toMatchObject({ processes: 2, running: 2 });
  together.push(execute('ada', meet));
  expect((await Promise.all(together)).map(({ result }) => result)).toEqual(['met', 'met', 'met']);
  await until(async () => (await figures()).processes === 0);
  await until(async () => ((await figures()).spares ?? 0) >= 1);
});

test('a full queue refuses by name: 503 with Retry-After over REST, errors elsewhere [C11]', async () => {
  // Programs that compute keep their workers, so that nobody's turn can come.
  const hangUp = new AbortController();
  const busy: Promise<unknown>[] = [];
  for (const name of BUSY) {
    busy.push(execute(name, 'for (;;) {}', hangUp.signal).catch(() => 'gone'));
    await until(async () => (await figures()).running === busy.length);
  }
  const waiting = execute('linus', 'return "served"');
  await until(async () => (await figures()).queued === 1);

  const refused = await execute('linus', 'return 1');
  expect([refused.status, refused.retryAfter, refused.error?.code]).toEqual([503, '1', 'QUEUE_FULL']);
  expect(refused.error?.message).toMatch(/waiting for a worker already; try again in a few seconds/);

  const socket = new WebSocket(`${server.url.replace('http', 'ws')}/api/v1/ws`, { headers: bearer('linus') });
  await once(socket, 'open');
  socket.send(JSON.stringify({ id: 'x', type: 'execute', payload: { code: 'return 1' } }));
  const [data] = (await once(socket, 'message')) as [Buffer];
  expect(JSON.parse(data.toString())).toMatchObject({ id: 'x', type: 'error', payload: { code: 'QUEUE_FULL' } });
  socket.close();

  const client = new Client({ name: 'test', version: '0' });
  const requestInit = { headers: bearer('linus') };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { requestInit }));
  const answered = await client.callTool({ name: 'codemode_run', arguments: { code: '1' } });
  expect(answered.isError).toBe(true);
  expect(JSON.stringify(answered.content)).toContain('waiting for a worker already');
  await client.close();

  expect((await figures()).refused).toBe(3);
  hangUp.abort();
  expect(await Promise.all(busy)).toEqual(BUSY.map(() => 'gone'));
  // A caller that was admitted loses nothing.
  expect((await waiting).result).toBe('served');
}, 60_000);

/** The worker is in the jail under this name, whatever the host calls it. */
function isWorker(pid: number): boolean {
  try {
    return /^\/bin\/node\0.*\/codemode\/worker\.js\0/.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
  } catch {
    return false; // it ended while we looked
  }
}

test('a command that runs one program starts one worker, whatever the minimum is', async () => {
  using own = openHome({ mcpServers: { everyday: everyday() }, sandbox: { workers: { min: 2 } } });
  const file = join(own.work, 'program.ts');
  writeFileSync(file, `import { slow } from '@codemode/servers/everyday'; await slow({ ms: 1500 });`);
  const child = startProgram(own, 'run', file);
  const exited = once(child, 'exit');
  const counts: number[] = [];
  await until(() => {
    counts.push(descendantsOf(child.pid as number).filter(isWorker).length);
    return child.exitCode !== null;
  });
  await exited;
  expect(Math.max(...counts)).toBe(1);
});
