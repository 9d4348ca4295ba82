import { describe, expect, test } from 'vitest';
import { SecretReferences } from './secret-references.js';

const replace = (server: Parameters<SecretReferences['replace']>[0], environment = {}) =>
  new SecretReferences(environment).replace(server, 'my-server');

describe('values that look like secrets become references', () => {
  test.each([
    ['env', { env: { GITHUB_TOKEN: 'abc', MODE: 'dev' } }, { env: { GITHUB_TOKEN: '${GITHUB_TOKEN}', MODE: 'dev' } }],
    ['a short name', { env: { TOKEN: 'abc' } }, { env: { TOKEN: '${MY_SERVER_TOKEN}' } }],
    [
      'no telling name',
      { env: { SENTRY: '9f86d081884c7d659a2feaa0c55ad015' } },
      { env: { SENTRY: '${MY_SERVER_SENTRY}' } },
    ],
    [
      'a connection string',
      { env: { DATABASE_URL: 'postgres://me:pw@host/db' } },
      { env: { DATABASE_URL: '${DATABASE_URL}' } },
    ],
    [
      'a header',
      { headers: { Authorization: 'Bearer abc', 'X-Api-Key': 'k', Accept: 'text/plain' } },
      {
        headers: {
          Authorization: 'Bearer ${MY_SERVER_TOKEN}',
          'X-Api-Key': '${MY_SERVER_X_API_KEY}',
          Accept: 'text/plain',
        },
      },
    ],
    [
      'arguments',
      {
        args: [
          '-y',
          'pkg',
          '--api-key',
          'abc',
          '--token=t',
          '-e',
          'GH_TOKEN=x',
          '--port',
          '3000',
          'sk-a8f9k2m4b7d1e6c3h5j0',
        ],
      },
      {
        args: [
          '-y',
          'pkg',
          '--api-key',
          '${MY_SERVER_API_KEY}',
          '--token=${MY_SERVER_TOKEN}',
          '-e',
          'GH_TOKEN=${GH_TOKEN}',
          '--port',
          '3000',
          '${MY_SERVER_TOKEN_2}',
        ],
      },
    ],
    [
      'a header among arguments',
      { args: ['mcp-remote', 'https://h/mcp', '--header', 'Authorization: Bearer abc'] },
      { args: ['mcp-remote', 'https://h/mcp', '--header', 'Authorization: Bearer ${MY_SERVER_TOKEN}'] },
    ],
    [
      'a script',
      { args: ['-c', 'export GH_TOKEN=abc; npx -y pkg --verbose --api-key abc --port 3000 | tee /tmp/log'] },
      {
        args: [
          '-c',
          'export GH_TOKEN=${GH_TOKEN}; npx -y pkg --verbose --api-key ${MY_SERVER_API_KEY} --port 3000 | tee /tmp/log',
        ],
      },
    ],
    ['an address', { url: 'https://h/mcp?api_key=abcdefgh1' }, { url: 'https://h/mcp?api_key=${MY_SERVER_TOKEN}' }],
  ])('in %s', (_where, server, expected) => {
    expect(replace(server).server).toEqual(expected);
  });

  test('paths, switches, ports and references stay as they are', () => {
    const server = {
      command: 'npx',
      args: ['-y', '@scope/server-github@1.2.3', '/home/me/notes', '--auth', 'none'],
      env: {
        KUBECONFIG: '/home/me/.kube/config',
        KEY_FILE: '/etc/key',
        USE_TOKEN: 'true',
        API_KEY: '${API_KEY}',
        PORT: '3000',
      },
    };
    expect(replace(server)).toEqual({ server, references: [] });
  });

  test("a variable with another value gets the server's name as a prefix", () => {
    const references = new SecretReferences({ GH_TOKEN: 'other' });
    expect(references.replace({ env: { GH_TOKEN: 'mine' } }, 'a').references).toEqual([
      { variable: 'A_GH_TOKEN', value: 'mine' },
    ]);
    expect(references.replace({ env: { API_KEY: 'one' } }, 'a').server).toEqual({ env: { API_KEY: '${API_KEY}' } });
    expect(references.replace({ env: { API_KEY: 'one' } }, 'b').server).toEqual({ env: { API_KEY: '${API_KEY}' } });
    expect(references.replace({ env: { API_KEY: 'two' } }, 'c').server).toEqual({ env: { API_KEY: '${C_API_KEY}' } });
  });
});
