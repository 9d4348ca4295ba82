import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { Home, PROGRAM } from '../../support/cli.js';
import { fixture } from '../../support/upstreams.js';

const node = process.execPath;
const everyday = fixture('everyday-server.mjs');
const own = `${node} ${PROGRAM}`;
const USERS = '.config/codemode/config.yaml';

/** The server was given it, and the program does not get to see it. */
const REDACTED = expect.stringMatching(/^\[redacted/i);

const read = (file: string) => readFileSync(file, 'utf8');

describe('add', () => {
  test('a command makes your own file, and the server answers', async () => {
    using home = new Home();
    const added = await home.run([
      'add',
      'every day',
      '--env',
      'MODE=dev',
      '--env',
      'API_KEY',
      '--',
      node,
      everyday,
      '-x',
    ]);
    const file = home.path(USERS);
    expect(added).toEqual({
      status: 0,
      stdout: `added: every day to ${file}
It refers to a variable that is not set; set it first:  export API_KEY=...
See whether it answers:  ${own} servers\n`,
      stderr: '',
    });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(read(file)).toContain(
      `mcpServers:\n  every day:\n    command: ${node}\n    args:\n      - ${everyday}\n      - -x\n    env:\n      MODE: dev\n      API_KEY: \${API_KEY}\n`,
    );
    const env = { API_KEY: 'hunter2-hunter2' };
    expect(await home.json(['servers', '--json'], { env })).toMatchObject({ ok: true, servers: [{ id: 'every day' }] });
    const input = `import { environment } from '@codemode/servers/every-day';
      globalThis.__codemode_result__ = [await environment({ name: 'MODE' }), await environment({ name: 'API_KEY' })];`;
    expect(await home.json(['run', '-'], { env, input })).toMatchObject({ result: ['dev', REDACTED] });
  });

  test('an address with headers, as JSON without values', async () => {
    using home = new Home();
    const words = [
      'add',
      'issues',
      '--url',
      'https://example.com/mcp',
      '--header',
      'Authorization: Bearer hunter2-hunter2',
    ];
    expect(await home.json([...words, '--header', 'X-Team: a: b', '--json'])).toEqual({
      name: 'issues',
      file: home.path(USERS),
      url: 'https://example.com/mcp',
      env: [],
      headers: ['Authorization', 'X-Team'],
      variables: [],
      notPassedOn: [],
      warnings: [],
    });
    expect(read(home.path(USERS))).toContain(
      '  issues:\n    url: https://example.com/mcp\n    headers:\n      Authorization: Bearer hunter2-hunter2\n      X-Team: "a: b"\n',
    );
  });

  test('keeps comments and everything else of the file that is in use, or that --config names', async () => {
    using home = new Home();
    const mine = '# mine\nmcpServers:\n    a:   {command: x}   # first\n\nprofile:  codemode # last\n';
    const file = home.write(USERS, mine, 0o640);
    const other = home.write('other.yaml', '# other\n');
    expect((await home.run(['add', 'b', '--cwd', 'sub', '--', node])).status).toBe(0);
    expect(read(file)).toBe(
      mine.replace('# first\n', `# first\n    b:\n      command: ${node}\n      cwd: ${home.path('sub')}\n`),
    );
    expect(statSync(file).mode & 0o777).toBe(0o640);
    expect(existsSync(`${file}.bak`)).toBe(false);
    const named = await home.run(['--config', other, 'add', 'c', '--', node]);
    expect(named.stdout).toContain(`See whether it answers:  ${own} --config ${other} servers\n`);
    expect(read(other)).toBe(`# other\nmcpServers:\n  c:\n    command: ${node}\n`);
    expect(read(file)).not.toContain('c:\n');
  });

  test("writes no secrets with --project or beside a project's file, and the file needs trust", async () => {
    using home = new Home();
    const cwd = home.path('project');
    mkdirSync(cwd);
    execFileSync('git', ['init', '-q', cwd]);
    const file = home.path('project/codemode.config.yaml');
    const added = await home.run(['add', 'a', '--project', '--env', 'GH_TOKEN=hunter2', '--', node, '--key=hunter3'], {
      cwd,
    });
    expect(added.stdout).toContain('set them:\n  export A_KEY=...\n  export GH_TOKEN=...\n');
    expect(added.stdout).toContain(`git would commit ${file}`);
    expect(added.stdout).toContain(`again after each change:  ${own} trust\n`);
    expect(read(file)).toContain('--key=${A_KEY}\n    env:\n      GH_TOKEN: ${GH_TOKEN}\n');
    expect(read(file)).not.toContain('hunter');
    expect(existsSync(home.path(USERS))).toBe(false);
  });

  test('a command that is not on PATH is a warning, and it is written all the same', async () => {
    using home = new Home();
    const { status, stderr } = await home.run(['add', 'a', '--', 'no-such-program-here', 'x']);
    expect({ status, stderr }).toEqual({
      status: 0,
      stderr:
        'codemode: warning: "no-such-program-here" is not on your PATH; the server was added, and will not start before it is\n',
    });
    expect(read(home.path(USERS))).toContain('command: no-such-program-here');
  });

  test.each([
    [
      'the name is taken',
      ['a', '--', node],
      `~/${USERS} has a server called "a" already; choose another name, or remove it first: ${own} remove a`,
    ],
    [
      'the name cannot be one',
      ['a/b', '--', node],
      'the name "a/b" cannot be used: give 1 to 128 characters without slashes and control characters',
    ],
    [
      'nothing is said',
      ['b'],
      `say what b is: a command after --, as in  ${own} add b -- npx -y PACKAGE, or --url URL`,
    ],
    [
      'the -- is missing',
      ['b', 'npx', '-y', 'it'],
      "unknown option '-y'. Put the server's command after --, as in: codemode add NAME -- npx -y PACKAGE",
    ],
    [
      'the command is in quotes',
      ['b', '--', 'npx -y it'],
      `there is no program called "npx -y it"; give its words without quotes: ${own} add b -- npx -y it`,
    ],
    [
      'it is codemode itself',
      ['b', '--', 'npx', '-y', 'codemode', 'mcp'],
      'this is codemode itself; add the servers that programs should call',
    ],
    ['the command is empty', ['b', '--', ''], 'the command is empty; write after -- what starts the server'],
    ['both are said', ['b', '--url', 'https://h', '--', node], 'either a command or --url, not both'],
    [
      'the address is none',
      ['b', '--url', 'h'],
      'this cannot be a server: url: expected an address that starts with http://, https://, ws:// or wss://, found "h"',
    ],
    [
      'a variable has no name',
      ['b', '--env', '=x', '--', node],
      '--env is ""; write NAME=VALUE, or NAME for the variable of your environment',
    ],
    [
      'a header has no value',
      ['b', '--url', 'https://h', '--header', 'X'],
      "--header must have the form 'Name: value'",
    ],
    [
      'a remote server has a variable',
      ['b', '--url', 'https://h', '--env', 'A'],
      '--env and --cwd are for a server with a command; a remote one takes --header',
    ],
  ])('is refused where %s', async (_what, words, message) => {
    using home = new Home();
    const file = home.write(USERS, 'mcpServers: { a: { command: x } }\n');
    const { status, stderr } = await home.run(['add', ...words]);
    expect({ status, stderr: stderr.replaceAll(`${home.folder}/`, '~/') }).toEqual({
      status: 2,
      stderr: `codemode: ${message}\n`,
    });
    expect(read(file)).toBe('mcpServers: { a: { command: x } }\n');
  });

  test('a file with a mistake, and a file of another program, are left as they are', async () => {
    using home = new Home();
    const broken = home.write('broken.yaml', 'mcpServers: [\n');
    expect((await home.run(['--config', broken, 'add', 'a', '--', node])).stderr).toMatch(/broken\.yaml:2:1: /);
    expect(read(broken)).toBe('mcpServers: [\n');
    const foreign = home.write('.mcp.json', '{"mcpServers":{}}');
    expect((await home.run(['--config', foreign, 'add', 'a', '--', node])).stderr).toBe(
      `codemode: ${foreign} is a file of another program; codemode changes only its own files\n`,
    );
    expect(read(foreign)).toBe('{"mcpServers":{}}');
  });
});

describe('remove', () => {
  test('takes the server out, keeps comments and a copy', async () => {
    using home = new Home();
    const mine = '# mine\nmcpServers:\n  a: { command: x } # one\n  # two\n  b:\n    command: y\nprofile: codemode\n';
    const file = home.write(USERS, mine);
    expect(await home.run(['remove', 'a'])).toEqual({
      status: 0,
      stdout: `removed: a from ${file}\nWhat was there before is in ${file}.bak\n`,
      stderr: '',
    });
    expect(read(file)).toBe(mine.replace('  a: { command: x } # one\n', ''));
    expect(read(`${file}.bak`)).toBe(mine);
    expect(await home.json(['remove', 'b', '--json'])).toEqual({ name: 'b', file, backup: `${file}.bak.1` });
    expect(read(file)).toBe('# mine\nmcpServers: {}\n  # two\nprofile: codemode\n');
    expect(await home.json(['servers', '--json'])).toEqual({ ok: true, servers: [] });
  });

  test('of an unknown server says the nearest name and the list', async () => {
    using home = new Home();
    const file = home.write(USERS, 'mcpServers: { github: { command: x }, files: { command: y } }\n');
    expect(await home.run(['remove', 'gthub'])).toEqual({
      status: 2,
      stdout: '',
      stderr: `codemode: ${file} has no server called "gthub". Did you mean github? Its servers: github, files\n`,
    });
    expect((await home.run(['remove', 'zzzzzz'])).stderr).toBe(
      `codemode: ${file} has no server called "zzzzzz". Its servers: github, files\n`,
    );
  });

  test('without a configuration says how to write one', async () => {
    using home = new Home();
    expect(await home.run(['remove', 'a'])).toEqual({
      status: 2,
      stdout: '',
      stderr: `codemode: there is no configuration at ${home.path(USERS)}; write one with: ${own} init\n`,
    });
  });
});

describe('inheritEnv', () => {
  const config = (more: object) => ({ mcpServers: { gh: { command: node, args: [everyday], ...more } } });
  const ask = `import { environment } from '@codemode/servers/gh';
    const value = await environment({ name: 'GITHUB_TOKEN' });
    globalThis.__codemode_result__ = { value };`;

  test('passes the named variable on, and its value is redacted from results', async () => {
    using home = new Home();
    const env = { GITHUB_TOKEN: 'hunter2-hunter2', GH_TOKEN: 'other' };
    const file = home.write('with.json', config({ inheritEnv: ['GITHUB_TOKEN'] }));
    const passed = await home.run(['--config', file, 'run', '-'], { env, input: ask });
    expect(JSON.parse(passed.stdout)).toMatchObject({ result: { value: REDACTED } });
    expect(passed.stdout).not.toContain('hunter2');
    const without = home.write('without.json', config({}));
    const { result } = await home.json<{ result: { value?: unknown } }>(['--config', without, 'run', '-'], {
      env,
      input: ask,
    });
    expect(result.value).toBe('unset');
  });

  test('servers says which usual variable is set and not passed on, with the line to add', async () => {
    using home = new Home();
    const env = { GITHUB_TOKEN: 'hunter2-hunter2' };
    const without = home.write('without.json', config({}));
    const shown = await home.run(['--config', without, 'servers'], { env });
    expect(shown.stdout).toContain(
      'note: gh: GITHUB_TOKEN is set here but not passed on to this server; if it needs it, add to it:  inheritEnv: [GITHUB_TOKEN]\n',
    );
    const json = await home.json<{ servers: object[] }>(['--config', without, 'servers', '--json'], { env });
    expect(json.servers[0]).toMatchObject({ notPassedOn: ['GITHUB_TOKEN'] });
    const file = home.write('with.json', config({ inheritEnv: ['GITHUB_TOKEN'] }));
    expect((await home.run(['--config', file, 'servers'], { env })).stdout).not.toContain('note:');
  });

  test('a new value does not make another server: what is known of its tools stays', async () => {
    using home = new Home();
    const started = home.path('started');
    const counting = home.write(
      'counting.mjs',
      `import { appendFileSync } from 'node:fs'; appendFileSync(${JSON.stringify(started)}, 'x'); await import(${JSON.stringify(everyday)});`,
    );
    const file = home.write('with.json', config({ args: [counting], inheritEnv: ['GITHUB_TOKEN'] }));
    const tools = (value: string) => home.run(['--config', file, 'tools', '--json'], { env: { GITHUB_TOKEN: value } });
    expect((await tools('hunter2-hunter2')).status).toBe(0);
    const starts = read(started).length;
    expect((await tools('hunter3-hunter3')).status).toBe(0);
    expect(read(started).length).toBe(starts);
    writeFileSync(file, JSON.stringify(config({ args: [counting], inheritEnv: ['GH_TOKEN'] })));
    await tools('hunter3-hunter3');
    expect(read(started).length).toBeGreaterThan(starts);
  });
});
