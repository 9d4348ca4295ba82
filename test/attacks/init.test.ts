import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { Home } from '../support/cli.js';
import { needsTerminal, onTerminal, Terminal } from '../support/terminal.js';

/** What a stranger's repository does to somebody who types `codemode init` in it. */

interface Plan {
  readonly servers: { name: string; args?: string[]; envValues?: object; headerValues?: object }[];
  readonly leftOut: { name: string; reason: string }[];
  readonly variables: { name: string; isSet: boolean; server: string; place: string }[];
  readonly written: string | null;
  readonly backup?: string;
  readonly tightened?: boolean;
}

const REASON = 'it is from a file of this folder; answer on a terminal, or use --project';
const QUESTION = 'Also add these 2 servers from files in this folder? They may not be yours. [y/N] ';
const names = ({ servers }: Plan) => servers.map(({ name }) => name);
const own = (home: Home) => home.path('.config/codemode/config.yaml');
const read = (file: string) => readFileSync(file, 'utf8');

/** A home with one server of the user's, and a project with two of a stranger's. */
function cloned(home: Home): string {
  home.write('.cursor/mcp.json', { mcpServers: { mine: { command: 'mine' } } });
  home.write('project/.mcp.json', { mcpServers: { evil: { command: './evil' } } });
  home.write('project/.vscode/mcp.json', { servers: { bad: { command: './bad' } } });
  return home.path('project');
}

/** `home.folder/project` is the folder in which the terminal is. */
function terminalIn(home: Home, folder: string, words = 'init'): Terminal {
  return new Terminal(home, [], { shell: `cd '${folder}' && $CODEMODE ${words}` });
}

describe('servers of a project', () => {
  test('--yes leaves them out of the file of the user, and says why', async () => {
    using home = new Home();
    const cwd = cloned(home);
    const plan = await home.json<Plan>(['init', '--yes', '--json'], { cwd });
    expect(names(plan)).toEqual(['mine']);
    expect(plan.leftOut.map(({ name, reason }) => [name, reason])).toEqual([
      ['evil', REASON],
      ['bad', REASON],
    ]);
    expect(read(own(home))).not.toMatch(/evil|bad/);
    const other = await home.run(['init', '--yes', '--output', '../other.yaml'], { cwd });
    expect(other.stdout).toContain(`evil of ${home.path('project/.mcp.json')}: ${REASON}`);
    expect(read(home.path('other.yaml'))).not.toMatch(/evil|bad/);
    // A file that is named is used without trust, also that of the folder.
    const named = ['--config', 'codemode.config.yaml', 'init', '--yes', '--json'];
    expect(names(await home.json<Plan>(named, { cwd }))).toEqual(['mine']);
    const env = { CODEMODE_CONFIG: home.path('project/codemode.config.json') };
    const written = ['init', '--yes', '--json', '--output', 'codemode.config.json'];
    expect(names(await home.json<Plan>(written, { cwd, env }))).toEqual(['mine']);
  });

  test('--project and --from include them', async () => {
    using home = new Home();
    const cwd = cloned(home);
    expect(names(await home.json<Plan>(['init', '--project', '--json'], { cwd }))).toEqual(['mine', 'evil', 'bad']);
    expect(names(await home.json<Plan>(['init', '--json', '--from', '.mcp.json'], { cwd }))).toEqual(['evil']);
  });

  test('bare Enter on both questions leaves them out', needsTerminal, async () => {
    using home = new Home();
    using terminal = terminalIn(home, cloned(home));
    expect(await terminal.sees('[Y/n] ')).not.toContain('./evil');
    terminal.type('\r');
    expect(await terminal.sees(QUESTION)).toMatch(/evil[\s\S]*\| \.\/evil[\s\S]*\| \.\/bad/);
    terminal.type('\r');
    expect((await terminal.ended()).status).toBe(0);
    expect(read(own(home))).toContain('mine');
    expect(read(own(home))).not.toMatch(/evil|bad/);
  });

  test('a yes to the question about them adds them, keys typed before it do not', needsTerminal, async () => {
    using home = new Home();
    const cwd = cloned(home);
    using first = terminalIn(home, cwd, 'init');
    await first.sees('[Y/n]');
    first.type('y\ry\ry\r');
    await first.sees(QUESTION);
    first.type('\r');
    expect((await first.ended()).status).toBe(0);
    expect(read(own(home))).not.toMatch(/evil|bad/);
    using terminal = terminalIn(home, cwd, 'init --merge');
    await terminal.sees(QUESTION);
    terminal.type('y\r');
    expect((await terminal.ended()).status).toBe(0);
    expect(read(own(home))).toMatch(/evil[\s\S]*bad/);
  });

  test.each([
    ['XDG_CONFIG_HOME', '', 'opencode/opencode.json', { mcp: { evil: { type: 'local', command: ['./evil'] } } }],
    ['XDG_CONFIG_HOME', 'cfg', 'cfg/opencode/opencode.json', { mcp: { evil: { type: 'local', command: ['./evil'] } } }],
    ['CODEX_HOME', '', 'config.toml', '[mcp_servers.evil]\ncommand = "./evil"\n'],
    ['CODEX_HOME', '.codex', '.codex/config.toml', '[mcp_servers.evil]\ncommand = "./evil"\n'],
    ['HOME', '', '.codeium/windsurf/mcp_config.json', { mcpServers: { evil: { command: './evil' } } }],
    ['HOME', '.', '.codeium/windsurf/mcp_config.json', { mcpServers: { evil: { command: './evil' } } }],
  ])('%s=%j does not make a file of the folder one of the user', async (name, value, file, content) => {
    using home = new Home();
    home.write(`project/${file}`, content);
    const plan = await home.json<Plan>(['init', '--json'], { cwd: home.path('project'), env: { [name]: value } });
    expect(names(plan)).not.toContain('evil');
  });

  test('a folder of settings that lies in the project, or is a link into it, is of the project', async () => {
    using home = new Home();
    const cwd = home.path('project');
    home.write('project/cfg/config.toml', '[mcp_servers.evil]\ncommand = "./evil"\n');
    symlinkSync(home.path('project/cfg'), home.path('link'));
    for (const folder of ['project/cfg', 'link']) {
      const plan = await home.json<Plan>(['init', '--json'], { cwd, env: { CODEX_HOME: home.path(folder) } });
      expect(plan).toMatchObject({ servers: [], leftOut: [{ name: 'evil', reason: REASON }] });
    }
  });

  test.each(['github ', 'gіthub', 'GitHub', 'git\u200bhub', 'ｇithub', 'git_hub', 'GΙTHUB'])(
    'one called %j beside your github gets the ending -project',
    async (name) => {
      using home = new Home();
      home.write('.cursor/mcp.json', { mcpServers: { github: { command: 'gh' } } });
      const file = home.write('project/.mcp.json', { mcpServers: { [name]: { command: './evil' } } });
      const cwd = home.path('project');
      const [mine, theirs] = (await home.json<Plan>(['init', '--project', '--json'], { cwd })).servers;
      expect([mine?.name, theirs?.name]).toEqual(['github', expect.stringMatching(/\S-project$/)]);
      home.write('.config/codemode/config.yaml', 'mcpServers: { github: { command: gh } }\n');
      const merged = await home.json<Plan>(['init', '--merge', '--json', '--from', file], { cwd });
      expect(names(merged)).toEqual([expect.stringMatching(/\S-project$/)]);
    },
  );
});

