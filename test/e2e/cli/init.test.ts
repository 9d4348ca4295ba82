import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Home, PROGRAM } from '../../support/cli.js';
import { fixture } from '../../support/upstreams.js';

const node = process.execPath;
const everyday = fixture('everyday-server.mjs');
/** How the program is called where no `codemode` on PATH is this one. */
const own = `${node} ${PROGRAM}`;
const server = (more: object = {}) => ({ command: node, args: [everyday], ...more });

interface Plan {
  readonly servers: {
    name: string;
    renamedFrom?: string;
    client: string;
    file: string;
    command?: string;
    args?: string[];
    cwd?: string;
    env: string[];
  }[];
  readonly leftOut: { name: string; client: string; file: string; reason: string }[];
  readonly warnings: string[];
  readonly variables: { name: string; isSet: boolean; server: string; place: string }[];
  readonly notPassedOn: { server: string; names: string[] }[];
  readonly written: string | null;
  readonly backup?: string;
}

const names = ({ servers }: Plan) => servers.map(({ name }) => name);

/** One file of every client, each with its own server. */
function writeClientFiles(home: Home): void {
  home.write('.config/Claude/claude_desktop_config.json', {
    mcpServers: { desktop: server({ env: { PORT: 3000 } }), same: server({ env: { SAME: '1' } }) },
  });
  home.write('.claude.json', {
    numStartups: 3,
    mcpServers: { code: server({ type: 'stdio', env: { A: '1' } }) },
    projects: { [home.path('project')]: { mcpServers: { 'code-project': server({ env: { B: '1' } }) }, history: [] } },
  });
  home.write('.cursor/mcp.json', { mcpServers: { cursor: server({ env: { C: '${env:CURSOR_KEY}' } }) } });
  home.write(
    '.config/Code/User/mcp.json',
    `{ // comments are usual here
      "inputs": [{ "id": "api-key", "type": "promptString", "password": true }],
      "servers": { "code studio": ${JSON.stringify(server({ type: 'stdio', env: { KEY: '${input:api-key}' } }))}, },
    }`,
  );
  home.write(
    '.codex/config.toml',
    `model = "x"\n[mcp_servers.codex]\ncommand = ${JSON.stringify(node)}\nargs = [${JSON.stringify(everyday)}]\nstartup_timeout_sec = 20\nenv = { D = "1" }\n`,
  );
  home.write('.codeium/windsurf/mcp_config.json', { mcpServers: { windsurf: server({ env: { G: '1' } }) } });
  home.write('.gemini/settings.json', {
    selectedAuthType: 'oauth-personal',
    mcpServers: { gemini: server({ env: { H: '$CURSOR_KEY' }, trust: false }) },
  });
  home.write(
    '.config/opencode/opencode.jsonc',
    `{ // mine
      "$schema": "https://opencode.ai/config.json",
      "mcp": { "opencode": { "type": "local", "command": ${JSON.stringify([node, everyday])},
        "environment": { "I": "{env:CURSOR_KEY}" }, "enabled": true, }, },
    }`,
  );
  home.write(
    '.config/zed/settings.json',
    `// Zed settings
    {\n\t"theme": "One Dark",\n\t"context_servers": {\n\t\t"zed": { "source": "custom",
      "command": ${JSON.stringify(node)}, "args": [${JSON.stringify(everyday)}], "env": { "J": "1" } },\n\t},\n}`,
  );
  home.write('.mcpproxy/mcp_config.json', {
    enable_code_execution: true,
    mcpServers: [{ name: 'proxied', protocol: 'stdio', ...server({ env: { E: '1' } }), enabled: true }],
  });
  home.write('project/.mcp.json', { mcpServers: { shared: server({ env: { F: '1' } }) } });
}

