import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Home, PROGRAM } from '../../support/cli.js';
import { needsTerminal, onTerminal } from '../../support/terminal.js';
import { fixture } from '../../support/upstreams.js';

/** Word for word: what a person reads who made a mistake with the configuration. */

const everyday = { command: process.execPath, args: [fixture('everyday-server.mjs')] };
const WHAT_TO_DO =
  'Import the servers of your other clients with: codemode init. Add one with: codemode add NAME -- COMMAND';

interface Said {
  readonly status: number | null;
  readonly stderr: string;
}

/** The folder of the test is written as `~`. */
async function said(home: Home, words: readonly string[], env: Record<string, string> = {}): Promise<Said> {
  const { status, stderr } = await home.run(words, { env, isUntold: true });
  return { status, stderr: stderr.replaceAll(home.folder, '~') };
}

test('without a configuration every command that needs one says where it looked and what to type', async () => {
  using home = new Home();
  const program = home.write(
    'p.ts',
    `import { echo } from '@codemode/servers/everyday'; await echo({ message: 'x' });`,
  );
  const stderr =
    'codemode: no configuration was found. Searched: --config (not set), CODEMODE_CONFIG (not set), ' +
    '~/codemode.config.{yaml,yml,json} (not found), ~/.config/codemode/config.{yaml,yml,json} (not found). ' +
    `${WHAT_TO_DO}\n`;
  for (const words of [['servers'], ['tools'], ['types']])
    expect([words, await said(home, words)]).toEqual([words, { status: 0, stderr }]);
  expect(await said(home, ['run', program])).toEqual({ status: 1, stderr });
  const quiet = home.write('q.ts', 'globalThis.__codemode_result__ = 1');
  expect(await said(home, ['run', quiet])).toEqual({ status: 0, stderr: '' });
});

test('a configuration without servers is named, with what to type', async () => {
  using home = new Home();
  home.write('empty.yaml', 'mcpServers: {}\n');
  expect(await said(home, ['--config', 'empty.yaml', 'servers'])).toEqual({
    status: 0,
    stderr: `codemode: ~/empty.yaml lists no servers. ${WHAT_TO_DO}\n`,
  });
});

test('a mistake in a JSON file is reported in terms of JSON, with its position', async () => {
  using home = new Home();
  home.write('bad.json', '{"mcpServers": {"a": {"command": "node" "x"}}}');
  expect(await said(home, ['--config', 'bad.json', 'servers'])).toEqual({
    status: 2,
    stderr:
      'codemode: ~/bad.json:1:41: not valid JSON here: look for a missing or extra comma, quote or bracket just before this place\n',
  });
});

test('a deleted current folder is reported in one line', () => {
  const folder = mkdtempSync(join(tmpdir(), 'codemode-gone-'));
  const { status, stdout, stderr } = spawnSync(
    'sh',
    ['-c', `cd ${folder} && rmdir ${folder} && exec ${process.execPath} ${PROGRAM} servers`],
    { encoding: 'utf8' },
  );
  expect({ status, stdout, stderr }).toEqual({
    status: 2,
    stdout: '',
    stderr: 'codemode: the current folder no longer exists; go to another one with cd, then try again.\n',
  });
});

test('an empty file, a wrong key and a wrong path are each reported in one line', async () => {
  using home = new Home();
  home.write('empty.yaml', '');
  home.write('key.yaml', 'profile: codemode\nservres: {}\nsandbox: { isolatoin: strict }\n');
  const told: [words: string[], env: Record<string, string>, stderr: string][] = [
    [
      ['--config', 'empty.yaml', 'servers'],
      {},
      'codemode: ~/empty.yaml: is empty; run `codemode init` to write a first configuration\n',
    ],
    [
      ['--config', 'key.yaml', 'servers'],
      {},
      'codemode: ~/key.yaml:3:12: sandbox.isolatoin: unknown key; did you mean isolation?\n' +
        '~/key.yaml:2:1: servres: unknown key; did you mean mcpServers?\n',
    ],
    [['--config', 'none.yaml', 'servers'], {}, 'codemode: ~/none.yaml: does not exist; check the path\n'],
    [
      ['servers'],
      { CODEMODE_CONFIG: 'none.yaml' },
      'codemode: CODEMODE_CONFIG: ~/none.yaml: does not exist; check the path\n',
    ],
    [
      ['servers'],
      { CODEMODE_CONFIG: home.folder },
      'codemode: CODEMODE_CONFIG: ~: is a folder; give the file inside it\n',
    ],
  ];
  for (const [words, env, stderr] of told)
    expect([words, await said(home, words, env)]).toEqual([words, { status: 2, stderr }]);
});

