import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { type Home, openHome, runProgram, startServe } from '../../support/program.js';
import { fixture } from '../../support/upstreams.js';

const EXAMPLE = readFileSync(fixture('unified-config.yaml'), 'utf8');

interface Explained {
  readonly values: { readonly key: string; readonly value: string; readonly layer: string; readonly place: string }[];
}

/** A project folder with this configuration, where the commands of the example can be found. */
function openProject(text: string): Home {
  const home = openHome({});
  const configFile = join(home.work, 'codemode.config.yaml');
  writeFileSync(configFile, text);
  const bin = join(home.work, 'bin');
  const servers = join(home.work, 'servers');
  for (const folder of [bin, servers]) mkdirSync(folder);
  writeFileSync(join(servers, 'filesystem.js'), `import(${JSON.stringify(fixture('everyday-server.mjs'))});\n`);
  writeFileSync(join(bin, 'npx'), `#!/bin/sh\nexec "${process.execPath}" "${fixture('everyday-server.mjs')}"\n`);
  chmodSync(join(bin, 'npx'), 0o755);
  const environment = {
    ...home.environment,
    PATH: `${bin}:${dirname(process.execPath)}:${home.environment.PATH}`,
    HELPSCOUT_CLIENT_ID: 'client-1',
    HELPSCOUT_CLIENT_SECRET: 'geheim-geheim',
  };
  return { ...home, configFile, environment };
}

test('every value of the example is understood, with its layer and its line [C12]', async () => {
  using home = openProject(EXAMPLE);
  const { stdout } = await runProgram(home, 'config', 'explain', '--json', '--isolation', 'namespaces');
  const { values } = JSON.parse(stdout) as Explained;
  const at = (line: number, column: number) => `${home.configFile}:${line}:${column}`;
  const shown = (key: string) => {
    const { value, layer, place } = values.find((each) => each.key === key) ?? {};
    return [value, layer, place];
  };
  expect(shown('server.port')).toEqual(['3000', 'file', at(3, 3)]);
  expect(shown('server.cors.origins')).toEqual(['["http://localhost:3000"]', 'file', at(7, 5)]);
  expect(shown('sandbox.workers.idleTimeout')).toEqual(['30000', 'file', at(13, 5)]);
  expect(shown('sandbox.limits.memory')).toEqual(['134217728', 'file', at(15, 5)]);
  expect(shown('sandbox.limits.timeout')).toEqual(['30000', 'file', at(16, 5)]);
  expect(shown('sandbox.limits.cpuQuota')).toEqual(['0.5', 'file', at(17, 5)]);
  expect(shown('security.auth.issuer')).toEqual(['"https://auth.company.com"', 'file', at(21, 5)]);
  expect(shown('security.capabilities.network.allowedHosts')).toEqual(['["api.helpscout.net"]', 'file', at(26, 7)]);
  expect(shown('security.capabilities.mcp.maxCallsPerSecond')).toEqual(['5', 'file', at(28, 7)]);
  expect(shown('mcpServers.helpscout.args')).toEqual(['["help-scout-mcp-server"]', 'file', at(35, 7)]);
  expect(shown('mcpServers.helpscout.environment.HELPSCOUT_CLIENT_ID')).toEqual(['"***"', 'file', at(37, 9)]);
  expect(shown('logging.format')).toEqual(['"json"', 'file', at(45, 3)]);
  expect(shown('sandbox.isolation')).toEqual(['"namespaces"', 'flag', '--isolation']);
  expect(shown('sandbox.retryOnTimeout')).toEqual(['false', 'default', '']);
  expect(stdout).not.toMatch(/client-1|geheim/);
});

test('a host that is started with the example does what it says [C12, C14]', async () => {
  using home = openProject(EXAMPLE);
  await using server = await startServe(home, '--host', '127.0.0.1');
  expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:/);
  const preflight = (origin: string) =>
    fetch(`${server.url}/api/v1/tools`, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'GET' },
    });
  expect((await preflight('http://localhost:3000')).headers.get('access-control-allow-origin')).toBe(
    'http://localhost:3000',
  );
  expect((await preflight('http://localhost:3001')).status).toBe(403);
  const state = { authorization: `Bearer ${server.token}` };
  expect((await fetch(`${server.url}/api/v1/tools`, { headers: state })).status).toBe(401);
  const [log] = readdirSync(join(home.work, 'logs'));
  const [first = ''] = readFileSync(join(home.work, 'logs', log ?? ''), 'utf8').split('\n');
  expect(JSON.parse(first)).toMatchObject({ level: expect.anything() });
  const { stdout } = await runProgram(home, 'servers', '--json');
  expect((JSON.parse(stdout) as { servers?: object[] }).servers ?? JSON.parse(stdout)).toMatchObject([
    { id: 'helpscout' },
    { id: 'filesystem' },
  ]);
});

/** What is written wrong, and the place and the words by which that is told. */
const MISTAKES: readonly (readonly [right: string, wrong: string, told: string])[] = [
  ['port: 3000', 'port: 70000', ':3:9: server.port: expected a whole number from 0 to 65535, found 70000'],
  ['enabled: true', 'enabled: maybe', ':6:14: server.cors.enabled: expected true or false, found "maybe"'],
  ['runtime: "quickjs"', 'runtime: "v8"', ':9:12: sandbox.runtime: expected quickjs, found "v8"'],
  [
    'idleTimeout: "30s"',
    'idleTimeout: "soon"',
    ':13:18: sandbox.workers.idleTimeout: expected a duration such as 30s, 500ms or 2m, found "soon"',
  ],
  [
    'memory: "128MB"',
    'memory: "128 lots"',
    ':15:13: sandbox.limits.memory: expected a size such as 128MB or 64KB, found "128 lots"',
  ],
  ['cpuQuota: 0.5', 'cpuQuota: 2', ':17:15: sandbox.limits.cpuQuota: expected at most 1, found 2'],
  [
    'maxCallsPerSecond: 5',
    'maxCallsPerSecond: 0',
    ':28:26: security.capabilities.mcp.maxCallsPerSecond: expected a whole number from 1 to 1000000, found 0',
  ],
  ['command: "npx"', 'comand: "npx"', ':34:7: mcp.servers.helpscout.comand: unknown key; did you mean command?'],
  ['rotation: "daily"', 'rotation: "weekly"', ':50:17: logging.outputs[1].rotation: expected one of hourly, daily'],
];

test('every mistake gets file, line, key and what was expected, up to ten at once [C12]', async () => {
  using home = openProject(MISTAKES.reduce((text, [right, wrong]) => text.replace(right, wrong), EXAMPLE));
  const { status, stderr } = await runProgram(home, 'serve');
  expect(status).toBe(2);
  for (const [, , told] of MISTAKES) expect(stderr).toContain(`${home.configFile}${told}`);
});

test('a variable that is not set is named with the key that needs it [C12]', async () => {
  using home = openProject(EXAMPLE.replace('"${HELPSCOUT_CLIENT_ID}"', '"${HELPSCOUT_ID}"'));
  const { status, stderr } = await runProgram(home, 'config', 'explain');
  expect([status, stderr]).toEqual([0, expect.stringContaining(`${home.configFile}:37:`)]);
  expect(stderr).toMatch(
    /server "helpscout" is disabled: .*helpscout.environment.HELPSCOUT_CLIENT_ID: .*HELPSCOUT_ID is not set/,
  );
});