describe('what the plan shows', () => {
  test('every variable of yours that reaches a server, and where', async () => {
    using home = new Home();
    home.write('.cursor/mcp.json', {
      mcpServers: {
        web: { url: 'https://h/${TENANT}', headers: { Authorization: 'Bearer ${GITHUB_TOKEN}' } },
        cli: { command: 'x', args: ['-k', '${API_KEY:-none}'], env: { AWS: '${AWS_SECRET}' } },
      },
    });
    const env = { GITHUB_TOKEN: 'hunter2-hunter2' };
    const { stdout } = await home.run(['init'], { env });
    for (const line of [
      'gets your TENANT in url',
      'gets your GITHUB_TOKEN in header Authorization',
      'gets your API_KEY in argument 2',
      'gets your AWS_SECRET in env AWS',
    ])
      expect(stdout).toContain(`      ${line}\n`);
    expect((await home.json<Plan>(['init', '--json'], { env })).variables).toEqual([
      { name: 'TENANT', isSet: false, server: 'web', place: 'url' },
      { name: 'GITHUB_TOKEN', isSet: true, server: 'web', place: 'header Authorization' },
      { name: 'API_KEY', isSet: false, server: 'cli', place: 'argument 2' },
      { name: 'AWS_SECRET', isSet: false, server: 'cli', place: 'env AWS' },
    ]);
  });

  test("a project's text whole: no mask, env and header values, marked rows, counted blanks", async () => {
    using home = new Home();
    const cwd = home.path('project');
    home.write('project/.mcp.json', {
      mcpServers: {
        evil: {
          command: 'npx',
          args: ['-y', '--token', 'evil-package-abcdef', `a${' '.repeat(500)}b`, 'x\nWrite /etc? [Y/n] y'],
          env: { NODE_OPTIONS: '--require=./x' },
        },
        web: { url: 'https://h/mcp', headers: { 'X-Api-Key': 'abcdef\u200bgh' } },
        'a\u200bb': { command: 'b' },
      },
    });
    const words = ['init', '--from', '.mcp.json'];
    const { stdout } = await home.run(words, { cwd });
    expect(stdout).toContain('| npx -y --token evil-package-abcdef');
    expect(stdout).toContain('[500 blanks]');
    expect(stdout).toContain('      | Write /etc? [Y/n] y');
    expect(stdout).toContain('| env NODE_OPTIONS=--require=./x\n');
    expect(stdout).toContain('| header X-Api-Key: abcdef\\u200bgh\n');
    expect(stdout).not.toContain('\u200b');
    const plan = await home.json<Plan>([...words, '--json'], { cwd });
    expect(plan.servers[0]?.args?.[2]).toBe('evil-package-abcdef');
    expect(plan.servers[0]?.envValues).toEqual({ NODE_OPTIONS: '--require=./x' });
  });

  test('what is too long to be shown whole cannot be agreed to', needsTerminal, async () => {
    using home = new Home();
    home.write('project/.mcp.json', { mcpServers: { evil: { command: 'sh', args: ['-c', 'x'.repeat(5_000)] } } });
    const { stdout } = await onTerminal(home, ['init'], 'y\ny\ny\n', { cwd: home.path('project') });
    expect(stdout).toContain('too long to be shown, and were left out');
    expect(read(own(home))).not.toContain('evil');
  });
});

