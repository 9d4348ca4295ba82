import {
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { parse as parseToml } from 'smol-toml';
import { describe, expect, test } from 'vitest';
import { Home, PROGRAM } from '../../support/cli.js';
import { skipped } from '../../support/needs.js';
import { fixture } from '../../support/upstreams.js';

const START = { command: process.execPath, args: [PROGRAM, 'mcp'] };
const SHELL = `${process.execPath} ${PROGRAM}`;
/** What codemode has in these tests, in the user's own configuration. */
const CONFIG = '.config/codemode/config.yaml';
const SERVERS = {
  files: { command: 'npx', args: ['-y', 'files'], env: { ROOT: '/a' } },
  web: { url: 'http://127.0.0.1:9/mcp' },
};

interface ClientCase {
  readonly file: string;
  /** A file as a person has it, with the two servers of `SERVERS` and one more. */
  readonly before: string;
  readonly entry: object;
  readonly serversIn: (text: string) => Record<string, unknown>;
}

const stdio = { command: START.command, args: START.args };
const jsonUnder =
  (key: string) =>
  (text: string): Record<string, unknown> =>
    (JSON.parse(text.replace(/\/\/ .*$/gm, '').replace(/,(\s*[}\]])/g, '$1')) as Record<string, never>)[key] ?? {};

/** The form that most clients have. */
function mcpServersFile(key: string, comment = ''): string {
  return `{
    ${comment}"${key}": {
        "files": { "command": "npx", "args": ["-y", "files"], "env": { "ROOT": "/a" } },
        "other": { "command": "o" },
        "site": { "url": "http://127.0.0.1:9/mcp" }
    },
    "theme":   "dark"
}
`;
}

const CLIENTS: Readonly<Record<string, ClientCase>> = {
  'claude-code': {
    file: '.claude.json',
    before: mcpServersFile('mcpServers').replaceAll('"url"', '"type": "http", "url"'),
    entry: { type: 'stdio', ...stdio, alwaysLoad: true },
    serversIn: jsonUnder('mcpServers'),
  },
  'claude-desktop': {
    file: '.config/Claude/claude_desktop_config.json',
    before: mcpServersFile('mcpServers'),
    entry: stdio,
    serversIn: jsonUnder('mcpServers'),
  },
  cursor: {
    file: '.cursor/mcp.json',
    before: mcpServersFile('mcpServers'),
    entry: stdio,
    serversIn: jsonUnder('mcpServers'),
  },
  vscode: {
    file: '.config/Code/User/mcp.json',
    before: mcpServersFile('servers', '// mine\n    ').replaceAll('{ "command"', '{ "type": "stdio", "command"'),
    entry: { type: 'stdio', ...stdio },
    serversIn: jsonUnder('servers'),
  },
  codex: {
    file: '.codex/config.toml',
    before: `model = "x" # mine

[mcp_servers.files]
command = "npx"
args = ["-y", "files"]
env = { ROOT = "/a" }

# another
[mcp_servers.other]
command = "o"

[mcp_servers.site]
url = "http://127.0.0.1:9/mcp"
`,
    entry: stdio,
    serversIn: (text) => (parseToml(text).mcp_servers ?? {}) as Record<string, unknown>,
  },
  windsurf: {
    file: '.codeium/windsurf/mcp_config.json',
    before: mcpServersFile('mcpServers').replace('"url"', '"serverUrl"'),
    entry: stdio,
    serversIn: jsonUnder('mcpServers'),
  },
  gemini: {
    file: '.gemini/settings.json',
    before: mcpServersFile('mcpServers', '// mine\n    ').replace('"url"', '"httpUrl"'),
    entry: stdio,
    serversIn: jsonUnder('mcpServers'),
  },
  opencode: {
    file: '.config/opencode/opencode.jsonc',
    before: `{
  // mine
  "mcp": {
    "files": { "type": "local", "command": ["npx", "-y", "files"], "environment": { "ROOT": "/a" }, "enabled": true },
    "other": { "type": "local", "command": ["o"] },
    "site": { "type": "remote", "url": "http://127.0.0.1:9/mcp" },
  },
}
`,
    entry: { type: 'local', command: [START.command, ...START.args], enabled: true },
    serversIn: jsonUnder('mcp'),
  },
  zed: {
    file: '.config/zed/settings.json',
    before: `// Zed settings
{
  "context_servers": {
    // files of this machine
    "files": { "source": "custom", "command": "npx", "args": ["-y", "files"], "env": { "ROOT": "/a" } },
    "other": { "command": { "path": "o", "args": [] } },
    "site": { "url": "http://127.0.0.1:9/mcp" },
  },
  "vim_mode": true, // always
}
`,
    entry: { source: 'custom', ...stdio, env: {} },
    serversIn: jsonUnder('context_servers'),
  },
};

