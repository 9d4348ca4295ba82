import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { explainConfig } from './explain.js';
import { type LoadRequest, loadConfig } from './load.js';
import { folder, load, mistake, useFolder } from './load.test-support.js';

useFolder();

describe('where the configuration is found', () => {
  test('without any file everything is at its default', async () => {
    const loaded = await loadConfig({ cwd: folder, environment: { HOME: folder } });
    expect(loaded.file).toBeUndefined();
    expect(loaded.config).toMatchObject({
      profile: 'codemode',
      mcpServers: {},
      server: { host: '127.0.0.1', port: 3000 },
    });
  });

  test('client timeouts, listing ages and response budgets have defaults, units and bounds', async () => {
    const defaults = (await load('profile: codemode')).config;
    expect([defaults.server.answerWithin, defaults.catalog, defaults.prompt, defaults.logging]).toEqual([
      50_000,
      { ttl: 600_000 },
      {},
      { level: 'info', format: 'text', outputs: [{ type: 'console' }] },
    ]);
    const text = 'server: { answerWithin: 20s }\ncatalog: { ttl: 2h }\nprompt: { tokenBudget: 4000 }';
    const { config } = await load(text);
    expect([config.server.answerWithin, config.catalog.ttl, config.prompt.tokenBudget]).toEqual([
      20_000, 7_200_000, 4_000,
    ]);
    expect(await mistake('catalog: { ttl: soon }')).toBe(
      'codemode.config.yaml:1:17: catalog.ttl: expected a duration such as 30s, 500ms or 2m, found "soon"',
    );
    expect(await mistake('prompt: { tokenBudget: 1 }')).toContain('a whole number from 500 to 1000000');
  });

  test('the project folder comes before the user folder, and YAML before JSON with a warning', async () => {
    await mkdir(join(folder, 'xdg', 'codemode'), { recursive: true });
    await writeFile(join(folder, 'xdg', 'codemode', 'config.yml'), 'profile: go');
    const environment = { HOME: folder, XDG_CONFIG_HOME: join(folder, 'xdg'), CODEMODE_HOME: join(folder, 'state') };
    const request: LoadRequest = { cwd: folder, environment, confirmTrust: async () => true };
    expect((await loadConfig(request)).config.profile).toBe('go');
    await writeFile(join(folder, 'codemode.config.json'), '{\n\t"profile": "runner"\n}');
    expect((await loadConfig(request)).config.profile).toBe('runner');
    await writeFile(join(folder, 'codemode.config.yaml'), 'profile: unified');
    const loaded = await loadConfig(request);
    expect(loaded.config.profile).toBe('unified');
    expect(loaded.warnings).toEqual([expect.stringContaining('codemode.config.json is not read')]);
  });

  test('an unreadable configuration file is reported with the reason', async () => {
    const attempt = async (configFile: string) =>
      loadConfig({ cwd: folder, environment: {}, configFile }).then(
        () => 'loaded',
        (error: Error) => error.message.replaceAll(`${folder}/`, ''),
      );
    await mkdir(join(folder, 'folder.yaml'));
    await symlink('loop.yaml', join(folder, 'loop.yaml'));
    await writeFile(join(folder, 'empty.yaml'), ' \n');
    await writeFile(join(folder, 'comments.yaml'), '# nothing yet\n');
    await writeFile(join(folder, 'binary.yaml'), Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 0xff]));
    await writeFile(join(folder, 'nul.yaml'), 'profile: "a\0b"');
    await writeFile(join(folder, 'huge.yaml'), `# ${'x'.repeat(5 * 1024 * 1024)}`);
    await writeFile(join(folder, 'list.yaml'), '- a\n');
    expect({
      missing: await attempt('missing.yaml'),
      folder: await attempt('folder.yaml'),
      loop: await attempt('loop.yaml'),
      empty: await attempt('empty.yaml'),
      comments: await attempt('comments.yaml'),
      binary: await attempt('binary.yaml'),
      nul: await attempt('nul.yaml'),
      huge: await attempt('huge.yaml'),
      list: await attempt('list.yaml'),
      device: await attempt('/dev/zero'),
    }).toEqual({
      missing: 'missing.yaml: does not exist; check the path',
      folder: 'folder.yaml: is a folder; give the file inside it',
      loop: 'loop.yaml: is a symbolic link that leads to itself',
      empty: 'empty.yaml: is empty; run `codemode init` to write a first configuration',
      comments: 'comments.yaml: expected a map of settings such as "profile: codemode", found only comments',
      binary: 'binary.yaml: is not text in UTF-8; save it as UTF-8 YAML or JSON',
      nul: 'nul.yaml: is a binary file; a YAML or JSON file is expected',
      huge: expect.stringContaining('bytes long; at most 5242880 are read'),
      list: 'list.yaml:1:1: expected a map of settings such as "profile: codemode", found a list',
      device: '/dev/zero: is not an ordinary file; copy its contents to one',
    });
  });
});