describe('init', () => {
  test('imports the servers of every client unchanged, and all of them answer [X2]', async () => {
    using home = new Home();
    writeClientFiles(home);
    const cwd = home.path('project');
    const env = { API_KEY: 'a', CURSOR_KEY: 'b' };
    const plan = await home.json<Plan>(['init', '--yes', '--json'], { cwd, env });
    expect(plan.servers.map(({ name, client }) => [name, client])).toEqual([
      ['desktop', 'Claude Desktop'],
      ['same', 'Claude Desktop'],
      ['code', 'Claude Code'],
      ['code-project', 'Claude Code'],
      ['cursor', 'Cursor'],
      ['code studio', 'VS Code'],
      ['codex', 'Codex'],
      ['windsurf', 'Windsurf'],
      ['gemini', 'Gemini CLI'],
      ['opencode', 'OpenCode'],
      ['zed', 'Zed'],
      ['proxied', 'mcpproxy'],
    ]);
    expect(plan).toMatchObject({
      leftOut: [
        {
          name: 'shared',
          client: 'Claude Code',
          reason: 'it is from a file of this folder; answer on a terminal, or use --project',
        },
      ],
      variables: [
        { name: 'CURSOR_KEY', isSet: true, server: 'cursor', place: 'env C' },
        { name: 'API_KEY', isSet: true, server: 'code studio', place: 'env KEY' },
        { name: 'CURSOR_KEY', isSet: true, server: 'gemini', place: 'env H' },
        { name: 'CURSOR_KEY', isSet: true, server: 'opencode', place: 'env I' },
      ],
      written: home.path('.config/codemode/config.yaml'),
    });
    const health = await home.json<{ servers: { id: string; state: string }[] }>(['servers', '--json'], { cwd, env });
    expect(health.servers.map(({ id, state }) => [id, state])).toEqual(plan.servers.map(({ name }) => [name, 'ready']));
    const input = `import { environment } from '@codemode/servers/code-studio';
      globalThis.__codemode_result__ = await environment({ name: 'KEY' });`;
    expect(await home.json(['run', '-'], { cwd, env, input })).toMatchObject({ result: 'a' });
    const others = `import { environment as gemini } from '@codemode/servers/gemini';
      import { environment as opencode } from '@codemode/servers/opencode';
      globalThis.__codemode_result__ = [await gemini({ name: 'H' }), await opencode({ name: 'I' })];`;
    expect(await home.json(['run', '-'], { cwd, env, input: others })).toMatchObject({ result: ['b', 'b'] });
  });

  test.each([
    ['claude_desktop_config.json', { mcpServers: { it: server() }, globalShortcut: '' }],
    ['mcp.json', { servers: { it: server({ type: 'stdio' }) }, inputs: [] }],
    ['mcp_config.json', { mcpServers: [{ name: 'it', ...server(), protocol: 'stdio' }], listen: ':1' }],
    ['config.toml', `[mcp_servers.it]\ncommand = ${JSON.stringify(node)}\nargs = [${JSON.stringify(everyday)}]\n`],
  ])('a client file %s is a configuration without being taken over [X2]', async (name, content) => {
    using home = new Home();
    const file = home.write(name, content);
    const health = await home.json<{ ok: boolean; servers: object[] }>(['--config', file, 'servers', '--json']);
    expect(health).toMatchObject({ ok: true, servers: [{ id: 'it', state: 'ready', tools: 14 }] });
  });

  test('skips duplicates, disabled entries, codemode itself and unknown forms, and says so', async () => {
    using home = new Home();
    const claude = home.write('.mcp.json', {
      mcpServers: {
        files: server(),
        off: server({ disabled: true, env: { X: '1' } }),
        codemode: { command: 'npx', args: ['-y', 'codemode', 'mcp'] },
        broken: { command: node, args: [everyday], timeout: 'soon' },
        'a/b': server({ env: { Y: '1' } }),
        odd: server({ env: { Z: '${not a variable} and ${HOME}' }, alwaysAllow: ['x'] }),
      },
    });
    const cursor = home.write('.cursor/mcp.json', {
      mcpServers: { mine: server({ type: 'stdio', env: {} }), files: { url: 'https://example.com/mcp' } },
    });
    const plan = await home.json<Plan>(['init', '--json']);
    const command = { command: node, args: [everyday], headers: [] };
    expect(plan).toEqual({
      servers: [
        { name: 'mine', client: 'Cursor', file: cursor, ...command, env: [] },
        { name: 'files', client: 'Cursor', file: cursor, url: 'https://example.com/mcp', env: [], headers: [] },
        {
          name: 'a-b',
          renamedFrom: 'a/b',
          client: 'Claude Code',
          file: claude,
          ...command,
          cwd: home.folder,
          env: ['Y'],
        },
        { name: 'odd', client: 'Claude Code', file: claude, ...command, cwd: home.folder, env: ['Z'] },
      ],
      leftOut: [
        { name: 'files', client: 'Claude Code', file: claude, reason: `it is the same server as mine of ${cursor}` },
        { name: 'off', client: 'Claude Code', file: claude, reason: 'it is disabled there' },
        { name: 'codemode', client: 'Claude Code', file: claude, reason: 'it is codemode itself' },
        {
          name: 'broken',
          client: 'Claude Code',
          file: claude,
          reason: 'timeout: expected a duration such as 30s, 500ms or 2m, found "soon"',
        },
      ],
      warnings: [`${claude}: mcpServers.odd.alwaysAllow is not known here and was left out`],
      variables: [{ name: 'HOME', isSet: true, server: 'odd', place: 'env Z' }],
      notPassedOn: [],
      written: null,
    });
    expect((await home.run(['init', '--yes'])).status).toBe(0);
    const input = `import { environment } from '@codemode/servers/odd';
      globalThis.__codemode_result__ = await environment({ name: 'Z' });`;
    expect(await home.json(['run', '-'], { input })).toMatchObject({
      result: `\${not a variable} and ${home.folder}`,
    });
  });

  test('writes your own file for the owner alone, with comments, in a folder of the same kind', async () => {
    using home = new Home();
    home.write('.cursor/mcp.json', { mcpServers: { it: server({ headers: {} }), web: { url: 'https://h/${TOKEN}' } } });
    const { status, stdout, stderr } = await home.run(['init', '--yes']);
    const file = home.path('.config/codemode/config.yaml');
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain('export TOKEN=...');
    expect(stdout).toContain(`See whether the servers answer:  ${own} servers\n`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(home.path('.config/codemode')).mode & 0o777).toBe(0o700);
    expect(readFileSync(file, 'utf8')).toContain(`  # from Cursor: ${home.path('.cursor/mcp.json')}\n  it:\n`);
    const xdg = { XDG_CONFIG_HOME: home.path('elsewhere') };
    expect((await home.json<Plan>(['init', '--yes', '--json'], { env: xdg })).written).toBe(
      home.path('elsewhere/codemode/config.yaml'),
    );
  });

  test('a file that exists is not touched without --merge or --force, and --force keeps a copy', async () => {
    using home = new Home();
    home.write('.cursor/mcp.json', { mcpServers: { it: server() } });
    const file = home.write('.config/codemode/config.yaml', '# mine\nprofile: go\n');
    expect(await home.run(['init', '--yes'])).toEqual({
      status: 2,
      stdout: '',
      stderr: `codemode: ${file} exists already; nothing was written
  add the servers that are missing in it:  ${own} init --merge
  replace it, and keep a copy:             ${own} init --force\n`,
    });
    expect(readFileSync(file, 'utf8')).toBe('# mine\nprofile: go\n');
    const forced = await home.run(['init', '--yes', '--force']);
    expect(forced).toMatchObject({ status: 0, stdout: expect.stringContaining(`is in ${file}.bak\n`) });
    expect(readFileSync(file, 'utf8')).toContain('mcpServers:');
    expect(readFileSync(`${file}.bak`, 'utf8')).toBe('# mine\nprofile: go\n');
    expect((await home.run(['init', '--merge', '--force'])).stderr).toContain('either --merge');
  });

  test('--merge adds what is missing and leaves every other letter as it was', async () => {
    using home = new Home();
    home.write('.cursor/mcp.json', {
      mcpServers: { same: server({ env: { A: '1' } }), taken: server({ env: { B: '1' } }), fresh: server() },
    });
    const mine = `# mine\nmcpServers:\n    kept:   { command: ${node}, args: [ '${everyday}' ], env: {A: "1"} } # as it is\n    taken: { command: true }\n\nprofile:  codemode\n`;
    const file = home.write('.config/codemode/config.yaml', mine, 0o644);
    const plan = await home.json<Plan>(['init', '--merge', '--yes', '--json']);
    expect(names(plan)).toEqual(['fresh']);
    expect(plan.leftOut.map(({ name, reason }) => [name, reason])).toEqual([
      ['same', `it is the same server as kept of ${file}`],
      ['taken', `${file} has another server of the name taken`],
    ]);
    const merged = readFileSync(file, 'utf8');
    const [before, after] = mine.split('\n\nprofile') as [string, string];
    expect(merged.startsWith(`${before}\n    # from Cursor: ${home.path('.cursor/mcp.json')}\n    fresh:\n`)).toBe(
      true,
    );
    expect(merged.endsWith(`\n\nprofile${after}`)).toBe(true);
    expect(statSync(file).mode & 0o777).toBe(0o644);
    expect(plan.backup).toBe(`${file}.bak`);
    expect(readFileSync(`${file}.bak`, 'utf8')).toBe(mine);
    const again = await home.run(['init', '--merge']);
    expect(again).toMatchObject({ status: 0, stdout: expect.stringContaining('has them all; nothing was written') });
    expect(again.stdout).toContain('  already there: fresh\n');
    expect(readFileSync(file, 'utf8')).toBe(merged);
  });

  test('--merge keeps an older copy, follows a link, and keeps the form of JSON', async () => {
    using home = new Home();
    home.write('.cursor/mcp.json', { mcpServers: { fresh: server() } });
    const target = home.write(
      'dotfiles/codemode.json',
      '{\n\t"mcpServers": {\n\t\t"a": { "url": "https://h" } // mine\n\t}\n}\n',
    );
    mkdirSync(home.path('.config/codemode'), { recursive: true });
    symlinkSync(target, home.path('.config/codemode/config.json'));
    writeFileSync(`${target}.bak`, 'older');
    const plan = await home.json<Plan>(['init', '--merge', '--yes', '--json']);
    expect(plan).toMatchObject({ written: home.path('.config/codemode/config.json'), backup: `${target}.bak.1` });
    expect(readFileSync(`${target}.bak`, 'utf8')).toBe('older');
    expect(lstatSync(home.path('.config/codemode/config.json')).isSymbolicLink()).toBe(true);
    expect(readFileSync(target, 'utf8')).toContain('{\n\t"mcpServers": {\n\t\t"a": { "url": "https://h" }, // mine');
    expect(readFileSync(target, 'utf8')).toContain('\n\t\t"fresh": {');
  });

  test('without any server it writes a first configuration that is read without complaint', async () => {
    using home = new Home();
    expect((await home.run(['init', '--yes', '--output', 'codemode.config.json'])).status).toBe(0);
    expect((await home.run(['init', '--yes', '--output', 'codemode.config.yaml'])).stdout).toContain(
      'No servers were found',
    );
    for (const file of ['codemode.config.json', 'codemode.config.yaml'])
      expect(await home.json(['--config', file, 'config', 'explain', '--json'])).toMatchObject({
        file: home.path(file),
        warnings: [],
      });
  });

  test('without a terminal and --yes it shows the plan, writes nothing, and says what to add', async () => {
    using home = new Home();
    home.write('.cursor/mcp.json', { mcpServers: { it: server() } });
    const { status, stdout, stderr } = await home.run(['init'], { input: 'y\n' });
    expect(status).toBe(2);
    expect(stdout).toContain('From Cursor');
    expect(stderr).toContain('add --yes to write it');
    expect(existsSync(home.path('.config/codemode'))).toBe(false);
  });

  test('a client file that is not valid JSON is reported, left as it is, and costs only itself', async () => {
    using home = new Home();
    const broken = home.write('.claude.json', '{ "mcpServers": { "a": ');
    home.write('.cursor/mcp.json', { mcpServers: { it: server() } });
    const plan = await home.json<Plan>(['init', '--json']);
    expect(plan.servers.map(({ name }) => name)).toEqual(['it']);
    expect(plan.warnings).toEqual([
      `${broken}: was left out: ${broken}:1:24: not valid JSON here: look for a missing or extra comma, quote or bracket just before this place`,
    ]);
    expect(readFileSync(broken, 'utf8')).toBe('{ "mcpServers": { "a": ');
  });

  test('files that somebody names must be there and list servers', async () => {
    using home = new Home();
    const listed = home.write('some.json', { mcpServers: { it: server() } });
    expect((await home.json<Plan>(['init', '--json', '--from', listed])).servers).toHaveLength(1);
    const missing = await home.run(['init', '--yes', '--from', listed, 'nowhere.json']);
    expect(missing).toMatchObject({ status: 2, stderr: expect.stringContaining('nowhere.json: does not exist') });
    const empty = await home.run(['init', '--yes', '--from', home.write('empty.json', {})]);
    expect(empty).toMatchObject({ status: 2, stderr: expect.stringContaining('empty.json: lists no servers') });
    expect(existsSync(home.path('.config/codemode'))).toBe(false);
  });
});