function homeWith(client: string): { home: Home; file: string; given: ClientCase } {
  const given = CLIENTS[client] as ClientCase;
  const home = new Home();
  home.write(CONFIG, { mcpServers: SERVERS });
  return { home, file: home.write(given.file, given.before, 0o640), given };
}

/** The server `files` works: what is called npx here starts one. */
function withFiles(home: Home): Record<string, string> {
  home.write('bin/npx', `#!/bin/sh\nexec ${process.execPath} ${fixture('slow-server.mjs')}\n`, 0o755);
  return { PATH: `${home.path('bin')}:${process.env.PATH ?? ''}` };
}

/** What does not depend on where a client keeps its servers is tried with these: JSON, JSON with comments, and TOML. */
const ONE_OF_EACH_FORMAT = ['cursor', 'zed', 'codex'];

/** What is in a folder, beside what is ours. */
function namesIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name !== 'state')
    .sort();
}

describe.each(Object.keys(CLIENTS))('%s', (client) => {
  test('the entry is added, all else stays, repeating changes nothing, and uninstall restores', async () => {
    const { home: opened, file, given } = homeWith(client);
    using home = opened;
    const folder = namesIn(dirname(file));
    const { stdout, stderr, status } = await home.run(['install', client]);
    expect([stderr, status]).toEqual(['', 0]);
    const after = readFileSync(file, 'utf8');
    expect(given.serversIn(after)).toEqual({ ...given.serversIn(given.before), codemode: given.entry });
    // Nothing is taken away: what is new is between what was there.
    expect(withoutInsertions(after, given.before)).toBe(true);
    expect(statSync(file).mode & 0o777).toBe(0o640);
    const backup = `${file}.codemode-backup`;
    expect([readFileSync(backup, 'utf8'), statSync(backup).mode & 0o777]).toEqual([given.before, 0o640]);
    expect(stdout).toContain(`codemode in `);
    expect(stdout).toContain(`and in codemode: files, site\n`);
    expect(stdout).toContain(`: ${SHELL} install ${client} --replace-servers\n`);
    expect(stdout).toContain(`To undo: ${SHELL} uninstall ${client}\n`);

    const isOneOfFormat = ONE_OF_EACH_FORMAT.includes(client);
    if (isOneOfFormat) {
      const again = await home.run(['install', client, '--keep-servers']);
      expect(again.stdout).toMatch(/^codemode is already in .*; nothing was changed\.\n/);
      expect(readFileSync(file, 'utf8')).toBe(after);
    }

    const gone = await home.run(['uninstall', client]);
    expect(gone).toMatchObject({ status: 0, stdout: expect.stringContaining('the file is what it was before') });
    expect(readFileSync(file, 'utf8')).toBe(given.before);
    expect(statSync(file).mode & 0o777).toBe(0o640);
    expect(namesIn(dirname(file))).toEqual(folder);
    if (!isOneOfFormat) return;
    const twice = await home.run(['uninstall', client]);
    expect(twice).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^codemode is not in .*; nothing was changed/),
    });
  });

  test('servers that codemode has are removed on demand, and come back after other edits too', async () => {
    const { home: opened, file, given } = homeWith(client);
    using home = opened;
    const env = withFiles(home);
    const removed = await home.json(['install', client, '--replace-servers', '--json'], { env });
    // Nobody answers at the address of the other one: it stays where it may work.
    expect(removed).toMatchObject({ state: 'added', isWritten: true, removed: ['files'], failing: ['site'] });
    const { files: _, ...others } = given.serversIn(given.before);
    const servers = given.serversIn(given.before);
    expect(given.serversIn(readFileSync(file, 'utf8'))).toEqual({ ...others, codemode: given.entry });

    writeFileSync(file, `${readFileSync(file, 'utf8')}${client === 'codex' ? '\n[later]\na = 1\n' : '\n'}`);
    const back = await home.run(['uninstall', client]);
    expect(back.stdout).toContain('the file was changed since, so only this entry was removed');
    expect(back.stdout).toContain('Servers that are back: files\n');
    const text = readFileSync(file, 'utf8');
    expect(given.serversIn(text)).toEqual(servers);
    for (const comment of given.before.match(/(\/\/|#) \w.*/g) ?? []) expect(text).toContain(comment);
    expect(existsSync(`${file}.codemode-backup`)).toBe(false);
  });

  test('where the client has no file, one is made for it, and uninstall deletes it', async () => {
    const given = CLIENTS[client] as ClientCase;
    using home = new Home();
    home.write(CONFIG, { mcpServers: SERVERS });
    const { file, notes } = await home.json<{ file: string; notes: string[] }>(['install', client, '--json']);
    expect(notes).toContainEqual(expect.stringContaining('does not seem to be installed here'));
    expect(file.replace(/\.json$/, '')).toBe(home.path(given.file).replace(/\.jsonc?$/, ''));
    expect(given.serversIn(readFileSync(file, 'utf8'))).toEqual({ codemode: given.entry });
    await home.run(['uninstall', client]);
    expect(existsSync(file)).toBe(false);
  });
});

describe.each(ONE_OF_EACH_FORMAT)('the file of %s', (client) => {
  test('a dry run shows the difference and writes nothing, not even a copy', async () => {
    const { home: opened, file, given } = homeWith(client);
    using home = opened;
    const { stdout, status } = await home.run(['install', client, '--dry-run', '--replace-servers']);
    expect(status).toBe(0);
    expect(stdout).toContain(`--- ${file}\n+++ ${file}\n@@ `);
    expect(stdout).toMatch(/^\+.*codemode/m);
    expect(stdout).toMatch(/^-.*files/m);
    expect(stdout).toContain(`Nothing was written. To write it: ${SHELL} install ${client} --replace-servers\n`);
    expect([readFileSync(file, 'utf8'), existsSync(`${file}.codemode-backup`)]).toEqual([given.before, false]);
    expect(existsSync(home.path('state'))).toBe(false);
  });

  test('a file that is not valid is refused word for word and never overwritten', async () => {
    const { home: opened, file } = homeWith(client);
    using home = opened;
    const broken = client === 'codex' ? 'model = \n' : '{\n  "theme": "dark"\n  "x": 1\n}\n';
    writeFileSync(file, broken);
    const problem =
      client === 'codex'
        ? ':1:9: this is not valid TOML: invalid value'
        : ':3:3: this is not valid JSON: expected a comma or }';
    for (const words of [
      ['install', client],
      ['install', client, '--dry-run'],
      ['uninstall', client],
    ]) {
      const { stderr, status } = await home.run(words);
      expect(stderr).toBe(
        `codemode: ${file}${problem}; nothing was written. Correct the file, then type the command again.\n`,
      );
      expect(status).toBe(2);
    }
    expect(readFileSync(file, 'utf8')).toBe(broken);
    expect(existsSync(`${file}.codemode-backup`)).toBe(false);
  });
});

/** Whether every line of the first text is in the second, in order; a comma at its end may be new. */
function withoutInsertions(after: string, before: string): boolean {
  const lines = after.split('\n').values();
  return before.split('\n').every((line) => {
    for (const each of lines) if (each === line || each === `${line},` || each.replace('},', '}') === line) return true;
    return false;
  });
}

const SCRIPT = '/usr/bin/script';
const needsTerminal = existsSync(SCRIPT)
  ? {}
  : skipped('script of util-linux, which makes a terminal, is not installed');

test('on a terminal install asks whether to remove servers, and a plain return is a no', needsTerminal, async () => {
  const { home: opened, file, given } = homeWith('cursor');
  using home = opened;
  const onTerminal = (input: string) =>
    home.run([], {
      through: ['sh', '-c', `exec ${SCRIPT} -qec "$COMMAND" /dev/null`],
      env: { ...withFiles(home), TERM: 'dumb', COMMAND: `${process.execPath} ${PROGRAM} install cursor` },
      input,
      typesAfter: /\[y\/N\] /,
    });
  // Ctrl-C is not an answer: nothing is written.
  const cancelled = await onTerminal('\u0003');
  expect(cancelled.stdout).toContain('interrupted; nothing was changed');
  expect(readFileSync(file, 'utf8')).toBe(given.before);
  const kept = await onTerminal('\n');
  expect(kept.stdout).toContain('Cursor and codemode both have: files, site.');
  expect(kept.stdout).toContain('Uninstall puts them back. [y/N]');
  expect(given.serversIn(readFileSync(file, 'utf8'))).toEqual({
    ...given.serversIn(given.before),
    codemode: given.entry,
  });
  const removed = await onTerminal('y\n');
  expect(removed.stdout).toMatch(/Removed from Cursor, because codemode has them: files\r?\n/);
  expect(removed.stdout).toContain('Left in Cursor, because codemode could not connect: site. See why with:');
  expect(Object.keys(given.serversIn(readFileSync(file, 'utf8')))).toEqual(['other', 'site', 'codemode']);
  await home.run(['uninstall', 'cursor']);
  expect(readFileSync(file, 'utf8')).toBe(given.before);
});

test.each([
  ['gemini', '.gemini/settings.json', { mcpServers: { a: { command: 'npx', args: ['a'], env: { KEY: '$A_KEY' } } } }],
  [
    'opencode',
    '.config/opencode/opencode.json',
    { mcp: { a: { type: 'local', command: ['npx', 'a'], environment: { KEY: '{env:A_KEY}' } } } },
  ],
  [
    'vscode',
    '.config/Code/User/mcp.json',
    { servers: { a: { type: 'stdio', command: 'npx', args: ['a'], env: { KEY: '${env:A_KEY}' } } } },
  ],
])('a server of %s whose variable is written in its own way is recognised', async (client, file, content) => {
  using home = new Home();
  home.write(CONFIG, { mcpServers: { mine: { command: 'npx', args: ['a'], env: { KEY: '${A_KEY}' } } } });
  home.write(file, JSON.stringify(content));
  expect(await home.json(['install', client, '--dry-run', '--json'], { env: { A_KEY: 'x' } })).toMatchObject({
    sharedServers: [{ name: 'a', configuredAs: 'mine' }],
  });
});

test('a folder of a client that is not an absolute path is not taken for one', async () => {
  using home = new Home();
  const env = { CODEX_HOME: 'here', CLAUDE_CONFIG_DIR: 'here' };
  const listed = await home.run(['install', '--json'], { env });
  const files = (JSON.parse(listed.stdout) as { file: string }[]).map(({ file }) => file);
  expect(files).toContain(home.path('.codex', 'config.toml'));
  expect(files).toContain(home.path('.claude.json'));
});

test('a link is followed and stays a link, and an older backup is not overwritten', async () => {
  const { home: opened, given } = homeWith('cursor');
  using home = opened;
  const file = home.path(given.file);
  const target = home.path('cursor.json');
  renameSync(file, target);
  symlinkSync(target, file);
  writeFileSync(`${target}.codemode-backup`, 'of another time');
  const { backup } = await home.json<{ backup: string }>(['install', 'cursor', '--json']);
  expect(backup).toBe(`${target}.codemode-backup-2`);
  expect(lstatSync(file).isSymbolicLink()).toBe(true);
  expect(given.serversIn(readFileSync(target, 'utf8')).codemode).toEqual(given.entry);
  await home.run(['uninstall', 'cursor']);
  expect([readFileSync(target, 'utf8'), lstatSync(file).isSymbolicLink()]).toEqual([given.before, true]);
  expect(readFileSync(`${target}.codemode-backup`, 'utf8')).toBe('of another time');
});

test('a copy that somebody has changed is not restored, and stays', async () => {
  const { home: opened, file, given } = homeWith('cursor');
  using home = opened;
  await home.run(['install', 'cursor', '--replace-servers'], { env: withFiles(home) });
  const backup = `${file}.codemode-backup`;
  const planted = readFileSync(backup, 'utf8').replace('"npx"', '"evil"');
  writeFileSync(backup, planted);
  const { stdout } = await home.run(['uninstall', 'cursor']);
  expect(stdout).toContain(`the copy ${backup} is not the one that install made; it was left there`);
  expect(Object.keys(given.serversIn(readFileSync(file, 'utf8')))).toEqual(['other', 'site']);
  expect(readFileSync(backup, 'utf8')).toBe(planted);
});

test('a server that is disabled by a mistake stays in the client', async () => {
  using home = new Home();
  const files = { command: 'files', env: { TOKEN: '${NO_SUCH_VARIABLE}' } };
  home.write(CONFIG, { mcpServers: { files } });
  const file = home.write('.cursor/mcp.json', { mcpServers: { files } });
  const answer = await home.json(['install', 'cursor', '--replace-servers', '--json']);
  expect(answer).toMatchObject({ state: 'added', removed: [], sharedServers: [] });
  expect(JSON.parse(readFileSync(file, 'utf8')).mcpServers).toMatchObject({ files });
});

test('of copies that nobody needs any more the first and the newest three are kept', async () => {
  const { home: opened, file } = homeWith('cursor');
  using home = opened;
  for (let number = 1; number <= 6; number++) {
    const copy = `${file}.codemode-backup${number === 1 ? '' : `-${number}`}`;
    writeFileSync(copy, `copy ${number}`);
    utimesSync(copy, number, number);
  }
  const { backup } = await home.json<{ backup: string }>(['install', 'cursor', '--json']);
  expect(backup).toBe(`${file}.codemode-backup-7`);
  const copies = namesIn(dirname(file)).filter((name) => name.includes('codemode-backup'));
  expect(copies.map((name) => name.replace('mcp.json.codemode-', ''))).toEqual([
    'backup',
    'backup-5',
    'backup-6',
    'backup-7',
  ]);
});

test('an entry that starts another copy is updated, and what a person added to it stays', async () => {
  using home = new Home();
  home.write(CONFIG, { mcpServers: {} });
  const mine = { command: 'npx', args: ['codemode', 'mcp'], env: { TOKEN: 't' } };
  const file = home.write('.cursor/mcp.json', { mcpServers: { codemode: mine } });
  expect(await home.json(['install', '--json'])).toContainEqual(
    expect.objectContaining({ client: 'cursor', file, isFound: true, state: 'outdated' }),
  );
  expect(await home.json(['install', 'cursor', '--json'])).toMatchObject({ state: 'updated' });
  const { mcpServers } = JSON.parse(readFileSync(file, 'utf8'));
  expect(mcpServers).toEqual({ codemode: { env: { TOKEN: 't' }, ...START } });
});

test('an entry of ours under another name is named, and stays as it is', async () => {
  using home = new Home();
  const others = {
    mine: { command: 'npx', args: ['-y', 'codemode@latest', 'mcp'] },
    here: { ...START, env: { TOKEN: 't' } },
    off: { ...START, disabled: true },
    other: { command: 'codemode', args: ['doctor'] },
  };
  const text = JSON.stringify({ mcpServers: others });
  const file = home.write('.cursor/mcp.json', text);
  const { stdout } = await home.run(['install', 'cursor']);
  for (const name of ['mine', 'here'])
    expect(stdout).toContain(`Cursor also starts codemode as ${name}. Remove that entry from ${file}, unless`);
  expect(stdout.match(/also starts codemode/g)).toHaveLength(2);
  expect(JSON.parse(readFileSync(file, 'utf8')).mcpServers).toEqual({ ...others, codemode: START });
  await home.run(['uninstall', 'cursor']);
  expect(readFileSync(file, 'utf8')).toBe(text);
});

test('an entry of our name that is another program is left alone without --force', async () => {
  using home = new Home();
  const text = JSON.stringify({ mcpServers: { codemode: { command: 'other', args: ['--run'] } } });
  const file = home.write('.cursor/mcp.json', text);
  for (const words of [['install'], ['uninstall']]) {
    const { status, stderr } = await home.run([...words, 'cursor']);
    expect([status, stderr]).toEqual([
      2,
      expect.stringContaining(`${file} has a server called codemode that is not this program; nothing was written.`),
    ]);
  }
  expect(readFileSync(file, 'utf8')).toBe(text);
  await home.run(['install', 'cursor', '--force']);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ mcpServers: { codemode: START } });
  await home.run(['uninstall', 'cursor']);
  expect(readFileSync(file, 'utf8')).toBe(text);
});