describe('values', () => {
  test('the sections of the unified contract are understood as its document prints them', async () => {
    const { config, upstreams } = await load(
      `
server: { port: 3000, host: "0.0.0.0", cors: { enabled: true, origins: ["http://localhost:3000"] } }
sandbox:
  runtime: "quickjs"
  workers: { min: 2, max: 10, idleTimeout: "30s" }
  limits: { memory: "128MB", timeout: "30s", cpuQuota: 0.5 }
security:
  auth: { provider: "oauth2", issuer: "https://auth.company.com", audience: "codemode-api" }
  capabilities:
    network: { maxRequestsPerSecond: 10, allowedHosts: ["api.helpscout.net"] }
    mcp: { maxCallsPerSecond: 5, allowedServers: ["helpscout", "filesystem"] }
mcp:
  servers:
    helpscout: { transport: "stdio", command: "npx", args: ["help-scout-mcp-server"], environment: { ID: "\${HELPSCOUT_CLIENT_ID}" } }
logging: { level: "info", format: "json", outputs: [{ type: "console" }, { type: "file", path: "./logs/codemode.log", rotation: "daily" }] }
`,
      { environment: { HELPSCOUT_CLIENT_ID: 'id-1' } },
    );
    expect(config.sandbox).toMatchObject({
      workers: { idleTimeout: 30_000 },
      limits: { memory: 134_217_728, timeout: 30_000 },
    });
    expect(upstreams).toEqual([
      {
        id: 'helpscout',
        target: { kind: 'stdio', command: 'npx', arguments: ['help-scout-mcp-server'], environment: { ID: 'id-1' } },
        connectTimeoutMs: 60_000,
        labels: [],
        isTrusted: false,
        retry: { maxAttempts: 2, delayMs: 200 },
      },
    ]);
  });

  test('code mode can be set per model', async () => {
    const { config } = await load(
      'defaults: { codeMode: { enabled: true, excludedTools: [a] } }\nmodels: [{ ref: small, codeMode: { excludedTools: [b] } }]',
    );
    expect(config.models).toEqual([{ ref: 'small', codeMode: { excludedTools: ['b'] } }]);
    expect(config.defaults.codeMode.excludedTools).toEqual(['a']);
  });

  test('servers are stdio, http, sse or websocket by what is written', async () => {
    const { upstreams } = await load(`
mcpServers:
  local: { command: node, args: [server.js], cwd: servers, timeout: 5s }
  http: { url: "https://example.com/mcp", headers: { Authorization: "Bearer \${TOKEN:-none}" } }
  sse: { url: "https://example.com/sse", type: sse }
  socket: { url: "wss://example.com/mcp" }
  off: { command: x, disabled: true }
`);
    expect(upstreams.map(({ id, target }) => [id, target])).toEqual([
      [
        'local',
        { kind: 'stdio', command: 'node', arguments: ['server.js'], environment: {}, cwd: join(folder, 'servers') },
      ],
      [
        'http',
        { kind: 'http', url: 'https://example.com/mcp', headers: { Authorization: 'Bearer none' }, flavour: 'auto' },
      ],
      ['sse', { kind: 'http', url: 'https://example.com/sse', headers: {}, flavour: 'sse' }],
      ['socket', { kind: 'websocket', url: 'wss://example.com/mcp', headers: {} }],
    ]);
  });

  test('every value remembers its layer and place, and secrets are masked', async () => {
    const loaded = await load(
      'profile: go\nserver:\n  port: 1\nmcpServers:\n  a: { command: x, args: ["--token=abc", "${PLACE}"], env: { MODE: production } }\n  b: { url: "https://u:pw@h/?key=1" }\n',
      {
        environment: { CODEMODE_PORT: '2', PLACE: 'somewhere' },
        flags: [{ flag: '--profile', path: ['profile'], value: 'runner' }],
      },
    );
    const rows = explainConfig(loaded);
    const row = (key: string) => rows.find((candidate) => candidate.key === key);
    expect(row('profile')).toEqual({ key: 'profile', value: '"runner"', layer: 'flag', place: '--profile' });
    expect(row('server.port')).toEqual({
      key: 'server.port',
      value: '2',
      layer: 'environment',
      place: 'CODEMODE_PORT',
    });
    expect(row('server.host')).toEqual({ key: 'server.host', value: '"127.0.0.1"', layer: 'default', place: '' });
    expect(row('mcpServers.a.command')).toMatchObject({ layer: 'file', place: `${folder}/codemode.config.yaml:5:8` });
    expect(row('mcpServers.a.args')?.value).toBe('["***","***"]');
    expect(row('mcpServers.a.env.MODE')?.value).toBe('"***"');
    expect(row('mcpServers.b.url')?.value).toBe('"https://u:***@h/?key=***"');
    expect(JSON.stringify(rows)).not.toMatch(/somewhere|abc|pw@/);
  });
});

