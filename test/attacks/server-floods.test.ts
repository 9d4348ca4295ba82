import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { everyday, nodeServer, openHome, openStdio, ready, runProgram, startServe, until } from '../support/program.js';
import { listed, restClient } from '../support/rest.js';
import { fixture } from '../support/upstreams.js';

/*
 * Servers that send more than anybody reads. Each is started by one caller; meanwhile another one runs programs, and the
 * longest of them is what the flood cost everybody else.
 */
const flooding = (mode: string) => nodeServer(fixture('flooding-server.mjs'), mode);
const FLOODS = ['chatter', 'pings'] as const;
/** Alone on this machine a run takes some 10 ms. Without budgets these floods stopped others for 2 to 8 s. */
const LONGEST_RUN_MS = 1_500;

let home: ReturnType<typeof openHome>;
let server: Awaited<ReturnType<typeof startServe>>;
let rest: ReturnType<typeof restClient>;
beforeAll(async () => {
  home = openHome({
    mcpServers: {
      everyday: everyday(),
      ...Object.fromEntries([...FLOODS, 'tools', 'pages', 'changes'].map((mode) => [mode, flooding(mode)])),
    },
    security: { auth: { tokens: [listed('mallory'), listed('bob'), listed('admin', 'servers', 'tools')] } },
    policy: { preset: 'open' },
  });
  server = await startServe(home);
  rest = restClient(server.url, 'admin');
});
afterAll(async () => {
  await server?.stop('SIGKILL');
  home?.[Symbol.dispose]();
});

const residentMebibytes = () =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1]) / 1024;
const execute = (token: string, id: string, code: string) =>
  rest.post('/execute', token, { code, timeout: 20_000, capabilities: [`mcp:${id}`] });
/** A grant has five calls a second: those beyond are refused, and take as long. */
const BOBS = 'await mcp.everyday.add({ a: 1, b: 2 }).catch(() => {}); return 3';
const stateOf = async (id: string) => {
  const { servers } = (await rest.get('/servers', 'admin')).body as unknown as {
    servers: { name: string; state: string; reason?: string }[];
  };
  return servers.find((each) => each.name === id);
};

/** What the longest of bob's runs took while something went on. */
async function longestRunDuring(going: Promise<unknown>): Promise<number> {
  let longest = 0;
  let isOver = false;
  void going.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    const begunAt = performance.now();
    expect((await execute('bob', 'everyday', BOBS)).body.result).toBe(3);
    longest = Math.max(longest, performance.now() - begunAt);
  }
  return longest;
}

test.each(FLOODS)(
  'a server that floods its host with %s is quarantined; another caller is served meanwhile',
  async (mode) => {
    await execute('bob', 'everyday', BOBS);
    const before = residentMebibytes();
    const flood = execute('mallory', mode, `return await mcp.${mode}.flood({})`);
    let most = 0;
    const gone = until(async () => {
      most = Math.max(most, residentMebibytes());
      return (await stateOf(mode))?.state === 'quarantined';
    });
    expect(await longestRunDuring(gone)).toBeLessThan(LONGEST_RUN_MS);
    expect((await stateOf(mode))?.reason).toMatch(
      mode === 'pings' ? /does not read the answers/ : /more than .* a second unsolicited/,
    );
    expect((await flood).body.success).toBe(false);
    expect(most - before).toBeLessThan(200);
  },
);

test.each([
  ['tools', /more than 10000 tools/],
  ['pages', /more than 1000 pages/],
] as const)('a server whose list of %s has no end is quarantined, with the reason', async (mode, reason) => {
  const gone = until(async () => (await stateOf(mode))?.state === 'quarantined');
  expect(await longestRunDuring(gone)).toBeLessThan(LONGEST_RUN_MS);
  expect((await stateOf(mode))?.reason).toMatch(reason);
});

test('what this host has quarantined is counted in its metrics', async () => {
  const response = await fetch(`${server.url}/metrics`, { headers: { authorization: 'Bearer admin' } });
  const { servers } = (await rest.get('/servers', 'admin')).body as unknown as { servers: { state: string }[] };
  const quarantined = servers.filter(({ state }) => state === 'quarantined').length;
  expect(quarantined).toBeGreaterThan(1);
  expect(await response.text()).toContain(`codemode_servers{state="quarantined"} ${quarantined}\n`);
});

test('codemode servers shows servers that a running host has quarantined though they answer', async () => {
  const { stdout } = await runProgram(home, 'servers', '--json');
  const { servers } = JSON.parse(stdout) as { servers: { id: string; quarantinedBy?: object[] }[] };
  const [mode] = FLOODS;
  const { state, reason } = (await stateOf(mode)) ?? {};
  expect(state).toBe('quarantined');
  const by = { pid: server.pid, reason, until: expect.stringMatching(/^20.*Z$/) };
  expect(servers.find(({ id }) => id === mode)).toMatchObject({ quarantinedBy: [by] });
  expect(servers.find(({ id }) => id === 'everyday')).not.toHaveProperty('quarantinedBy');
});

test('codemode servers shows why a server is quarantined', async () => {
  using other = openHome({ mcpServers: { many: flooding('tools') } });
  const { stdout, status } = await runProgram(other, 'servers');
  expect(status).toBe(1);
  expect(stdout).toMatch(/quarantined +many/);
  expect(stdout).toContain('it lists more than 10000 tools; it is not used again before');
});

test('commands that ask servers for their tools come to their end, with the tools of the others', async () => {
  using other = openHome({ mcpServers: { many: flooding('tools'), everyday: everyday() } });
  const program = join(other.work, 'program.ts');
  writeFileSync(
    program,
    `import { add } from '@codemode/servers/everyday'; globalThis.__codemode_result__ = await add({ a: 40, b: 2 });`,
  );
  await runProgram(other, 'scripts', 'add', 'stored', program);
  const commands = [
    ...[['tools'], ['types'], ['prompt'], ['doctor'], ['measure'], ['run', program], ['scripts', 'run', 'stored']],
    ['code', 'exec', '--code', `call_tool('everyday', 'add', { a: 40, b: 2 })`],
  ];
  const ran = commands.map(async (words) => ({ words, ...(await runProgram(other, ...words)) }));
  await using session = await openStdio(other);
  await ready(session.client, 'everyday');
  for (const { words, stdout, stderr } of await Promise.all(ran)) {
    const expected = { run: /42/, scripts: /42/, code: /42/, measure: /^tools +14$/m }[words[0] ?? ''] ?? /everyday/;
    expect([words, stdout + stderr]).toEqual([words, expect.stringMatching(expected)]);
    expect([words, stdout]).toEqual([words, expect.not.stringContaining('tool-20000')]);
  }
}, 60_000);

test('a storm of changed tools is asked about now and then, and nobody waits for it', async () => {
  await execute('mallory', 'changes', 'return await mcp.changes.flood({})');
  const storm = new Promise((resolve) => setTimeout(resolve, 2_000));
  expect(await longestRunDuring(storm)).toBeLessThan(LONGEST_RUN_MS);
  // Also a program that names the server: it uses the tools of the last listing.
  const begunAt = performance.now();
  expect((await execute('mallory', 'changes', 'return typeof mcp.changes.flood')).body.result).toBe('function');
  expect(performance.now() - begunAt).toBeLessThan(LONGEST_RUN_MS);
});
