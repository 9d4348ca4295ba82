import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { clientFiles, discoverServers } from '../files/discover.js';
import { parseTomlDocument } from '../files/document.js';
import { detectFormat, importForeign } from './import.js';

test('a Claude or Cursor file is taken as it is, and what is unknown in it is a warning', () => {
  const value = { mcpServers: { a: { command: 'x', args: ['y'], alwaysAllow: [] }, b: {}, c: 7 }, theme: 'dark' };
  expect(detectFormat('/x/claude_desktop_config.json', value)).toBe('claude');
  const imported = importForeign(value, 'claude');
  expect(imported.value).toEqual({ mcpServers: { a: { command: 'x', args: ['y'] } } });
  expect(imported.warnings).toEqual([
    'mcpServers.a.alwaysAllow is not known here and was left out',
    'mcpServers.b has neither command nor url and was left out',
    'mcpServers.c is not a server and was left out',
  ]);
});

test('inputs and env references of VS Code become environment variables', () => {
  const value = {
    inputs: [{ id: 'api-key', type: 'promptString', password: true }],
    servers: {
      web: {
        type: 'http',
        url: 'https://h/mcp',
        headers: { Authorization: 'Bearer ${input:api-key}', X: '${env:HOST}' },
      },
      local: { type: 'stdio', command: 'node', args: ['${workspaceFolder}/s.js'] },
    },
  };
  expect(detectFormat('/x/.vscode/mcp.json', value)).toBe('vscode');
  const imported = importForeign(value, 'vscode');
  expect(imported.value).toEqual({
    mcpServers: {
      web: { type: 'http', url: 'https://h/mcp', headers: { Authorization: 'Bearer ${API_KEY}', X: '${HOST}' } },
      local: { type: 'stdio', command: 'node', args: ['./s.js'] },
    },
  });
  expect(imported.warnings).toEqual([
    'servers.web asks for the input "api-key"; set the environment variable API_KEY instead',
  ]);
});

test('a Codex TOML file is understood with its own words for timeouts and tokens', () => {
  const { value } = parseTomlDocument(
    'model = "x"\n[mcp_servers.docs]\ncommand = "npx"\nargs = ["-y", "docs"]\nstartup_timeout_sec = 20\ntool_timeout_sec = 1.5\n[mcp_servers.docs.env]\nA = "b"\n[mcp_servers.web]\nurl = "https://h/mcp"\nbearer_token_env_var = "WEB_TOKEN"\nhttp_headers = { X = "1" }\n',
    'config.toml',
  );
  expect(detectFormat('config.toml', value)).toBe('codex');
  expect(importForeign(value, 'codex').value).toEqual({
    mcpServers: {
      docs: { command: 'npx', args: ['-y', 'docs'], connectTimeout: 20_000, timeout: 1_500, env: { A: 'b' } },
      web: { url: 'https://h/mcp', headers: { Authorization: 'Bearer ${WEB_TOKEN}', X: '1' } },
    },
  });
});

test('variables that Codex forwards to a server are inherited here too', () => {
  const { value } = parseTomlDocument('[mcp_servers.a]\ncommand = "x"\nenv_vars = ["GH_TOKEN"]\n', 'config.toml');
  expect(importForeign(value, 'codex').value).toEqual({
    mcpServers: { a: { command: 'x', inheritEnv: ['GH_TOKEN'] } },
  });
});

test('a Windsurf file is distinguished from the file of mcpproxy with the same name', () => {
  const value = {
    mcpServers: { w: { serverUrl: 'https://h/mcp', headers: { K: '${env:KEY} ${file:/k}' }, disabledTools: [] } },
  };
  expect(detectFormat('/h/.codeium/windsurf/mcp_config.json', value)).toBe('claude');
  expect(detectFormat('/h/.mcpproxy/mcp_config.json', value)).toBe('mcpproxy');
  const imported = importForeign(value, 'claude');
  expect(imported.value).toEqual({ mcpServers: { w: { url: 'https://h/mcp', headers: { K: '${KEY} ${file:/k}' } } } });
  expect(imported.warnings).toEqual([
    'mcpServers.w.disabledTools is not known here and was left out',
    'mcpServers.w reads the file "/k"; put what is in it into an environment variable',
  ]);
});

test('a Gemini CLI file has httpUrl, $NAME, and lists of servers that are off', () => {
  const value = {
    mcp: { excluded: ['b'] },
    mcpServers: {
      a: {
        httpUrl: 'https://h/mcp',
        url: 'https://h/sse',
        headers: { A: 'Bearer $TOKEN' },
        timeout: 5000,
        trust: true,
      },
      b: { command: 'x', args: ['$HOME/y'] },
    },
  };
  expect(detectFormat('/h/.gemini/settings.json', value)).toBe('gemini');
  const imported = importForeign(value, 'gemini');
  expect(imported.value).toEqual({
    mcpServers: {
      a: { url: 'https://h/mcp', headers: { A: 'Bearer ${TOKEN}' }, timeout: 5000 },
      b: { command: 'x', args: ['${HOME}/y'], disabled: true },
    },
  });
  expect(imported.warnings).toEqual(['mcpServers.a.trust is not known here and was left out']);
});

