import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { explainConfig } from './explain.js';
import { type LoadRequest, loadConfig } from './load.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'codemode-config-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function load(text: string, request: Partial<LoadRequest> = {}, name = 'codemode.config.yaml') {
  await writeFile(join(folder, name), text);
  return loadConfig({ cwd: folder, environment: { HOME: folder }, configFile: name, ...request });
}

async function mistake(
  text: string,
  request: Partial<LoadRequest> = {},
  name = 'codemode.config.yaml',
): Promise<string> {
  const error = await load(text, request, name).then(
    () => undefined,
    (thrown: unknown) => thrown as { code?: string; message: string },
  );
  expect(error).toMatchObject({ code: 'bad_config' });
  return (error?.message ?? '').replaceAll(`${folder}/`, '');
}

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

  test('how long clients wait, how old listings get and what the agent reads have defaults, units and bounds', async () => {
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

  test('what is no readable configuration file is named for what it is', async () => {
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

describe('a mistake is reported with file, line, column, key, what was expected and what was found', () => {
  const cases: [name: string, text: string, message: string][] = [
    [
      'a wrong word',
      'profile: codemod\n',
      'codemode.config.yaml:1:10: profile: expected one of codemode, unified, code_execution, runner, go, found "codemod"',
    ],
    [
      'an unknown key',
      'sandbox:\n  limits:\n    memroy: 1MB\n',
      'codemode.config.yaml:3:5: sandbox.limits.memroy: unknown key; did you mean memory?',
    ],
    [
      'a wrong type',
      'server:\n  cors:\n    origins: all\n',
      'codemode.config.yaml:3:14: server.cors.origins: expected a list, found "all"',
    ],
    [
      'a wrong size',
      'sandbox: { limits: { memory: lots } }\n',
      'codemode.config.yaml:1:30: sandbox.limits.memory: expected a size such as 128MB or 64KB, found "lots"',
    ],
    [
      'a number out of range',
      'server:\n  port: 70000\n',
      'codemode.config.yaml:2:9: server.port: expected a whole number from 0 to 65535, found 70000',
    ],
    [
      'a doubled key',
      'profile: go\nprofile: go\n',
      'codemode.config.yaml:2:1: this key appears twice; keep one of them',
    ],
    [
      'broken syntax',
      'a: [1\nb: 2\n',
      'codemode.config.yaml:2:1: Flow sequence in block collection must be sufficiently indented and end with a ]',
    ],
    [
      'a circle of aliases',
      'policy: &x\n  - *x\n',
      'codemode.config.yaml:2:5: policy[0]: an alias that refers to something around it, so the value would never end',
    ],
    [
      'a name that would reach the prototype',
      'mcpServers:\n  __proto__: { command: x }\n',
      'codemode.config.yaml:2:3: mcpServers.__proto__: this name cannot be used',
    ],
    [
      'an own tag',
      'profile: !!js/function "x"\n',
      expect.stringMatching(/^codemode.config.yaml:1:10: .*tags such as !!js are not allowed/) as unknown as string,
    ],
    [
      'a malformed reference',
      'toolName: "${1}"\n',
      'codemode.config.yaml:1:11: toolName: expected ${NAME} or ${NAME:-default}, found ${1',
    ],
    [
      'an unknown kind',
      'logging: { outputs: [{ type: tape }] }',
      'codemode.config.yaml:1:30: logging.outputs[0].type: expected one of console, file, found "tape"',
    ],
  ];
  test.each(cases)('%s', async (_name, text, message) => {
    expect(await mistake(text)).toEqual(message);
  });

  test('several mistakes are reported at once', async () => {
    expect((await mistake('profile: x\nserver: { port: y }\n')).split('\n')).toHaveLength(2);
  });

  test('in JSON too, with tabs and comments', async () => {
    const text = '{\n\t// server\n\t"server": {\n\t\t"cors": { "origin": [] },\n\t}\n}';
    expect(await mistake(text, {}, 'codemode.config.json')).toContain(
      'codemode.config.json:4:13: server.cors.origin: unknown key; did you mean origins?',
    );
  });

  test('a mistake in a variable or a flag is reported there', async () => {
    expect(await mistake('profile: go', { environment: { CODEMODE_PORT: 'http' } })).toBe(
      'CODEMODE_PORT: server.port: expected a whole number from 0 to 65535, found "http"',
    );
    const flags = [{ flag: '--profile', path: ['profile'], value: 'nope' }];
    expect(await mistake('profile: go', { flags })).toMatch(/^--profile: profile: expected one of/);
  });

  test('a value that may be secret is not repeated', async () => {
    const text = 'mcpServers:\n  a: { command: x, env: { KEY: 12345678 } }\n  b: { url: "${ADDRESS}" }';
    const { disabledServers, warnings } = await load(text, { environment: { ADDRESS: 'hunter2hunter2' } });
    const said = JSON.stringify([disabledServers, warnings]);
    expect(said).not.toMatch(/12345678|hunter2/);
    expect(said).toContain('may be secret');
  });

  test('aliases that multiply are refused before they fill the memory', async () => {
    const lines = ['a0: &a0 [x,x,x,x,x,x,x,x,x]'];
    for (let level = 1; level < 12; level += 1)
      lines.push(
        `a${level}: &a${level} [${Array(9)
          .fill(`*a${level - 1}`)
          .join(',')}]`,
      );
    expect(await mistake(lines.join('\n'))).toContain('too many or unresolved aliases');
  });
});

describe('a mistake inside the entry of one server disables that server alone', () => {
  const cases: [name: string, text: string, message: string][] = [
    [
      'a server without command and url',
      'mcpServers:\n  files: { args: [a] }\n',
      'codemode.config.yaml:2:10: mcpServers.files: expected command (a local server), url (a remote one) or openapi (an HTTP API), found a map',
    ],
    [
      'a list entry',
      'mcpServers:\n  - name: a\n    command: x\n  - name: b\n    command: 7\n',
      'codemode.config.yaml:5:14: mcpServers.b.command: expected text, found 7',
    ],
    [
      'a list entry without a name',
      'mcpServers:\n  - command: x\n',
      'codemode.config.yaml:2:5: mcpServers[0]: expected a name for this server',
    ],
    [
      'a doubled server',
      'mcpServers: [{ name: a, command: x }, { name: a, command: y }]',
      'codemode.config.yaml:1:39: mcpServers[1]: a second server is called "a"; rename one of them',
    ],
    [
      'a missing variable',
      'mcpServers:\n  a:\n    url: "https://x/${WHERE}"\n',
      'codemode.config.yaml:3:10: mcpServers.a.url: the environment variable WHERE is not set; set it, or write ${WHERE:-default}',
    ],
    [
      'a transport for the other kind of server',
      'mcpServers: { a: { command: x, type: sse } }',
      'codemode.config.yaml:1:38: mcpServers.a.type: expected stdio, because this server has a command, found "sse"',
    ],
    [
      'an unknown key',
      'mcpServers:\n  a: { comand: x }\n',
      'codemode.config.yaml:2:8: mcpServers.a.comand: unknown key; did you mean command?',
    ],
    [
      'a name that cannot be used',
      'mcpServers: { "a/b": { command: x } }',
      'codemode.config.yaml:1:15: mcpServers["a/b"]: expected a name without slashes and control characters',
    ],
    [
      'an entry without anything',
      'mcpServers:\n  a:\n',
      'codemode.config.yaml:2:5: mcpServers.a: expected a map, found null',
    ],
  ];
  test.each(cases)('%s', async (_name, text, message) => {
    const { disabledServers, upstreams, warnings } = await load(text);
    const [disabled] = disabledServers;
    expect(disabled?.mistakes[0]?.replaceAll(`${folder}/`, '')).toBe(message);
    expect(upstreams.map(({ id }) => id)).not.toContain(disabled?.id);
    const [, place, rest] = /^(\S+): (.*)$/.exec(message) ?? [];
    expect(warnings.map((warning) => warning.replaceAll(`${folder}/`, ''))).toContainEqual(
      expect.stringContaining(`${place}: server ${JSON.stringify(disabled?.id)} is disabled: ${rest}`),
    );
  });

  test('the others stay, and the name of the broken one stays taken', async () => {
    const text = 'mcpServers:\n  good: { command: x }\n  bad: { command: x, lables: [private] }\n';
    const { config, upstreams, disabledServers } = await load(text);
    expect(upstreams.map(({ id }) => id)).toEqual(['good']);
    expect(disabledServers.map(({ id }) => id)).toEqual(['bad']);
    expect(config.mcpServers.bad).toMatchObject({ enabled: false });
    expect(config.mcpServers.bad?.command).toBeUndefined();
  });

  test('two servers of one name are both disabled: nobody knows which one is meant', async () => {
    const { upstreams } = await load('mcpServers: [{ name: a, command: x }, { name: a, command: y }]');
    expect(upstreams).toEqual([]);
  });

  test('a mistake in a server that is switched off is nobody’s business', async () => {
    const { disabledServers, warnings, upstreams } = await load(
      'mcpServers:\n  a: { command: "${NO_SUCH_VARIABLE}", disabled: true }\n  b: { comand: x, enabled: false }\n',
    );
    expect({ disabledServers, warnings, upstreams }).toEqual({ disabledServers: [], warnings: [], upstreams: [] });
  });

  test('a mistake outside of any server still stops everything', async () => {
    const text = 'mcpServers: { a: { comand: x } }\npolicy: { preest: strict }\n';
    expect(await mistake(text)).toContain('policy.preest: unknown key; did you mean preset?');
    expect(await mistake('mcpServers: all\n')).toContain('mcpServers: expected servers');
    expect(await mistake('telemetry: { traces: { endpoint: "${NO_SUCH_VARIABLE}" } }')).toContain(
      'the environment variable NO_SUCH_VARIABLE is not set',
    );
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
    expect.stringContaining('mcpServers[2].quarantined is set, so the server stays switched off'),
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
