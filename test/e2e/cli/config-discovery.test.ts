import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Home, type RunOptions } from '../../support/cli.js';
import { needsTerminal, onTerminal } from '../../support/terminal.js';
import { fixture } from '../../support/upstreams.js';

/** Where the configuration is found, and who has agreed to it. */

const everyday = { command: process.execPath, args: [fixture('everyday-server.mjs')] };
const untold: RunOptions = { isUntold: true };

interface Explained {
  readonly file: string | null;
  readonly searched: { readonly place: string; readonly state: string }[];
}

const explain = (home: Home, words: readonly string[] = [], options: RunOptions = {}) =>
  home.json<Explained>([...words, 'config', 'explain', '--json'], { ...untold, ...options });

test('the file is --config, else CODEMODE_CONFIG, else the project’s, else the user’s', async () => {
  using home = new Home();
  const own = home.write('.config/codemode/config.yaml', 'profile: codemode\n');
  expect((await explain(home)).file).toBe(own);
  const project = home.write('work/codemode.config.yaml', 'profile: codemode\n');
  const cwd = home.path('work');
  // It would take the place of the user's own file: that needs trust, whatever is in it.
  expect((await home.run(['config', 'explain'], { ...untold, cwd })).status).toBe(2);
  await onTerminal(home, ['trust'], 'y\n', { ...untold, cwd });
  expect((await explain(home, [], { cwd })).file).toBe(project);
  const named = home.write('named.yaml', 'profile: codemode\n');
  expect((await explain(home, [], { cwd, env: { CODEMODE_CONFIG: '../named.yaml' } })).file).toBe(named);
  expect((await explain(home, [], { cwd, env: { CODEMODE_CONFIG: '~/named.yaml' } })).file).toBe(named);
  expect((await explain(home, [], { cwd, env: { CODEMODE_CONFIG: '' } })).file).toBe(project);
  const flag = home.write('flag.yaml', 'profile: codemode\n');
  const { file, searched } = await explain(home, ['--config', '../flag.yaml'], {
    cwd,
    env: { CODEMODE_CONFIG: named },
  });
  expect(file).toBe(flag);
  expect(searched).toEqual([
    { place: '--config', state: 'used' },
    { place: 'CODEMODE_CONFIG', state: 'not searched' },
    { place: home.path('work/codemode.config.{yaml,yml,json}'), state: 'not searched' },
    { place: home.path('.config/codemode/config.{yaml,yml,json}'), state: 'not searched' },
  ]);
});

test('a user’s folder of its own is found by XDG_CONFIG_HOME, and doctor says which file is used', async () => {
  using home = new Home();
  const own = home.write('xdg/codemode/config.json', { mcpServers: { everyday } });
  const env = { XDG_CONFIG_HOME: home.path('xdg') };
  expect((await explain(home, [], { env })).file).toBe(own);
  const { stdout } = await home.run(['config', 'explain'], { ...untold, env });
  expect(stdout).toContain(
    `# ${own}\n# searched: --config (not set), CODEMODE_CONFIG (not set), ${home.path('codemode.config')}.{yaml,yml,json} ` +
      `(not found), ${home.path('xdg/codemode/config')}.{yaml,yml,json} (used)\n`,
  );
  const { findings } = await home.json<{ findings: { name: string; message: string }[] }>(['doctor', '--json'], {
    ...untold,
    env,
  });
  expect(findings.find(({ name }) => name === 'Configuration')?.message).toMatch(
    new RegExp(`^${own}; searched: --config \\(not set\\), .*config\\.\\{yaml,yml,json\\} \\(used\\)$`),
  );
});

test('a file that starts nothing and loosens nothing is used without a question', async () => {
  using home = new Home();
  const file = home.write(
    'codemode.config.yaml',
    'profile: unified\ntoolName: run\nlogging: { level: debug, format: json }\ncatalog: { ttl: 1h }\nprompt: { tokenBudget: 900 }\nmcpServers: {}\n',
  );
  expect((await explain(home)).file).toBe(file);
  expect((await home.run(['trust'], untold)).stdout).toBe(
    `${file} needs no trust: it starts nothing and changes no protection.\n`,
  );
});

test('on a terminal the first command shows the file and asks, and remembers a yes', needsTerminal, async () => {
  using home = new Home();
  const file = home.write('codemode.config.yaml', {
    mcpServers: {
      everyday: { ...everyday, env: { SECRET_NAME: 'secret-value' }, cwd: '.' },
      far: { url: 'http://127.0.0.1:1/mcp', headers: { Authorization: 'Bearer ${FAR_TOKEN:-}' }, disabled: true },
    },
    sandbox: { limits: { calls: 5 } },
  });
  const refused = await onTerminal(home, ['tools'], 'n\n', { ...untold, env: { COLUMNS: '300' } });
  expect(refused.status).toBe(2);
  const shown = refused.stdout.replaceAll(home.folder, '~').replaceAll(fixture('.'), 'FIXTURES/').replace(/\r/g, '');
  for (const line of [
    '~/codemode.config.yaml is not trusted yet.',
    `  | everyday: ${process.execPath} FIXTURES/everyday-server.mjs`,
    '    | in the folder .',
    // A stranger's words are shown whole; a reference is shown as one.
    '    | with the variable SECRET_NAME: secret-value',
    '  | far: http://127.0.0.1:1/mcp',
    '    | sending Authorization: "Bearer ${FAR_TOKEN:-}"',
    '  | sandbox.limits.calls: 5',
    '  | FAR_TOKEN',
    'This file would start 1 command, contact 1 URL, change 1 protected setting and read 1 environment variable.',
    'Trust this file? [y/N]',
    'codemode: ~/codemode.config.yaml is not trusted, so nothing was done. To review it again: codemode trust ~/codemode.config.yaml',
  ])
    expect(shown).toContain(line);
  expect(existsSync(home.path('state/trusted-configs.json'))).toBe(false);

  const agreed = await onTerminal(home, ['tools'], 'y\n', untold);
  expect([agreed.status, agreed.stdout.includes('everyday/echo')]).toEqual([0, true]);
  const again = await onTerminal(home, ['tools'], '', untold);
  expect(again.stdout).not.toContain('Trust this file?');
  expect(again.stdout).toContain('everyday/echo');
  expect((await home.run(['tools'], untold)).stdout).toContain('everyday/echo');

  const list = home.path('state/trusted-configs.json');
  expect(statSync(list).mode & 0o777).toBe(0o600);
  expect(JSON.parse(readFileSync(list, 'utf8')).files).toEqual([
    { path: file, digest: expect.stringMatching(/^sha256:[\da-f]{64}$/), trustedAt: expect.any(String) },
  ]);
});

