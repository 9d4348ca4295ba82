import { expect, test } from 'vitest';
import { Home } from '../../support/cli.js';
import { startCodemode } from '../../support/codemode-client.js';
import { fixture } from '../../support/upstreams.js';

/** A mistake in one server's entry costs that server and nothing else. */

const everyday = { command: process.execPath, args: [fixture('everyday-server.mjs')] };
const REASON =
  'server "files" is disabled: mcpServers.files.env.TOKEN: the environment variable NO_SUCH_VARIABLE is not set; ' +
  'set it, or write ${NO_SUCH_VARIABLE:-default}';

interface Reports {
  readonly ok: boolean;
  readonly servers: { id: string; state: string; tools: number; reason?: string; fix?: string }[];
}

function config(home: Home, more: object = {}) {
  const files = { ...everyday, env: { TOKEN: '${NO_SUCH_VARIABLE}' } };
  return home.write('codemode.config.json', { mcpServers: { everyday, files }, ...more });
}

const IMPORTS = `import * as files from '@codemode/servers/files'; globalThis.__codemode_result__ = Object.keys(files);`;
const WORKS = `import { echo } from '@codemode/servers/everyday'; globalThis.__codemode_result__ = await echo({ message: 'x' });`;

test('a disabled server has its reason and its fix in servers and in doctor', async () => {
  using home = new Home();
  const file = config(home);
  const { ok, servers } = await home.json<Reports>(['servers', '--json']);
  expect(ok).toBe(false);
  expect(servers.map(({ id, state }) => [id, state])).toEqual([
    ['everyday', 'ready'],
    ['files', 'disabled'],
  ]);
  const fix = expect.stringMatching(new RegExp(`^correct ${file}:1:\\d+, then look again: .* servers$`));
  expect(servers[1]).toMatchObject({ reason: REASON, fix, tools: 0 });
  const { findings } = await home.json<{ findings: object[] }>(['doctor', '--json']);
  expect(findings).toContainEqual({ name: 'Server "files"', state: 'missing', message: REASON, fix });
  expect(JSON.stringify(findings).split('NO_SUCH_VARIABLE is not set')).toHaveLength(2);
  const { stdout, stderr } = await home.run(['servers']);
  expect(stdout + stderr).toMatch(/NO_SUCH_VARIABLE is not set/);
  expect(stderr).toBe('');
});

test('a program that imports a disabled server is told why, and other programs run', async () => {
  using home = new Home();
  config(home);
  const run = (input: string) => home.json<{ result: unknown; diagnostics: object[] }>(['run', '-'], { input });
  expect((await run(WORKS)).diagnostics).toEqual([]);
  expect(JSON.stringify((await run(IMPORTS)).diagnostics)).toContain(JSON.stringify(REASON).slice(1, -1));
});

test('over MCP the client gets the tools of the others, and the reason for the disabled one', async () => {
  const files = { ...everyday, comand: 'x' };
  await using codemode = await startCodemode({ servers: { everyday, files } });
  expect(await codemode.value(WORKS)).toBeDefined();
  const { diagnostics } = await codemode.run(IMPORTS);
  expect(JSON.stringify(diagnostics)).toContain('mcpServers.files.comand: unknown key; did you mean command?');
});

test('what the catalog on disk knows of a disabled server is not offered', async () => {
  using home = new Home();
  config(home);
  const env = { NO_SUCH_VARIABLE: 'x' };
  expect((await home.run(['tools'], { env })).stdout).toContain('files/echo');
  const { stdout } = await home.run(['tools']);
  expect(stdout).toContain('everyday/echo');
  expect(stdout).not.toContain('files/');
  expect((await home.run(['tools'], { env })).stdout).toContain('files/echo');
});

test('naming a disabled server gives the reason', async () => {
  using home = new Home();
  config(home);
  for (const words of [
    ['types', 'files'],
    ['tools', '--server', 'files'],
    ['auth', 'login', 'files'],
  ]) {
    const { status, stderr } = await home.run(words);
    expect([words, stderr]).toEqual([words, expect.stringContaining(`codemode: ${REASON}`)]);
    expect(status).not.toBe(0);
  }
});

test('rules and limits that name a disabled server stay, and stop nothing', async () => {
  using home = new Home();
  const decision = { tool: 'files/read', decision: 'allow' };
  const policy = {
    rules: [
      { tools: 'files/read', annotations: { readOnlyHint: true }, decision: 'allow', examples: [decision] },
      { tools: 'files/*', decision: 'deny' },
    ],
    prices: { 'files/*': 1 },
  };
  config(home, {
    policy,
    limits: [{ tools: 'files/*', rate: '1/m' }],
    security: { capabilities: { mcp: { allowedServers: ['files', 'everyday'] } } },
  });
  expect((await home.run(['run', '-'], { input: WORKS })).status).toBe(0);
  const check = await home.json(['policy', 'check', 'files/write', '--json']);
  expect(check).toMatchObject({ decision: 'deny' });
});

test('the warning is printed once, by commands that use servers, and by no other', async () => {
  using home = new Home();
  config(home);
  for (const words of [['tools'], ['run', '-']]) {
    const { stderr } = await home.run(words, { input: 'globalThis.__codemode_result__ = 1;' });
    expect([words, stderr.split('server "files" is disabled')]).toEqual([
      words,
      [expect.anything(), expect.anything()],
    ]);
  }
  for (const words of [
    ['auth', 'status'],
    ['runs'],
    ['scripts', 'list'],
    ['policy', 'check', 'everyday/echo'],
    ['doctor'],
  ]) {
    const { stderr } = await home.run(words);
    expect([words, stderr]).toEqual([words, expect.not.stringContaining('is disabled')]);
  }
});

test('codemode alone names the disabled server, with its mistake and its place', async () => {
  using home = new Home();
  const file = config(home);
  const { stdout } = await home.run([]);
  expect(stdout.replace(file, 'FILE').replace(home.folder, '~')).toContain(
    `Server ${REASON.slice('server '.length)} (~/codemode.config.json:1:`,
  );
});
