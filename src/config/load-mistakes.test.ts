import { describe, expect, test } from 'vitest';
import { folder, load, mistake, useFolder } from './load.test-support.js';

useFolder();

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
      'an origin without its scheme',
      'server:\n  cors: { origins: ["localhost:3000"] }\n',
      'codemode.config.yaml:2:21: server.cors.origins[0]: expected an origin such as https://app.example.com, with its scheme and without a path, found "localhost:3000"',
    ],
    [
      'a doubled key',
      'profile: go\nprofile: go\n',
      'codemode.config.yaml:2:1: this key appears twice; keep one of them',
    ],
    [
      'broken syntax',
      'a: [1\nb: 2\n',
      'codemode.config.yaml:2:1: not valid YAML: Flow sequence in block collection must be sufficiently indented and end with a ]',
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
      'a server of the other form without command and url',
      'mcp:\n  servers:\n    files: { transport: stdio }\n',
      'codemode.config.yaml:3:12: mcp.servers.files: expected command (a local server), url (a remote one) or openapi (an HTTP API), found a map',
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
