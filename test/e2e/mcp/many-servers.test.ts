import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Client } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { openHome, openStdio, until } from '../../support/program.js';
import { fixture } from '../../support/upstreams.js';

const SERVERS = 1_000;
const BYTES_EACH = 1024 * 1024;
const PAUSE_MS = 500;

test('a thousand servers are connected at once, for less than a megabyte of the host each', async () => {
  await using servers = await startManyServers();
  const few = await serve(servers.port, 1);
  const many = await serve(servers.port, SERVERS);
  console.log(
    `${SERVERS} servers listed in ${many.ms.toFixed(0)} ms, ${((many.bytes - few.bytes) / 1e6).toFixed(0)} MB`,
  );
  expect(many.tools).toEqual(Array.from({ length: SERVERS }, (_, number) => `tool_${number}`).sort());
  expect((many.bytes - few.bytes) / (SERVERS - 1)).toBeLessThan(BYTES_EACH);
}, 180_000);

/** The program in front of so many servers, when all of them are listed. */
async function serve(port: number, count: number) {
  const url = (number: number) => `http://127.0.0.1:${port}/server/${number}`;
  const ids = Array.from({ length: count }, (_, number) => [`s${number}`, { type: 'http', url: url(number) }]);
  using home = openHome({
    mcpServers: Object.fromEntries(ids),
    // Every tool is listed as it is: the client sees what there is.
    defaults: { codeMode: { enabled: false } },
  });
  const start = performance.now();
  await using program = await openStdio(home);
  let tools: string[] = [];
  await until(async () => {
    // Listing a thousand tools again and again would be most of what is done here.
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    tools = await allTools(program.client);
    return tools.length >= count;
  });
  const ms = performance.now() - start;
  const resident = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${program.pid}/status`, 'utf8'))?.[1];
  return { tools, ms, bytes: Number(resident) * 1024 };
}

async function allTools(client: Client): Promise<string[]> {
  const { tools } = await client.listTools();
  return tools.map(({ name }) => name).sort();
}

async function startManyServers() {
  const child = spawn(process.execPath, [fixture('many-servers.mjs')], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const { port } = JSON.parse(line.toString()) as { port: number };
  return {
    port,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}
