import { expect, test } from 'vitest';
import { loadConfig } from '../load.js';

const load = (entry: object) =>
  loadConfig({ inline: { mcpServers: { a: entry } }, cwd: '/work', environment: { KEY: 'k' } });

test.each<[object, string]>([
  [{ openapi: './x.yaml', url: 'https://x' }, 'mcpServers.a.url: expected either openapi or url, not both'],
  [{ openapi: './x.yaml', type: 'http' }, 'mcpServers.a.type: expected either openapi or type, not both'],
  [{ openapi: 'ftp://x' }, 'mcpServers.a.openapi: expected a file, or an address that starts with http:// or https://'],
  [{ url: 'https://x', baseUrl: 'https://y' }, 'mcpServers.a.baseUrl: expected openapi, which baseUrl needs'],
  [{ openapi: 'https://x', baseUrl: 'https://u:p@y' }, 'mcpServers.a.baseUrl: expected an address'],
  [{ openapi: 'https://x', baseUrl: 'https://y/?a=1' }, 'mcpServers.a.baseUrl: expected an address'],
  [
    { openapi: './x.yaml', auth: { type: 'bearer', token: 't' } },
    'mcpServers.a: expected baseUrl, because headers and auth',
  ],
  [{ openapi: './x.yaml', headers: { a: 'b' } }, 'mcpServers.a: expected baseUrl, because headers and auth'],
  [
    { openapi: 'https://x', auth: { type: 'oauth2' } },
    'mcpServers.a.auth.type: expected bearer, basic, apiKey or none',
  ],
  [
    { url: 'https://x', auth: { type: 'basic', username: 'u', password: 'p' } },
    'mcpServers.a.auth.type: expected bearer, oauth2 or none',
  ],
  [
    { openapi: 'https://x', auth: { type: 'apiKey', key: 'k', in: 'header' } },
    'mcpServers.a.auth: expected in and name together',
  ],
  [{ openapi: 'https://x', auth: { type: 'magic' } }, 'mcpServers.a.auth.type: expected one of'],
])('%j is a mistake with its key [C9]', async (entry, message) => {
  const { disabledServers, upstreams } = await load(entry);
  expect(disabledServers.map(({ id, mistakes }) => [id, mistakes.join()])).toEqual([
    ['a', expect.stringContaining(`config: ${message}`)],
  ]);
  expect(upstreams).toEqual([]);
});

test('a file counts from where the settings are, and credentials come from the environment [C7]', async () => {
  const { upstreams } = await load({
    openapi: './x.yaml',
    baseUrl: 'https://y/v1',
    auth: { type: 'apiKey', key: '${KEY}', in: 'query', name: 'key' },
    timeout: '5s',
  });
  expect(upstreams[0]).toMatchObject({
    callTimeoutMs: 5_000,
    target: {
      kind: 'openapi',
      document: '/work/x.yaml',
      baseUrl: 'https://y/v1',
      headers: {},
      auth: { type: 'apiKey', key: 'k', in: 'query', name: 'key' },
    },
  });
});
