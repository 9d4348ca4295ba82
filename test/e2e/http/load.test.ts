import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { descendantsOf, everyday, openHome, startServe, until } from '../../support/program.js';

/** The account of processes, descriptors and answers under load. How fast it is: `npm run bench:load`. */

const MAX_WORKERS = 3;
const WAITING = 200;
const MANY = 1_000;
const AT_ONCE = 20;

const home = openHome({
  // The first of them waits until the last one has come, however loaded the machine is.
  mcpServers: { everyday: { ...everyday(), timeout: 55_000 } },
  sandbox: { workers: { min: 1, max: MAX_WORKERS } },
  security: { capabilities: { mcp: { maxCallsPerSecond: 100_000 } } },
});
let server: Awaited<ReturnType<typeof startServe>>;
beforeAll(async () => {
  server = await startServe(home);
}, 60_000);
afterAll(async () => {
  await server?.stop();
  home[Symbol.dispose]();
});

const authorization = () => ({ authorization: `Bearer ${server.token}` });

async function execute(code: string): Promise<unknown> {
  const response = await fetch(`${server.url}/api/v1/execute`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...authorization() },
    body: JSON.stringify({ code, capabilities: ['mcp:everyday'], timeout: 55_000 }),
  });
  const { result, error } = (await response.json()) as { result?: unknown; error?: unknown };
  return error ?? result;
}

async function workers(kind: string): Promise<number> {
  const text = await (await fetch(`${server.url}/metrics`, { headers: authorization() })).text();
  return Number(new RegExp(`codemode_workers\\{kind="${kind}"\\} (\\d+)`).exec(text)?.[1]);
}

const openDescriptors = () => readdirSync(`/proc/${server.pid}/fd`).length;

test(`${WAITING} runs that wait for a tool at once come to their own ends, in few workers [C15]`, async () => {
  // Answered when all of them are there: more than there are processes have to wait at the same time.
  const code = (index: number) => `const kept = ${index};
    await mcp.everyday.meet({ count: ${WAITING} });
    return kept;`;
  const runs = Array.from({ length: WAITING }, (_, index) => execute(code(index)));
  const seen: number[] = [];
  let isOver = false;
  const watching = until(async () => {
    seen.push(await workers('processes'));
    return isOver;
  });
  const ended = Promise.all(runs).finally(() => {
    isOver = true;
  });
  const [results] = await Promise.all([ended, watching]);
  expect(results).toEqual(runs.map((_, index) => index));
  expect(Math.max(...seen)).toBeLessThanOrEqual(MAX_WORKERS);
  expect(await workers('running')).toBe(0);
});

test(`${MANY} runs leave as many descriptors and processes as there were [C15]`, async () => {
  const round = async (count: number) => {
    let next = 0;
    const lane = async () => {
      for (let index = next++; index < count; index = next++) expect(await execute(`return ${index}`)).toBe(index);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, lane));
  };
  // Connections that clients keep, workers and spares are all there after the first.
  await round(200);
  const [descriptors, processes] = [openDescriptors(), descendantsOf(server.pid).length];
  await round(MANY);
  // A worker is replaced now and then, and the old one may still be leaving.
  await until(() => openDescriptors() <= descriptors && descendantsOf(server.pid).length <= processes);
  expect(readdirSync(home.work)).toEqual([]);
}, 60_000);