test('an OpenCode file has whole command lines and {env:NAME}, in both of its versions', () => {
  const local = { type: 'local', command: ['bun', 'x', 'srv'], environment: { K: '{env:KEY}' } };
  const first = {
    mcp: {
      a: { ...local, timeout: 5000, enabled: false },
      b: { type: 'remote', url: 'https://h/mcp', headers: { A: '1' } },
    },
  };
  const second = { mcp: { servers: { a: { ...local, cwd: 'sub', timeout: { startup: 1, request: 2 } } } } };
  expect(detectFormat('/h/opencode/opencode.jsonc', first)).toBe('opencode');
  expect(importForeign(first, 'opencode').value).toEqual({
    mcpServers: {
      a: { command: 'bun', args: ['x', 'srv'], env: { K: '${KEY}' }, enabled: false, connectTimeout: 5000 },
      b: { url: 'https://h/mcp', headers: { A: '1' } },
    },
  });
  expect(importForeign(second, 'opencode').value).toEqual({
    mcpServers: {
      a: { command: 'bun', args: ['x', 'srv'], env: { K: '${KEY}' }, cwd: 'sub', connectTimeout: 1, timeout: 2 },
    },
  });
});

test('a Zed file has context_servers, with a command of either form and seconds', () => {
  const value = {
    theme: 'One',
    context_servers: {
      a: { source: 'custom', enabled: true, command: 'x', args: ['y'], env: { A: '1' }, timeout: 30 },
      b: { command: { path: 'x', args: ['z'], env: null } },
      c: { url: 'https://h/mcp', headers: { A: '1' } },
      ext: { source: 'extension', settings: { token: 't' } },
    },
  };
  expect(detectFormat('/h/.config/zed/settings.json', value)).toBe('zed');
  const imported = importForeign(value, 'zed');
  expect(imported.value).toEqual({
    mcpServers: {
      a: { enabled: true, command: 'x', args: ['y'], env: { A: '1' }, timeout: 30_000 },
      b: { command: 'x', args: ['z'] },
      c: { url: 'https://h/mcp', headers: { A: '1' } },
    },
  });
  expect(imported.warnings).toEqual(['context_servers.ext has neither command nor url and was left out']);
});

test('a mistake in TOML has its line and column', () => {
  expect(() => parseTomlDocument('a = 1\nb = = 2\n', 'config.toml')).toThrow(/^config.toml:2:5: /);
});

test('the servers of the clients on this machine are found where those clients keep them', async () => {
  const home = await mkdtemp(join(tmpdir(), 'codemode-home-'));
  try {
    const files = clientFiles({ HOME: home }, join(home, 'project'), 'linux');
    const write = async (file: string, text: string) => {
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text);
    };
    await write(join(home, '.config/Claude/claude_desktop_config.json'), '{"mcpServers":{"a":{"command":"x"}}}');
    await write(
      join(home, '.claude.json'),
      JSON.stringify({
        numStartups: 1,
        mcpServers: { d: { command: 'x' } },
        projects: { [join(home, 'project')]: { mcpServers: { e: { url: 'https://h' } } } },
      }),
    );
    await write(join(home, '.cursor/mcp.json'), 'not json: [');
    await write(join(home, '.codex/config.toml'), '[mcp_servers.b]\ncommand = "y"\n');
    await write(
      join(home, '.config/Code/User/settings.json'),
      '{ // mine\n "mcp": { "servers": { "c": { "command": "z" } } }, }',
    );
    const found = await discoverServers(files);
    expect(found.map(({ client, servers }) => [client, Object.keys(servers)])).toEqual([
      ['Claude Desktop', ['a']],
      ['Claude Code', ['d']],
      ['Claude Code', ['e']],
      ['Cursor', []],
      ['VS Code', ['c']],
      ['Codex', ['b']],
    ]);
    expect(found[3]?.warnings[0]).toContain('was left out: ');
  } finally {
    await rm(home, { recursive: true });
  }
});

test('a file of OpenCode is known by its entries, whatever it is called', () => {
  const value = { mcp: { oc: { type: 'local', command: ['mcp-server-memory'], enabled: true } } };
  expect(detectFormat('/x/oc.json', value)).toBe('opencode');
  expect(detectFormat('/x/settings.json', { mcp: { servers: { a: { command: 'x' } } } })).toBe('vscode');
});