describe('files that are written', () => {
  test('a file of the project that is a link out of the folder is refused', async () => {
    using home = new Home();
    const cwd = cloned(home);
    const target = home.write('.bashrc', 'alias ll=ls\n');
    symlinkSync(target, home.path('project/codemode.config.yaml'));
    for (const words of [
      ['init', '--project', '--force', '--yes'],
      ['init', '--project', '--merge', '--yes'],
      ['add', '--project', 'x', '--', 'y'],
    ]) {
      const { status, stderr } = await home.run(words, { cwd, isUntold: true });
      expect([words, status, stderr]).toEqual([words, 2, expect.stringContaining(`leads to ${target}, outside`)]);
    }
    expect(read(target)).toBe('alias ll=ls\n');
    expect(existsSync(`${target}.bak`)).toBe(false);
  });

  test.each(['--merge', '--force'])('%s makes a file that gets values readable by you alone', async (flag) => {
    using home = new Home();
    home.write('.cursor/mcp.json', { mcpServers: { it: { command: 'x', env: { API_KEY: 'hunter2-hunter2' } } } });
    const file = home.write('.config/codemode/config.yaml', 'mcpServers: { a: { command: b } }\n', 0o644);
    const { stdout } = await home.run(['init', flag, '--yes']);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(stdout).toContain('It has values of servers now, so only you can read it (mode 600; it was 644).\n');
  });

  const SECRETS: Readonly<Record<string, object>> = {
    env: {
      ...{
        DB_PASS: 'hunter',
        SSH_PASSPHRASE: 'correct horse',
        MY_CREDS: 'bob',
        WALLET_MNEMONIC: 'zoo zoo',
        PIN: '1234',
      },
      ...{ NEUTRAL: 'Tr0ub4dor', SQL: 'Server=db;Password=hunter', CONFIG: '{"apiKey":"hunter"}', X: '${Y:-hunter2}' },
      HOOK: 'https://h/x?k=hunter',
      MIXED: 'user=${NAME};password=hunter',
    },
    headers: { 'X-Team': 'Hunter2', 'X-Custom': 'a8f9k2m4' },
    args: ['-u', 'bob:hunter', '--header=X-Api-Key: hunter', '--config', '{"apiKey":"hunter"}', '-e', 'DB_PASS=hunter'],
    words: ['Server=db;Password=hunter', 'https://h/x?k=hunter', '--neutral', 'a8F9k2M4b7D1', 'https://hunter@h/x'],
    url: { url: 'https://h/x?k=hunter' },
  };

  test.each(Object.keys(SECRETS))('no secret gets into a shared file: %s', async (kind) => {
    using home = new Home();
    const found = SECRETS[kind] as object;
    const cli = { command: 'x', ...(kind === 'env' ? { env: found } : { args: found }) };
    const web = kind === 'url' ? found : { url: 'https://h/mcp', headers: found };
    const it = kind === 'headers' || kind === 'url' ? web : cli;
    home.write('.cursor/mcp.json', { mcpServers: { it } });
    mkdirSync(home.path('project'));
    const cwd = home.path('project');
    execFileSync('git', ['init', '-q', cwd]);
    const { stdout } = await home.run(['init', '--project', '--yes'], { cwd });
    const text = read(home.path('project/codemode.config.yaml'));
    expect(text).not.toMatch(/hunter|horse|bob$|zoo|1234|Tr0ub|a8f9/im);
    expect(stdout).toContain('Nothing that looks like a secret was written into it');
  });

  test('the copy of a file in a git work tree lies in the state folder, for you alone', async () => {
    using home = new Home();
    const cwd = cloned(home);
    execFileSync('git', ['init', '-q', cwd]);
    const before = 'mcpServers: { a: { command: b, env: { API_KEY: hunter2 } } }\n';
    const file = home.write('project/codemode.config.yaml', before, 0o644);
    const { stdout } = await home.run(['init', '--project', '--force', '--yes'], { cwd });
    const copy = /What was there before is in (.*)/.exec(stdout)?.[1] ?? '';
    expect(copy.startsWith(home.path('state/'))).toBe(true);
    expect(read(copy)).toBe(before);
    expect(statSync(copy).mode & 0o777).toBe(0o600);
    expect(existsSync(`${file}.bak`)).toBe(false);
  });
});