test('an unset variable outside of any server stops the program, with its place', async () => {
  using home = new Home();
  home.write('unset.yaml', 'redaction:\n  extra: ["${NO_SUCH_VARIABLE}"]\n');
  expect(await said(home, ['--config', 'unset.yaml', 'servers'])).toEqual({
    status: 2,
    stderr:
      'codemode: ~/unset.yaml:2:11: redaction.extra[0]: the environment variable NO_SUCH_VARIABLE is not set; ' +
      'set it, or write ${NO_SUCH_VARIABLE:-default}\n',
  });
});

test('an unset variable, a wrong key and a missing command each cost one server', async () => {
  using home = new Home();
  home.write(
    'three.yaml',
    'mcpServers:\n  unset: { url: "https://127.0.0.1:1/${NO_SUCH_VARIABLE}" }\n  wrong: { comand: x }\n  gone: { command: no-such-program }\n' +
      `  everyday: ${JSON.stringify(everyday)}\n`,
  );
  const { status, stdout, stderr } = await home.run(['--config', 'three.yaml', 'servers']);
  // The list itself says it, once.
  expect({ status, stderr }).toEqual({ status: 1, stderr: '' });
  // Not on PATH here, so it is named by its absolute paths.
  const own = `${process.execPath} ${PROGRAM}`;
  const shown = stdout.replaceAll(home.folder, '~').replaceAll(own, 'codemode');
  expect(shown).toContain(
    'server "unset" is disabled: mcpServers.unset.url: the environment variable NO_SUCH_VARIABLE is not set; set it, or write ' +
      '${NO_SUCH_VARIABLE:-default}\n          correct ~/three.yaml:2:17, then look again: codemode servers\n',
  );
  expect(shown).toContain(
    'disabled  wrong\n' +
      '          server "wrong" is disabled: mcpServers.wrong.comand: unknown key; did you mean command? (and 1 more)\n' +
      '          correct ~/three.yaml:3:12, then look again: codemode servers\n',
  );
  expect(stdout).toContain(
    'failed    gone      stdio, 0 tools\n' +
      '          command not found: no-such-program; install it, or correct `command` of this server\n',
  );
  expect(stdout).toMatch(/^ready {5}everyday {2}stdio/m);
});

test('an untrusted file is refused with what it would do and what to type', async () => {
  using home = new Home();
  home.write('codemode.config.yaml', { mcpServers: { a: everyday, b: everyday } });
  expect(await said(home, ['servers'])).toEqual({
    status: 2,
    stderr:
      'codemode: ~/codemode.config.yaml is not trusted yet: it would start 2 commands. ' +
      'Review and trust it with: codemode trust ~/codemode.config.yaml\n',
  });
  expect(await said(home, ['trust'])).toEqual({
    status: 2,
    stderr:
      'codemode: ~/codemode.config.yaml would start 2 commands. Only a person at a terminal can trust it. ' +
      'Type there: codemode trust ~/codemode.config.yaml\n',
  });
});

test('a trusted file that changed is refused until it is trusted again', needsTerminal, async () => {
  using home = new Home();
  const file = home.write('codemode.config.yaml', { mcpServers: { a: everyday } });
  expect((await onTerminal(home, ['trust'], 'y\n', { isUntold: true })).status).toBe(0);
  expect((await home.run(['tools', '--json'], { isUntold: true })).status).toBe(0);
  writeFileSync(file, JSON.stringify({ mcpServers: { a: everyday, b: { command: 'other' } } }));
  expect(await said(home, ['tools'])).toEqual({
    status: 2,
    stderr:
      'codemode: ~/codemode.config.yaml has changed since you trusted it: it would start 2 commands. ' +
      'Review and trust it again with: codemode trust ~/codemode.config.yaml\n',
  });
});

test('wrong words for trust are reported with the right ones', async () => {
  using home = new Home();
  home.write('other.yaml', 'profile: codemode\n');
  const told: [words: string[], stderr: string][] = [
    [['trust'], 'codemode: there is no codemode.config.yaml, .yml or .json in ~; name the file\n'],
    [['trust', 'codemode.config.yaml'], 'codemode: ~/codemode.config.yaml: does not exist; check the path\n'],
    [
      ['trust', 'other.yaml'],
      'codemode: ~/other.yaml is not called codemode.config.yaml, .yml or .json; a file with another name is used with ' +
        '--config, and needs no trust\n',
    ],
    [
      ['trust', '--revoke', 'codemode.config.yaml'],
      'codemode: ~/codemode.config.yaml is not trusted. To see what is: codemode trust --list\n',
    ],
    [['trust', '--revoke'], 'codemode: no file in ~ is trusted. To see what is: codemode trust --list\n'],
    [['trust', '--list', '--revoke'], 'codemode: --list takes neither a file nor --revoke\n'],
  ];
  for (const [words, stderr] of told) expect([words, await said(home, words)]).toEqual([words, { status: 2, stderr }]);
  expect(existsSync(home.path('state', 'trusted-configs.json'))).toBe(false);
});