test('a configuration that a client would not find is written into the entry', async () => {
  using home = new Home();
  const config = home.write('work/mine.yaml', { mcpServers: {} });
  const argsOf = async (words: string[], env: Record<string, string> = {}) => {
    const { entry } = await home.json<{ entry: { args: string[] } }>(
      [...words, 'install', 'cursor', '--dry-run', '--json'],
      {
        cwd: home.path('work'),
        env,
      },
    );
    return entry.args;
  };
  expect(await argsOf(['--config', 'mine.yaml'])).toEqual([PROGRAM, '--config', config, 'mcp']);
  const { stdout } = await home.run(['--config', config, 'install', 'cursor', '--dry-run']);
  expect(stdout).toMatch(new RegExp(`To write it: .* --config ${config} install cursor\n`));
  expect(await argsOf([])).toEqual([PROGRAM, 'mcp']);
  const own = home.write('.config/codemode/config.yaml', { mcpServers: {} });
  expect(await argsOf([])).toEqual([PROGRAM, 'mcp']);
  // The client may be started without the variable that leads there.
  const elsewhere = home.write('xdg/codemode/config.yaml', { mcpServers: {} });
  const xdg = { XDG_CONFIG_HOME: home.path('xdg') };
  expect(await argsOf([], xdg)).toEqual([PROGRAM, '--config', elsewhere, 'mcp']);
  expect(existsSync(own)).toBe(true);
  const missing = await home.run(['--config', 'no.yaml', 'install', 'cursor']);
  expect(missing).toMatchObject({
    status: 2,
    stderr: `codemode: ${home.path('no.yaml')}: does not exist; check the path\n`,
  });
});