test('the proxy file of the code_execution contract is read with --config', async () => {
  const text = JSON.stringify({
    listen: ':8080',
    enable_code_execution: true,
    code_execution_timeout_ms: 5000,
    code_execution_pool_size: 3,
    mcpServers: [
      {
        name: 'gh',
        protocol: 'stdio',
        command: 'npx',
        args: ['x'],
        env: {},
        url: '',
        enabled: true,
        quarantined: false,
        created: 'x',
      },
      { name: 'web', protocol: 'http', url: 'https://h/mcp', command: '', enabled: false },
      { name: 'new', command: 'npx', quarantined: true, enabled: true },
    ],
  });
  const loaded = await load(text, { configFile: 'mcp_config.json' }, 'mcp_config.json');
  expect(loaded.format).toBe('mcpproxy');
  expect(loaded.config.codeExecution).toEqual({ enabled: true, timeout: 5000, maxToolCalls: 0, poolSize: 3 });
  expect(loaded.upstreams.map((upstream) => upstream.id)).toEqual(['gh']);
  expect(loaded.warnings).toEqual([
    expect.stringContaining('mcpServers[2].quarantined is set, so the server stays disabled'),
  ]);
  const tooMany = JSON.stringify({ enable_code_execution: true, code_execution_pool_size: 1000 });
  expect(await mistake(tooMany, { configFile: 'mcp_config.json' }, 'mcp_config.json')).toBe(
    'mcp_config.json:1:58: code_execution_pool_size: expected a whole number from 1 to 100, found 1000',
  );
});

describe('inheritEnv', () => {
  test('gives a local server the named variables that are set, apart from its own', async () => {
    const { upstreams } = await load(
      'mcpServers:\n  a: { command: x, env: { MODE: dev }, inheritEnv: [GITHUB_TOKEN, MISSING] }\n',
      { environment: { HOME: folder, GITHUB_TOKEN: 'secret', OTHER: 'no' } },
    );
    expect(upstreams[0]?.target).toMatchObject({ environment: { MODE: 'dev' }, inherited: { GITHUB_TOKEN: 'secret' } });
  });

  test('is a mistake beside url, and where a name is not one of a variable', async () => {
    const mistakeOf = async (entry: string) => {
      const { disabledServers } = await load(`mcpServers:\n  a: ${entry}\n`);
      return disabledServers[0]?.mistakes[0]?.replaceAll(`${folder}/`, '');
    };
    expect(await mistakeOf('{ url: "https://h", inheritEnv: [A] }')).toBe(
      'codemode.config.yaml:2:38: mcpServers.a.inheritEnv: expected no such key: only a server with a command has a process to give variables to, found a list',
    );
    expect(await mistakeOf('{ command: x, inheritEnv: ["A=1"] }')).toBe(
      'codemode.config.yaml:2:33: mcpServers.a.inheritEnv[0]: expected the name of an environment variable, such as GITHUB_TOKEN, found "A=1"',
    );
  });
});