describe('init shows what it takes over', () => {
  test('every command whole, with variable names and its source file, harmless to a terminal', async () => {
    using home = new Home();
    const cursor = home.write('.cursor/mcp.json', {
      mcpServers: {
        it: {
          command: 'npx',
          args: ['-y', 'pkg', '--token', 'ghp-hunter2-hunter2', 'a b'],
          env: { KEY: 'hunter3-hunter3' },
        },
        'e\u001b[2J': { command: 'x\nWrite /etc/passwd? [Y/n] y' },
        web: { url: 'https://h/mcp', headers: { Authorization: 'Bearer hunter4-hunter4' } },
      },
    });
    const { stdout } = await home.run(['init']);
    expect(stdout).toContain(`From Cursor, ${cursor}
  it
      | npx -y pkg --token '***' 'a b'
      | env: KEY
  "e-[2J"  (called "e\\u001b[2J" there; that name is taken or cannot be used)
      | 'x
      | Write /etc/passwd? [Y/n] y'
  web
      | https://h/mcp
      | headers: Authorization
`);
    expect(stdout).not.toContain('hunter');
    expect(stdout).not.toContain('\u001b[2J');
    const json = await home.run(['init', '--json']);
    expect(json.stdout).not.toMatch(/hunter/);
    expect((JSON.parse(json.stdout) as Plan).servers[0]).toMatchObject({
      command: 'npx',
      args: ['-y', 'pkg', '--token', '***', 'a b'],
      env: ['KEY'],
    });
  });

  test('a project file never takes the name of one of your servers, in any order', async () => {
    using home = new Home();
    const cwd = home.path('project');
    const project = home.write('project/.mcp.json', {
      mcpServers: { github: { command: './evil' }, web: { command: 'w' } },
    });
    home.write('project/.cursor/mcp.json', { mcpServers: { mine: { command: './evil', args: ['2'] } } });
    const yours = home.write('.cursor/mcp.json', { mcpServers: { github: { command: 'gh-mcp' } } });
    home.write('.claude.json', { projects: { [cwd]: { mcpServers: { mine: { command: 'own' } } } } });
    const plan = await home.json<Plan>(['init', '--project', '--json'], { cwd });
    const shown = ({ servers }: Plan) => servers.map(({ name, command, cwd: folder }) => [name, command, folder]);
    expect(shown(plan)).toEqual([
      ['mine', 'own', undefined],
      ['github', 'gh-mcp', undefined],
      ['github-project', './evil', undefined],
      ['web', 'w', undefined],
      ['mine-project', './evil', undefined],
    ]);
    expect((await home.run(['init', '--project'], { cwd })).stdout).toContain(
      `From Claude Code, ${project} (a file of this project, not one of yours)\n  github-project  (called github there`,
    );
    const named = await home.json<Plan>(['init', '--json', '--from', project, yours], { cwd });
    expect(shown(named).slice(0, 2)).toEqual([
      ['github', 'gh-mcp', undefined],
      ['github-project', './evil', cwd],
    ]);
  });

  test('a usual variable that is set and not passed on, with the line to add', async () => {
    using home = new Home();
    home.write('.cursor/mcp.json', {
      mcpServers: { gh: { command: 'npx', args: ['-y', '@modelcontextprotocol/server-github'] } },
    });
    const env = { GITHUB_TOKEN: 'hunter2-hunter2' };
    expect((await home.json<Plan>(['init', '--json'], { env })).notPassedOn).toEqual([
      { server: 'gh', names: ['GITHUB_TOKEN'] },
    ]);
    expect((await home.run(['init'], { env })).stdout).toContain(
      'gh: GITHUB_TOKEN is set here but not passed on to this server; if it needs it, add to it:  inheritEnv: [GITHUB_TOKEN]\n',
    );
    expect((await home.json<Plan>(['init', '--json'])).notPassedOn).toEqual([]);
  });
});

