import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { JsonValue } from '../../domain/json.js';
import { findConfigFile } from '../files/find-file.js';
import { type LoadRequest, loadConfig } from '../load.js';
import { configSchema } from '../schema/schema.js';
import type { TrustReview } from './trust.js';
import { isHarmless, powersOf } from './trust-review.js';

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'codemode-trust-'));
  file = join(folder, 'codemode.config.yaml');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const request = (more: Partial<LoadRequest> = {}): LoadRequest => ({
  cwd: folder,
  environment: { HOME: join(folder, 'home'), CODEMODE_HOME: join(folder, 'state') },
  ...more,
});

const SERVER = 'mcpServers: { a: { command: good } }\n';

describe('what needs trust', () => {
  test('every top-level key but a few, also keys that do not exist', () => {
    const keys = [...Object.keys(configSchema.shape), 'mcp', 'servers', 'listen', 'keyOfTomorrow'];
    const harmless = keys.filter((key) => isHarmless({ [key]: 'x' }) || isHarmless({ [key]: { x: 1 } }));
    expect(harmless).toEqual(['$schema', 'toolName']);
  });

  test.each<[string, JsonValue, boolean]>([
    ['an empty file', {}, true],
    ['a profile with an engine in between', { profile: 'unified' }, true],
    ['a profile that runs native code', { profile: 'runner' }, false],
    ['a level of logs', { logging: { level: 'debug' } }, true],
    [
      'a file that logs are written to',
      { logging: { level: 'debug', outputs: [{ type: 'file', path: '/x' }] } },
      false,
    ],
    ['no servers', { mcpServers: {} }, true],
    ['a server that is switched off', { mcpServers: { a: { command: 'x', disabled: true } } }, false],
    ['an address', { mcpServers: { a: { url: 'https://x' } } }, false],
    ['a variable in a name that agents read', { toolName: '${GITHUB_TOKEN}' }, false],
    ['a variable with a default', { toolName: '${GITHUB_TOKEN:-run}' }, false],
    ['a key of two words that looks like a path', { 'catalog.ttl': 1 }, false],
    ['a deeper key', { catalog: { ttl: { x: 1 } } }, false],
    ['where traces go', { telemetry: { traces: { endpoint: 'https://x' } } }, false],
    ['the interpreter of programs', { runner: { node: './x' } }, false],
    ['a list', [{ command: 'x' }], false],
  ])('%s', (_name, value, expected) => {
    expect(isHarmless(value)).toBe(expected);
  });

  test('what is shown has commands, addresses, and the values of variables and headers as written', () => {
    const powers = powersOf({
      profile: 'codemode',
      mcpServers: {
        a: { command: 'x', args: ['-c', '${A}'], env: { KEY: 'v1' }, inheritEnv: ['B'], trusted: true },
        b: { url: 'https://b/', headers: { 'X-Key': 'v2' }, auth: { type: 'bearer', token: 'v3' } },
        c: { openapi: './api.yaml', baseUrl: 'https://c/' },
        d: 'nonsense',
      },
      policy: { preset: 'open' },
    });
    expect(powers).toEqual({
      commands: [
        {
          server: 'a',
          words: ['x', '-c', '${A}'],
          environment: ['KEY', 'B'],
          values: [{ name: 'KEY', value: 'v1', loadsCode: false }],
        },
      ],
      addresses: [
        {
          server: 'b',
          url: 'https://b/',
          sends: ['X-Key', 'auth bearer'],
          values: [
            { name: 'X-Key', value: 'v2' },
            { name: 'auth.token', value: 'v3' },
          ],
        },
        { server: 'c', url: './api.yaml', sends: [], values: [] },
        { server: 'c', url: 'https://c/', sends: [], values: [] },
      ],
      settings: [
        { key: 'policy.preset', value: '"open"' },
        { key: 'mcpServers.a.trusted', value: 'true' },
      ],
      variables: ['A'],
    });
  });

  test('commands and addresses of hooks are listed as such, not as settings', () => {
    const hooks = [
      { tools: 'a/*', command: './check.sh', args: ['--strict'], onFailure: 'allow' },
      { url: 'https://h/', headers: { Authorization: 'v' } },
    ];
    expect(powersOf({ hooks })).toEqual({
      commands: [{ server: 'hooks[0]', words: ['./check.sh', '--strict'], environment: [], values: [] }],
      addresses: [
        {
          server: 'hooks[1]',
          url: 'https://h/',
          sends: ['Authorization'],
          values: [{ name: 'Authorization', value: 'v' }],
        },
      ],
      settings: [{ key: 'hooks', value: '[{"tools":"a/*","onFailure":"allow"},{}]' }],
      variables: [],
    });
    expect(powersOf({ hooks: 'nonsense' }).settings).toEqual([{ key: 'hooks', value: '"nonsense"' }]);
  });
});

describe('the decision', () => {
  test('a file that is swapped while the question is open is not the one that is used', async () => {
    await writeFile(file, SERVER);
    const confirmTrust = async () => {
      await writeFile(file, 'mcpServers: { a: { command: evil } }\n');
      return true;
    };
    const { upstreams } = await loadConfig(request({ confirmTrust }));
    expect(upstreams[0]?.target).toMatchObject({ command: 'good' });
    await expect(loadConfig(request())).rejects.toMatchObject({
      code: 'untrusted_config',
      message: expect.stringContaining('has changed since you trusted it'),
    });
  });

  test('a no is remembered nowhere', async () => {
    await writeFile(file, SERVER);
    const asked: TrustReview[] = [];
    const confirmTrust = async (review: TrustReview) => {
      asked.push(review);
      return false;
    };
    for (let round = 0; round < 2; round++)
      await expect(loadConfig(request({ confirmTrust }))).rejects.toMatchObject({ code: 'untrusted_config' });
    expect(asked.map(({ state }) => state)).toEqual(['new', 'new']);
  });

  test('a file that is named, and settings of a program, are not asked about', async () => {
    await writeFile(file, SERVER);
    expect((await loadConfig(request({ configFile: file }))).upstreams).toHaveLength(1);
    const environment = { ...request().environment, CODEMODE_CONFIG: file };
    expect((await loadConfig(request({ environment }))).upstreams).toHaveLength(1);
    expect((await loadConfig(request({ inline: { mcpServers: { a: { command: 'x' } } } }))).upstreams).toHaveLength(1);
  });

  test('a home folder that is not an absolute path makes no file of the current folder the user’s', async () => {
    await mkdir(join(folder, '.config', 'codemode'), { recursive: true });
    await writeFile(join(folder, '.config', 'codemode', 'config.yaml'), SERVER);
    for (const HOME of ['', '.', undefined]) {
      const { searched } = await findConfigFile({ cwd: folder, environment: { HOME } });
      expect(searched.every(({ place }) => place.startsWith('/') || !place.includes('config.{'))).toBe(true);
    }
  });
});
