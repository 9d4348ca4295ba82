// @ts-check
// A thousand MCP servers behind one host, each with its own connection.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { ROOT } from '../../scripts/repository.mjs';
import { MEGABYTE, startServe } from './serve.mjs';

const LOOK_EVERY_MS = 500;
const GIVE_UP_MS = 120_000;

export async function measure({ quick }) {
  const count = quick ? 100 : 1_000;
  const servers = spawn(process.execPath, [join(ROOT, 'test/fixtures/many-servers.mjs')], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  try {
    const [line] = await once(servers.stdout, 'data');
    const { port } = JSON.parse(String(line));
    const few = await connectAll(port, 1);
    const many = await connectAll(port, count);
    return [
      {
        name: `${count} servers connected at once`,
        ...{ unit: 'ms', value: many.ms },
        note: `${many.connected} connected and listed, from the start of the program; with one server ${Math.round(few.ms)} ms`,
      },
      {
        name: `${count} servers connected at once: called by one program`,
        value: many.called,
        goal: { atLeast: count },
        note: `a program that calls a tool of each: ${Math.round(many.callMs)} ms`,
      },
      {
        name: `${count} servers connected at once: memory of each`,
        ...{ unit: 'MB', value: (many.bytes - few.bytes) / (count - 1) / MEGABYTE },
        goal: { atMost: 1 },
        note: `RSS of the host, ${Math.round(many.bytes / MEGABYTE)} MB in all`,
      },
    ];
  } finally {
    servers.kill('SIGKILL');
  }
}

async function connectAll(port, count) {
  const ids = Array.from({ length: count }, (_, number) => `s${number}`);
  const mcpServers = Object.fromEntries(
    ids.map((id, number) => [id, { type: 'http', url: `http://127.0.0.1:${port}/server/${number}` }]),
  );
  const start = performance.now();
  const serve = await startServe({ config: { mcpServers } });
  try {
    const [token] = /** @type {[string]} */ (serve.tokens);
    const client = serve.openClient(1);
    let connected = 0;
    while (connected < count && performance.now() - start < GIVE_UP_MS) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
      const { text } = await client.get('/api/v1/tools', token);
      const namespaces = Object.values(JSON.parse(text).namespaces);
      connected = namespaces.filter(({ tools }) => tools.length > 0).length;
    }
    const ms = performance.now() - start;
    const code = `const all = await Promise.all(${JSON.stringify(ids)}.map((id, number) => mcp[id]['tool_' + number]({ text: 'x' })));
      return all.filter((text, number) => text === number + ': x').length;`;
    const called = performance.now();
    const capabilities = { mcp: { allowedServers: ids, maxCallsPerSecond: 100_000 } };
    const { answer } = await client.execute(token, code, { capabilities, timeout: 120_000 });
    if (answer.success !== true) process.stderr.write(`${JSON.stringify(answer).slice(0, 500)}\n`);
    const callMs = performance.now() - called;
    return { connected, ms, called: Number(answer.result ?? 0), callMs, bytes: serve.measure().hostBytes };
  } finally {
    await serve.close();
  }
}