test('trust is listed and revoked without a terminal, and the file is refused again', needsTerminal, async () => {
  using home = new Home();
  const file = home.write('codemode.config.yaml', { mcpServers: { everyday } });
  expect((await home.json(['trust', '--json'], untold)) as object).toMatchObject({ file, state: 'new' });
  expect((await onTerminal(home, ['trust', home.folder], 'yes\n', untold)).status).toBe(0);
  expect((await home.json(['trust', '--json'], untold)) as object).toMatchObject({ state: 'trusted' });
  expect((await home.run(['trust'], untold)).stdout).toBe(`${file} is trusted already, with this content.\n`);
  const listed = async () => (await home.json<{ files: object[] }>(['trust', '--list', '--json'], untold)).files;
  expect(await listed()).toMatchObject([{ path: file, state: 'trusted' }]);
  writeFileSync(file, '{}');
  expect(await listed()).toMatchObject([{ path: file, state: 'changed' }]);
  expect((await home.run(['trust', '--revoke'], untold)).stdout).toBe(`${file} is no longer trusted.\n`);
  expect(await listed()).toEqual([]);
  home.write('codemode.config.yaml', { mcpServers: { everyday } });
  expect((await home.run(['tools'], untold)).status).toBe(2);
});

test('commands that need no configuration work beside a file that nobody trusts', async () => {
  using home = new Home();
  home.write('codemode.config.yaml', { mcpServers: { everyday } });
  for (const words of [['--help'], ['token'], ['trust', '--list'], ['audit'], ['init', '--json', '--output', 'x.yaml']])
    expect([words, (await home.run(words, untold)).status]).toEqual([words, 0]);
  const { ok, findings } = await home.json<{ ok: boolean; findings: object[] }>(['doctor', '--json'], untold);
  expect(ok).toBe(false);
  expect(findings.at(-1)).toEqual({
    name: 'Configuration',
    state: 'missing',
    message: expect.stringMatching(/codemode\.config\.yaml is not trusted yet: it would start 1 command\./),
    fix: 'codemode trust',
  });
});

test('a file in the user’s own configuration folder is the user’s', async () => {
  using home = new Home();
  const file = home.write('.config/codemode/codemode.config.yaml', { mcpServers: { everyday } });
  const cwd = home.path('.config/codemode');
  expect((await explain(home, [], { cwd })).file).toBe(file);
  expect((await home.run(['trust', file], untold)).stdout).toContain('needs no trust: it is in your own configuration');
});

test('trust is for one place: a link to a trusted file in another folder asks again', needsTerminal, async () => {
  using home = new Home();
  const file = home.write('one/codemode.config.yaml', { mcpServers: { everyday } });
  await onTerminal(home, ['trust', file], 'y\n', untold);
  expect((await home.run(['tools'], { ...untold, cwd: home.path('one') })).status).toBe(0);
  mkdirSync(home.path('two'));
  symlinkSync('../one/codemode.config.yaml', home.path('two/codemode.config.yaml'));
  const cwd = home.path('two');
  expect((await home.run(['tools'], { ...untold, cwd })).status).toBe(2);
  const agreed = await onTerminal(home, ['trust'], 'y\n', { ...untold, cwd });
  expect(agreed.stdout).toContain(`(a link to ${file})`);
  expect((await home.run(['tools'], { ...untold, cwd })).status).toBe(0);
  // A folder is known by its real name, however it was reached.
  symlinkSync('one', home.path('three'));
  expect((await home.run(['tools'], { ...untold, cwd: home.path('three') })).status).toBe(0);
});

test('a state folder that cannot be written is reported before anything is started', needsTerminal, async () => {
  using home = new Home();
  home.write('codemode.config.yaml', { mcpServers: { everyday } });
  home.write('blocked', 'a file, so that no folder can be made below it');
  chmodSync(home.folder, 0o755);
  const { status, stdout } = await onTerminal(home, ['tools'], 'y\n', {
    ...untold,
    env: { CODEMODE_HOME: home.path('blocked/state') },
  });
  expect(status).toBe(2);
  expect(stdout).toContain(
    'trusted-configs.json could not be written (ENOTDIR); set CODEMODE_HOME to a folder of yours',
  );
  expect(stdout).not.toContain('everyday/echo');
});
