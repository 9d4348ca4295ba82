import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { everyday, openHome, runProgram, startServe, until } from '../../support/program.js';
import { listed, restClient } from '../../support/rest.js';

let home: ReturnType<typeof openHome>;
let server: Awaited<ReturnType<typeof startServe>>;
let rest: ReturnType<typeof restClient>;

beforeAll(async () => {
  home = openHome({
    mcpServers: { everyday: everyday() },
    sandbox: { workers: { min: 2, max: 2, idleTimeout: '3s' } },
    security: { auth: { tokens: ['ada', 'grace', 'linus'].map((name) => listed(name)) } },
  });
  server = await startServe(home);
  rest = restClient(server.url, server.token);
}, 60_000);
afterAll(async () => {
  await server?.stop();
  home?.[Symbol.dispose]();
});

const execute = async (token: string, code: string, timeout: number) =>
  (await rest.post('/execute', token, { code, timeout })).body;

async function workers(): Promise<Record<string, number>> {
  const headers = { authorization: `Bearer ${server.token}` };
  const text = await (await fetch(`${server.url}/metrics`, { headers })).text();
  const found = text.matchAll(/^codemode_workers\{kind="(\w+)"\} (\d+)$/gm);
  return Object.fromEntries([...found].map(([, name, count]) => [name, Number(count)]));
}

test('a caller with one busy worker gets another while those of others are idle [C11]', async () => {
  await execute('grace', 'return 1', 5_000);
  await execute('ada', 'return 1', 5_000);
  expect(await workers()).toMatchObject({ processes: 2, running: 0 });
  const heavy = execute('ada', 'for (;;) {}', 6_000);
  await until(async () => (await workers()).running === 1);
  const light = await execute('ada', 'return "light"', 4_000);
  expect(light).toMatchObject({ success: true, result: 'light' });
  expect((await heavy).error?.code).toBe('EXECUTION_TIMEOUT');
});

test('idle workers end after their timeout, and the minimum stays as spares for the next caller [C11]', async () => {
  await execute('linus', 'return 1', 5_000);
  await until(async () => (await workers()).processes === 0);
  await until(async () => (await workers()).spares === 2);
});

describe('sandbox.workers', () => {
  const explain = async (workers: object) => {
    using own = openHome({ mcpServers: {}, sandbox: { workers } });
    return await runProgram(own, 'config', 'explain');
  };

  test('with a minimum above the maximum is a mistake with its key [C11, C12]', async () => {
    const { status, stdout, stderr } = await explain({ min: 4, max: 3 });
    expect(status).toBe(2);
    expect(`${stdout}${stderr}`).toContain('sandbox.workers.min: expected a number up to 3');
  });

  test('with a maximum below the default minimum is none [C11, C12]', async () => {
    expect(await explain({ max: 1 })).toMatchObject({ status: 0 });
  });
});