test('what was written is what a client can start: it lists the tool and runs a program', async () => {
  using home = new Home();
  home.write(CONFIG, { mcpServers: {} });
  const installed = await home.run(['install', 'claude-code']);
  expect(installed.stdout).toContain('does not seem to be installed here');
  const { command, args } = JSON.parse(readFileSync(home.path('.claude.json'), 'utf8')).mcpServers.codemode;
  const env = { PATH: '/usr/bin:/bin', HOME: home.folder, CODEMODE_HOME: home.path('state'), CODEMODE_KEYRING: 'file' };
  const transport = new StdioClientTransport({ command, args, env, cwd: '/', stderr: 'ignore' });
  const client = new Client({ name: 'test', version: '0' });
  await client.connect(transport);
  try {
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['codemode_run']);
    const code = 'globalThis.__codemode_result__ = 42;';
    const answer = await client.callTool({ name: 'codemode_run', arguments: { code } });
    expect(answer.structuredContent).toMatchObject({ result: 42 });
  } finally {
    await client.close();
  }
});

test('without a client, install lists those of this machine with their state', async () => {
  using home = new Home();
  home.write('.cursor/mcp.json', '{');
  home.write('.gemini/settings.json', '{}');
  await home.run(['install', 'codex']);
  const { stdout, status } = await home.run(['install']);
  expect(status).toBe(0);
  expect(stdout).toMatch(/^codex +has codemode +\//m);
  expect(stdout).toMatch(/^gemini +found +\//m);
  expect(stdout).toMatch(/^cursor +its file cannot be read +.*this is not valid JSON/m);
  expect(stdout).toContain('Not found: claude-code, claude-desktop, vscode, windsurf, opencode, zed\n');
  expect(stdout).toContain(`To add codemode to one: ${SHELL} install gemini\n`);
});

test('an unknown client gets the nearest name and the list', async () => {
  using home = new Home();
  for (const words of [['install'], ['uninstall']]) {
    const { stderr, status } = await home.run([...words, 'curser']);
    expect([status, stderr]).toEqual([
      2,
      'codemode: there is no client "curser"; did you mean cursor? Clients: claude-code, claude-desktop, cursor, vscode, codex, windsurf, gemini, opencode, zed\n',
    ]);
  }
});

test('install links decode to the command that install writes', async () => {
  using home = new Home();
  const linesOf = async (client: string) =>
    (await home.run(['install', client, '--link'])).stdout.trimEnd().split('\n');
  const [cursor = '', cursorWeb = ''] = await linesOf('cursor');
  for (const link of [cursor, cursorWeb]) {
    const query = new URL(link).searchParams;
    expect(query.get('name')).toBe('codemode');
    expect(JSON.parse(Buffer.from(query.get('config') ?? '', 'base64').toString())).toEqual(START);
  }
  expect(cursor).toMatch(/^cursor:\/\/anysphere\.cursor-deeplink\/mcp\/install\?name=codemode&config=/);
  const [vscode = '', vscodeWeb = ''] = await linesOf('vscode');
  const [scheme, encoded = ''] = vscode.split('?');
  expect([scheme, JSON.parse(decodeURIComponent(encoded))]).toEqual([
    'vscode:mcp/install',
    { name: 'codemode', type: 'stdio', ...START },
  ]);
  expect(JSON.parse(new URL(vscodeWeb).searchParams.get('config') ?? '')).toEqual({ type: 'stdio', ...START });
  const none = await home.run(['install', 'zed', '--link']);
  expect(none).toMatchObject({ status: 2, stderr: expect.stringContaining('Zed has no install links') });
  expect(existsSync(home.path('.cursor'))).toBe(false);
});

test('names and paths in a client file do not steer the terminal', async () => {
  using home = new Home();
  const nasty = { command: 'x\u001b[2J' };
  home.write(CONFIG, { mcpServers: { a: nasty } });
  home.write('.cursor/mcp.json', { mcpServers: { 'n\u001b[2J': nasty } });
  for (const words of [
    ['install', 'cursor', '--dry-run', '--replace-servers'],
    ['install', 'cursor'],
  ]) {
    const { stdout, stderr } = await home.run(words);
    expect(stdout + stderr).not.toContain('\u001b');
    expect(stdout).toContain('n\\u001b[2J');
  }
});

test('the diff of a file with Windows line ends shows no control characters', async () => {
  using home = new Home();
  home.write(CONFIG, { mcpServers: {} });
  home.write('.cursor/mcp.json', '{\r\n  "mcpServers": {\r\n  }\r\n}\r\n');
  const { stdout } = await home.run(['install', 'cursor', '--dry-run']);
  expect(stdout).toContain('+    "codemode": {\n');
  expect(stdout).not.toContain('\\u000d');
});

test('a file of OpenCode 2 keeps its servers elsewhere and is left alone', async () => {
  using home = new Home();
  const text = '{ "mcp": { "servers": { "a": { "type": "local", "command": ["x"] } } } }';
  const file = home.write('.config/opencode/opencode.json', text);
  const { stderr, status } = await home.run(['install', 'opencode']);
  expect([status, readFileSync(file, 'utf8')]).toEqual([2, text]);
  expect(stderr).toContain(
    `${file}: its servers are under mcp.servers, which codemode cannot edit yet; nothing was written.`,
  );
});
