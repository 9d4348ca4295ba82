import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { expect, test } from 'vitest';
import { Home } from '../../support/cli.js';
import { needs, requires } from '../../support/needs.js';
import { fixture } from '../../support/upstreams.js';

const node = process.execPath;

interface Findings {
  readonly ok: boolean;
  readonly findings: { name: string; state: string; message: string; fix?: string }[];
}

test(
  'doctor checks runtime, jail, limits, configuration, state and servers, and runs a program [X5]',
  needs('bubblewrap'),
  async () => {
    using home = new Home();
    home.write('codemode.config.yaml', {
      mcpServers: { fine: { command: node, args: [fixture('everyday-server.mjs')] } },
    });
    const { ok, findings } = await home.json<Findings>(['doctor', '--json']);
    expect(findings.map(({ name, state }) => [name, state])).toEqual([
      ['Node', 'ok'],
      ['Kernel', 'ok'],
      ['Isolation "strict"', 'ok'],
      ['Isolation "namespaces"', expect.any(String)],
      ['Configuration', 'ok'],
      ['Limits', 'ok'],
      ['State folder', 'ok'],
      ['Key', 'ok'],
      ['Node for programs', 'ok'],
      ['Python for programs', expect.any(String)],
      ['Go for programs', expect.any(String)],
      ['Server "fine"', 'ok'],
      ['Code mode', 'ok'],
      ['Types', 'ok'],
      ['A program in the sandbox', 'ok'],
    ]);
    expect(ok).toBe(true);
    const cores = availableParallelism();
    const limits = findings.find(({ name }) => name === 'Limits')?.message;
    expect(limits).toContain(`up to ${Math.max(cores, 2)} workers on ${cores} cores`);
  },
);

test('doctor says for each finding what to type [X5]', async () => {
  using home = new Home();
  const file = home.write(
    'codemode.config.yaml',
    JSON.stringify({
      mcpServers: {
        gone: { command: 'no-such-program' },
        odd: { command: node, args: [fixture('awkward-server.mjs'), 'odd-tools'] },
        wide: { command: node, args: [fixture('everyday-server.mjs'), '.'] },
      },
      sandbox: { limits: { memory: '99999GB' } },
    }),
    0o644,
  );
  const env = { CODEMODE_HOME: '/proc/nowhere' };
  const { ok, findings } = await home.json<Findings>(['doctor', '--json'], { env });
  expect(ok).toBe(false);
  const unwell = findings.filter(({ name, fix }) => fix !== undefined && !name.startsWith('Isolation'));
  expect(unwell.map(({ name, state, fix }) => [name, state, fix])).toEqual([
    ['Configuration', 'ok', `chmod 600 ${file}`],
    ['Limits', 'warning', 'lower sandbox.limits.memory in the configuration'],
    ['State folder', 'missing', expect.stringContaining('mkdir -p /proc/nowhere')],
    ['Server "wide"', 'warning', expect.stringContaining('not one around it')],
    ['Server "gone"', 'missing', `correct mcpServers.gone in ${file}`],
    ['Server "odd"', 'warning', expect.any(String)],
  ]);
  const text = await home.run(['doctor'], { env });
  expect(text.status).toBe(1);
  expect(text.stdout).toMatch(/^fail {2}Server "gone": .*command not found: no-such-program/m);
});

test('doctor tells a mistake in the configuration with its place, and does not guess beyond it [X5]', async () => {
  using home = new Home();
  const file = home.write('codemode.config.yaml', 'profile: codemode\nservres: {}\n');
  const { ok, findings } = await home.json<Findings>(['doctor', '--json']);
  expect(ok).toBe(false);
  expect(findings.at(-1)).toEqual({
    name: 'Configuration',
    state: 'missing',
    message: expect.stringContaining(`${file}:2:1: servres: `),
    fix: 'correct it, then look at the result: codemode config explain',
  });
});

test('without any configuration doctor names the command that writes one [X5]', async () => {
  using home = new Home();
  const { findings } = await home.json<Findings>(['doctor', '--json']);
  expect(findings).toContainEqual({
    name: 'Configuration',
    state: 'warning',
    message:
      'no file was found, so there are no servers; searched: --config (not set), CODEMODE_CONFIG (not set), ' +
      `${home.path('codemode.config')}.{yaml,yml,json} (not found), ` +
      `${home.path('.config/codemode/config')}.{yaml,yml,json} (not found)`,
    fix: 'codemode init',
  });
});

test('doctor says with numbers where a few tools are better given to the model directly', async () => {
  using home = new Home();
  home.write('codemode.config.yaml', {
    mcpServers: { few: { command: node, args: [fixture('ledger-server.mjs'), home.path('ledger')] } },
  });
  const { findings } = await home.json<Findings>(['doctor', '--json']);
  expect(findings.find(({ name }) => name === 'Code mode')?.message).toMatch(
    /^you have \d tools with \d+ tokens of definitions, fewer than 10 tools and 10000 tokens: give them to the model directly/,
  );
});

const NAMESPACES = {
  isMet: existsSync('/usr/bin/unshare'),
  reason: 'there is no /usr/bin/unshare; install util-linux',
};
test('without a jail doctor names the reason once for each level, and what to type', requires(NAMESPACES), async () => {
  using home = new Home();
  const script = 'printf 0 > /proc/sys/user/max_user_namespaces; exec "$@"';
  const through = ['unshare', '-Ur', 'sh', '-euc', script, 'sh'];
  const { stdout, stderr, status } = await home.run(['doctor'], { through });
  expect({ status, stderr }).toEqual({ status: 1, stderr: '' });
  expect(stdout).toMatch(/^fail {2}Isolation "strict": .*\n {8}run.*sudo sysctl -w user\.max_user_namespaces=15000\n/m);
  expect(stdout).toMatch(
    /^fail {2}A program in the sandbox: not run: isolation "strict" is unavailable on this machine: [^\\]*$/m,
  );
});
