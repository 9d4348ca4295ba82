import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { Home } from '../support/cli.js';
import { fixture } from '../support/upstreams.js';

const node = process.execPath;
const everyday = fixture('everyday-server.mjs');
const server = (more: object = {}) => ({ command: node, args: [everyday], ...more });

interface Plan {
  readonly servers: { name: string; renamedFrom?: string; client: string; file: string }[];
  readonly leftOut: { name: string; client: string; file: string; reason: string }[];
  readonly warnings: string[];
  readonly variables: { name: string; isSet: boolean }[];
  readonly written: string | null;
}

/** One file of every client, each with a server of its own. */
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
  home.write('.mcpproxy/mcp_config.json', {
    enable_code_execution: true,
    mcpServers: [{ name: 'proxied', protocol: 'stdio', ...server({ env: { E: '1' } }), enabled: true }],
  });
  home.write('project/.mcp.json', { mcpServers: { shared: server({ env: { F: '1' } }) } });
}

describe('init', () => {
  test('takes over the servers of every client as they are, and all of them answer [X2]', async () => {
    using home = new Home();
    writeClientFiles(home);
    const cwd = home.path('project');
    const env = { API_KEY: 'a', CURSOR_KEY: 'b' };
    const plan = await home.json<Plan>(['init', '--yes', '--json'], { cwd, env });
    expect(plan.servers.map(({ name, client }) => [name, client])).toEqual([
      ['shared', 'Claude Code'],
      ['desktop', 'Claude Desktop'],
      ['same', 'Claude Desktop'],
      ['code', 'Claude Code'],
      ['code-project', 'Claude Code'],
      ['cursor', 'Cursor'],
      ['code studio', 'VS Code'],
      ['codex', 'Codex'],
      ['proxied', 'mcpproxy'],
    ]);
    expect(plan).toMatchObject({
      leftOut: [],
      variables: [
        { name: 'API_KEY', isSet: true },
        { name: 'CURSOR_KEY', isSet: true },
      ],
      written: home.path('project/codemode.config.yaml'),
    });
    const health = await home.json<{ servers: { id: string; state: string }[] }>(['servers', '--json'], { cwd, env });
    expect(health.servers.map(({ id, state }) => [id, state])).toEqual(plan.servers.map(({ name }) => [name, 'ready']));
    const input = `import { environment } from '@codemode/servers/code-studio';
      globalThis.__codemode_result__ = await environment({ name: 'KEY' });`;
    expect(await home.json(['run', '-'], { cwd, env, input })).toMatchObject({ result: 'a' });
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

  test('leaves out what is there twice, switched off, codemode itself or not understood, and says so', async () => {
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
    expect(plan).toEqual({
      servers: [
        { name: 'files', client: 'Claude Code', file: claude },
        { name: 'a-b', renamedFrom: 'a/b', client: 'Claude Code', file: claude },
        { name: 'odd', client: 'Claude Code', file: claude },
        { name: 'files-cursor', renamedFrom: 'files', client: 'Cursor', file: cursor },
      ],
      leftOut: [
        { name: 'off', client: 'Claude Code', file: claude, reason: 'it is switched off there' },
        { name: 'codemode', client: 'Claude Code', file: claude, reason: 'it is codemode itself' },
        {
          name: 'broken',
          client: 'Claude Code',
          file: claude,
          reason: 'timeout: expected a duration such as 30s, 500ms or 2m, found "soon"',
        },
        { name: 'mine', client: 'Cursor', file: cursor, reason: `it is the same server as files of ${claude}` },
      ],
      warnings: [`${claude}: mcpServers.odd.alwaysAllow is not known here and was left out`],
      variables: [{ name: 'HOME', isSet: true }],
      written: null,
    });
    expect((await home.run(['init', '--yes'])).status).toBe(0);
    const input = `import { environment } from '@codemode/servers/odd';
      globalThis.__codemode_result__ = await environment({ name: 'Z' });`;
    const config = home.write('only-odd.yaml', readFileSync(home.path('codemode.config.yaml'), 'utf8'));
    expect(await home.json(['--config', config, 'run', '-'], { input })).toMatchObject({
      result: `\${not a variable} and ${home.folder}`,
    });
  });

  test('writes a file for the owner alone, with comments, and never over another unless told to', async () => {
    using home = new Home();
    home.write('.cursor/mcp.json', { mcpServers: { it: server({ headers: {} }), web: { url: 'https://h/${TOKEN}' } } });
    const first = await home.run(['init', '--yes']);
    const file = home.path('codemode.config.yaml');
    expect(first).toMatchObject({ status: 0, stderr: '' });
    expect(first.stdout).toContain('export TOKEN=...');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).toContain(`  # from Cursor: ${home.path('.cursor/mcp.json')}\n  it:\n`);
    writeFileSync(file, '# mine\n');
    const second = await home.run(['init', '--yes']);
    expect(second).toEqual({
      status: 2,
      stdout: '',
      stderr: `codemode: ${file} exists already; --force replaces it, --output names another\n`,
    });
    expect(readFileSync(file, 'utf8')).toBe('# mine\n');
    expect((await home.run(['init', '--yes', '--force'])).status).toBe(0);
    expect(readFileSync(file, 'utf8')).toContain('mcpServers:');
  });

  test('without any server it writes a first configuration that is read without complaint', async () => {
    using home = new Home();
    expect((await home.run(['init', '--yes', '--output', 'codemode.config.json'])).status).toBe(0);
    expect((await home.run(['init', '--yes', '--output', 'codemode.config.yaml'])).stdout).toContain(
      'No servers were found',
    );
    const { file } = await home.json<{ file: string }>(['config', 'explain', '--json']);
    expect(file).toBe(home.path('codemode.config.yaml'));
  });

  test('without a terminal and without --yes it shows the plan, writes nothing, and says what to add', async () => {
    using home = new Home();
    home.write('.cursor/mcp.json', { mcpServers: { it: server() } });
    const { status, stdout, stderr } = await home.run(['init'], { input: 'y\n' });
    expect(status).toBe(2);
    expect(stdout).toContain('From Cursor');
    expect(stderr).toContain('add --yes to write it');
    expect(() => statSync(home.path('codemode.config.yaml'))).toThrow('ENOENT');
  });

  test('a file that cannot be understood costs only itself', async () => {
    using home = new Home();
    const broken = home.write('.mcp.json', '{ "mcpServers": { "a": ');
    home.write('.cursor/mcp.json', { mcpServers: { it: server() } });
    const plan = await home.json<Plan>(['init', '--json']);
    expect(plan.servers.map(({ name }) => name)).toEqual(['it']);
    expect(plan.warnings).toEqual([expect.stringMatching(new RegExp(`^${broken}: was left out: `))]);
  });

  test('files that somebody names must be there and list servers', async () => {
    using home = new Home();
    const listed = home.write('some.json', { mcpServers: { it: server() } });
    expect((await home.json<Plan>(['init', '--json', '--from', listed])).servers).toHaveLength(1);
    const missing = await home.run(['init', '--yes', '--from', listed, 'nowhere.json']);
    expect(missing).toMatchObject({ status: 2, stderr: expect.stringContaining('nowhere.json: does not exist') });
    const empty = await home.run(['init', '--yes', '--from', home.write('empty.json', {})]);
    expect(empty).toMatchObject({ status: 2, stderr: expect.stringContaining('empty.json: lists no servers') });
    expect(() => statSync(home.path('codemode.config.yaml'))).toThrow('ENOENT');
  });
});
