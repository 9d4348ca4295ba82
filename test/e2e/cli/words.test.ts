import { existsSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, expect, test } from 'vitest';
import { Home, PROGRAM } from '../../support/cli.js';
import { LedgerHome } from '../../support/ledger.js';
import { fixture } from '../../support/upstreams.js';

const { version } = createRequire(import.meta.url)('../../../package.json') as { version: string };
const everyday = { command: process.execPath, args: [fixture('everyday-server.mjs')] };
/** How the program is started from a folder where nothing is installed. */
const OWN = `${process.execPath} ${PROGRAM}`;

describe('the version', () => {
  test.each([['--version'], ['-V'], ['version']])('codemode %s prints it', async (word) => {
    using home = new Home();
    expect(await home.run([word])).toEqual({ status: 0, stdout: `${version}\n`, stderr: '' });
  });

  test('codemode version --json prints it with Node and the platform', async () => {
    using home = new Home();
    expect(await home.json(['version', '--json'])).toEqual({
      version,
      node: process.versions.node,
      platform: `${process.platform}-${process.arch}`,
    });
  });
});

describe('codemode alone says what to do next', () => {
  const next = async (home: Home, options = {}) => {
    const { status, stdout, stderr } = await home.run([], options);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout.split('\n').length).toBeLessThan(12);
    return stdout.replaceAll(home.folder, '~');
  };

  test('without a configuration: init, and nothing is written', async () => {
    using home = new Home();
    expect(await next(home)).toBe(
      [
        `codemode ${version}: no servers are configured yet.`,
        '',
        `  ${OWN} init                 imports the servers of your other clients`,
        `  ${OWN} add NAME -- COMMAND  adds one server`,
        `  ${OWN} demo                 shows it at work, without any server of yours`,
        '',
        `All commands: ${OWN} --help`,
        '',
      ].join('\n'),
    );
    expect(existsSync(home.path('state'))).toBe(false);
  });

  test('with servers and no client: servers, and what the client starts; no server is started', async () => {
    using home = new Home();
    const witness = home.path('started');
    home.write('codemode.config.yaml', { mcpServers: { one: everyday, two: { command: 'touch', args: [witness] } } });
    const said = await next(home);
    expect(said).toMatch(/^codemode \S+: 2 servers in ~\/codemode\.config\.yaml\.$/m);
    expect(said).toMatch(/ servers {2,}says whether your servers answer$/m);
    expect(existsSync(witness)).toBe(false);
  });

  test('with a client connected: tools and runs', async () => {
    using home = new Home();
    home.write('codemode.config.yaml', { mcpServers: { one: everyday } });
    home.write('.cursor/mcp.json', { mcpServers: { codemode: { command: 'codemode', args: ['mcp'] } } });
    const said = await next(home);
    expect(said).toMatch(/ tools {2,}lists what programs can call; connected: Cursor$/m);
    expect(said).not.toContain('says whether your servers answer');
  });

  test('with a broken configuration: what is wrong, and doctor', async () => {
    using home = new Home();
    home.write('codemode.config.yaml', { mcpServer: {} });
    const said = await next(home);
    expect(said).toMatch(/the configuration cannot be used\.\n~\/codemode\.config\.yaml.*mcpServer/);
    expect(said).toMatch(/ doctor {2,}says what is wrong/);
  });

  test('with calls that wait: approvals first', async () => {
    using home = new LedgerHome();
    await home.program(`import { write } from '@codemode/servers/ledger'; await write({ text: 'x' });`);
    const said = await next(home);
    expect(said).toContain('1 call waits for your approval.');
    expect(said).toMatch(/\n\n {2}\S.* approvals {2,}shows what waits, and how to decide\n/);
  });

  test('with a state folder that cannot be read: doctor', async () => {
    using home = new Home();
    home.write('codemode.config.yaml', { mcpServers: { one: everyday } });
    home.write('state/codemode.db', 'no database at all, and long enough to be looked at'.repeat(100));
    expect(await next(home)).toMatch(/The state folder cannot be read: .*\n\n.* doctor /);
  });

  test('codemode --help still lists every command', async () => {
    using home = new Home();
    const { status, stdout } = await home.run(['--help']);
    expect(status).toBe(0);
    for (const name of ['mcp', 'run', 'servers', 'approvals', 'completion', 'version'])
      expect(stdout).toMatch(new RegExp(`^  ${name} `, 'm'));
  });
});

describe('words that are not a command', () => {
  test.each([
    [['tolls'], "codemode: unknown command 'tolls'. Did you mean tools? List the commands with: codemode --help\n"],
    [['xyzzy'], "codemode: unknown command 'xyzzy'. List the commands with: codemode --help\n"],
    [
      ['runs', 'shwo', 'abcd'],
      "codemode: unknown command 'shwo'. Did you mean show? List the commands with: codemode runs --help\n",
    ],
    [
      ['auth', 'lgoin'],
      "codemode: unknown command 'lgoin'. Did you mean login? List the commands with: codemode auth --help\n",
    ],
    [
      ['help', 'tolls'],
      "codemode: unknown command 'tolls'. Did you mean tools? List the commands with: codemode --help\n",
    ],
    [['to\u001b[2Jls'], "codemode: unknown command 'to\\u001b[2Jls'. List the commands with: codemode --help\n"],
  ])('%j are answered with the nearest one', async (words, stderr) => {
    using home = new Home();
    expect(await home.run(words)).toEqual({ status: 2, stdout: '', stderr });
  });

  test('codemode help COMMAND prints the help of a command, also below another', async () => {
    using home = new Home();
    const [byHelp, byFlag] = [await home.run(['help', 'runs', 'show']), await home.run(['runs', 'show', '--help'])];
    expect(byHelp).toMatchObject({ status: 0, stderr: '' });
    expect(byHelp.stdout).toMatch(/^Usage: codemode runs show/);
    expect(byHelp).toEqual(byFlag);
    expect((await home.run(['help', 'tools'])).stdout).toMatch(/^Usage: codemode tools/);
    expect((await home.run(['help', 'tools', 'x'])).stdout).toMatch(/^Usage: codemode tools/);
  });
});

test('the commands that are printed are short where the shell finds this program', async () => {
  using home = new Home();
  home.write('bin/.keep', '');
  symlinkSync(PROGRAM, home.path('bin', 'codemode'));
  const { stdout } = await home.run([], { env: { PATH: `${home.path('bin')}:${process.env.PATH ?? ''}` } });
  expect(stdout).toMatch(/^ {2}codemode init {2}/m);
  expect(stdout).toMatch(/^All commands: codemode --help$/m);
});
