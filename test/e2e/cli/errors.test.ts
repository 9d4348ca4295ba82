import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Home, PROGRAM } from '../../support/cli.js';
import { skipped } from '../../support/needs.js';
import { fixture } from '../../support/upstreams.js';

const config = { mcpServers: { everyday: { command: process.execPath, args: [fixture('everyday-server.mjs')] } } };

/** Runs a command with bad input: expects nothing on stdout and returns the one message, which has no stack trace. */
async function complaint(home: Home, words: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const { status, stdout, stderr } = await home.run(words, { env });
  expect({ words, status, stdout }).toEqual({ words, status: 2, stdout: '' });
  expect(stderr).not.toMatch(/^\s+at .*\(|node:internal|dist\/bin\.js/m);
  return stderr.replaceAll(home.folder, '~').trimEnd();
}

test('wrong words on the command line are reported with the right ones [X6]', async () => {
  using home = new Home();
  home.write('codemode.config.yaml', config);
  const told: [string[], string | RegExp][] = [
    [['tools', '--server', 'everday'], 'codemode: there is no server "everday"; did you mean everyday?'],
    [['types', 'xyz'], 'codemode: there is no server "xyz"; there are: everyday'],
    [
      ['tools', '--detail', 'ful'],
      'codemode: --detail is "ful"; use one of: name, description, full, name+description (did you mean full?)',
    ],
    [['types', '--detail', 'x'], 'codemode: --detail is "x"; use one of: full, compact, signatures'],
    [['tools', '--limit', '-3'], 'codemode: --limit is "-3"; give a whole number, 1 or more'],
    [['tools', '--limit', '1e99'], 'codemode: --limit is "1e99"; give a whole number, 1 or more'],
    [['tools', '--limit'], /option '--limit <count>' argument missing/],
    [['tolls'], /unknown command 'tolls'[\s\S]*Did you mean tools\?/],
    [['servers', '--jsno'], "codemode: unknown option '--jsno' (Did you mean --json?). See: codemode servers --help"],
    [['add'], "codemode: missing required argument 'name'. See: codemode add --help"],
    [['runs', 'show'], "codemode: missing required argument 'run'. See: codemode runs show --help"],
    [['completion'], /^Usage: codemode completion \[options\] \[command\]\n\nprint a script/],
    [['--bogus'], "codemode: unknown option '--bogus'. See: codemode --help"],
    [['--isolation', 'heavy', 'servers'], /--isolation: sandbox\.isolation: expected one of strict, namespaces, none/],
    [
      ['init', '--output', 'x.txt'],
      'codemode: ~/x.txt must end in .yaml, .yml, .json or .jsonc to be read as a configuration',
    ],
    [
      ['init', '--yes', '--output', 'no/such/x.yaml'],
      /^codemode: ~\/no\/such\/x\.yaml could not be written: its folder/,
    ],
  ];
  for (const [words, expected] of told) {
    // `init` shows its plan before it writes.
    if (words[1] === '--yes') expect((await home.run(words)).stderr.replaceAll(home.folder, '~')).toMatch(expected);
    else if (typeof expected === 'string') expect(await complaint(home, words)).toBe(expected);
    else expect(await complaint(home, words)).toMatch(expected);
  }
});

test('an invalid configuration is reported with the reason, by every command that reads it [X6]', async () => {
  using home = new Home();
  mkdirSync(home.path('folder.yaml'));
  symlinkSync('loop.yaml', home.path('loop.yaml'));
  home.write('cycle.yaml', 'mcpServers: &a\n  x: { command: y, env: *a }\n');
  home.write('binary.yaml', '\u0000\u0001');
  home.write('empty.yaml', '');
  home.write('list.yaml', '- 1\n');
  home.write('unset.yaml', 'toolName: "${NOT_SET_ANYWHERE}"\n');
  home.write('nothing.yaml', 'mcpServers: all\n');
  const told: Record<string, RegExp> = {
    'missing.yaml': /^codemode: ~\/missing\.yaml: does not exist; check the path$/,
    'folder.yaml': /^codemode: ~\/folder\.yaml: is a folder; give the file inside it$/,
    'loop.yaml': /^codemode: ~\/loop\.yaml: is a symbolic link that leads to itself$/,
    'cycle.yaml': /^codemode: ~\/cycle\.yaml.*(alias|never end)/,
    'binary.yaml': /^codemode: ~\/binary\.yaml.*binary/,
    'empty.yaml': /^codemode: ~\/empty\.yaml: is empty; run `codemode init`/,
    'list.yaml': /^codemode: ~\/list\.yaml:1:1: expected a map of settings/,
    'unset.yaml': /^codemode: ~\/unset\.yaml:1:\d+: toolName: the environment variable NOT_SET_ANYWHERE/,
    'nothing.yaml': /^codemode: ~\/nothing\.yaml:1:\d+: mcpServers: expected servers: a map by name, or a list/,
  };
  const commands = [['tools'], ['types'], ['servers'], ['config', 'explain'], ['run', home.write('p.ts', '1')]];
  await Promise.all(
    Object.entries(told).map(async ([file, expected], index) => {
      const words = commands[index % commands.length] as string[];
      expect(await complaint(home, ['--config', file, ...words])).toMatch(expected);
    }),
  );
});

/** Root may read every file, so it becomes somebody else first. */
const SOMEBODY = 12_345;
const through =
  process.getuid?.() === 0 ? ['setpriv', `--reuid=${SOMEBODY}`, `--regid=${SOMEBODY}`, '--clear-groups'] : [];

test('a file that may not be read is reported [X6]', canBeSomebody(), async () => {
  using home = new Home();
  home.write('locked.yaml', config, 0o000);
  if (through.length > 0) chmodSync(home.folder, 0o755);
  const { status, stderr } = await home.run(['--config', 'locked.yaml', 'tools'], { through });
  expect({ status, stderr }).toEqual({
    status: 2,
    stderr: `codemode: ${home.path('locked.yaml')}: may not be read; check its permissions\n`,
  });
});

function canBeSomebody() {
  const [command, ...words] = through;
  if (command === undefined) return {};
  const { status } = spawnSync(command, [...words, 'test', '-r', PROGRAM]);
  return status === 0 ? {} : skipped('root may read every file, and nobody else may read the built program here');
}

test('a server whose command is missing costs its own tools and no others [X6]', async () => {
  using home = new Home();
  home.write('codemode.config.yaml', { mcpServers: { ...config.mcpServers, gone: { command: 'no-such-program' } } });
  const { status, stdout, stderr } = await home.run(['tools']);
  expect(status).toBe(0);
  expect(stdout).toContain('everyday/echo');
  expect(stderr).toMatch(
    /^codemode: warning: server "gone": command not found: no-such-program; install it, or correct `command`.*codemode servers\n$/,
  );
  const only = await home.run(['types', 'gone']);
  expect({ status: only.status, stdout: only.stdout }).toEqual({ status: 69, stdout: '' });
  expect(only.stderr).toMatch(/^codemode: server "gone": command not found: no-such-program/);
});