describe('init in a project', () => {
  test('writes no secret, names the variables to set, the git risk, and the trust command', async () => {
    using home = new Home();
    const cwd = home.path('project');
    mkdirSync(cwd);
    execFileSync('git', ['init', '-q', cwd]);
    const cursor = home.write('.cursor/mcp.json', {
      mcpServers: {
        it: server({ env: { API_KEY: 'hunter2-hunter2', MODE: 'dev' } }),
        web: { url: 'https://h/mcp', headers: { Authorization: 'Bearer hunter3-hunter3' } },
        cli: { command: 'npx', args: ['pkg', '--token', 'hunter4'] },
      },
    });
    const { status, stdout } = await home.run(['init', '--project', '--yes'], { cwd });
    const file = home.path('project/codemode.config.yaml');
    expect(status).toBe(0);
    const text = readFileSync(file, 'utf8');
    expect(text).not.toContain('hunter');
    expect(text).toContain('API_KEY: ${API_KEY}\n      MODE: dev');
    expect(
      stdout,
    ).toContain(`Values that may be secret were not written to this file. It refers to these variables instead; set them:
  export API_KEY=...   # its value is in ${cursor}
  export WEB_TOKEN=...   # its value is in ${cursor}
  export CLI_TOKEN=...   # its value is in ${cursor}
git would commit ${file}: .gitignore does not cover it.`);
    expect(stdout).toContain(`again after each change:  ${own} trust\n`);
    expect(stdout).not.toContain('hunter');
    const env = { API_KEY: 'hunter2-hunter2', WEB_TOKEN: 'x', CLI_TOKEN: 'x' };
    const input = `import { environment } from '@codemode/servers/it';
      globalThis.__codemode_result__ = await environment({ name: 'API_KEY' });`;
    expect(await home.json(['--config', file, 'run', '-'], { cwd, env, input })).toMatchObject({
      result: expect.stringMatching(/^\[redacted/i),
    });
  });

  test('does not mention git for an ignored file; any other file in a work tree is as careful', async () => {
    using home = new Home();
    home.write('.cursor/mcp.json', { mcpServers: { it: server({ env: { API_KEY: 'hunter2-hunter2' } }) } });
    const cwd = home.path('project');
    mkdirSync(home.path('project/deep'), { recursive: true });
    execFileSync('git', ['init', '-q', cwd]);
    home.write('project/.gitignore', '/codemode.config.*\n');
    expect((await home.run(['init', '--project', '--yes'], { cwd })).stdout).not.toContain('git would commit');
    const other = await home.run(['init', '--yes', '--output', 'deep/tools.yaml'], { cwd });
    expect(other.stdout).toContain(`git would commit ${home.path('project/deep/tools.yaml')}`);
    expect(other.stdout).toContain(`${own} --config ${home.path('project/deep/tools.yaml')} servers`);
    expect(readFileSync(home.path('project/deep/tools.yaml'), 'utf8')).toContain('API_KEY: ${API_KEY}');
    await home.run(['init', '--yes', '--output', '../outside.yaml'], { cwd });
    expect(readFileSync(home.path('outside.yaml'), 'utf8')).toContain('API_KEY: hunter2-hunter2');
  });
});

test('next steps name this program as it can be called in this folder', async () => {
  using home = new Home();
  const link = (file: string) => {
    mkdirSync(dirname(home.path(file)), { recursive: true });
    symlinkSync(PROGRAM, home.path(file));
  };
  const nextStep = async (cwd: string, path: string) => {
    const env = { PATH: `${path}:${dirname(node)}` };
    const { stdout } = await home.run(['init', '--yes', '--force'], { cwd, env });
    return /answer: +(.*) servers/.exec(stdout)?.[1];
  };
  link('bin/codemode');
  link('project/node_modules/.bin/codemode');
  const project = home.path('project');
  expect(await nextStep(home.folder, home.path('bin'))).toBe('codemode');
  expect(await nextStep(project, home.path('project/node_modules/.bin'))).toBe('npx codemode');
  expect(await nextStep(home.folder, home.path('project/node_modules/.bin'))).toBe(own);
  home.write('other/codemode', '#!/bin/sh\n', 0o755);
  expect(await nextStep(home.folder, `${home.path('other')}:${home.path('bin')}`)).toBe(own);
});
