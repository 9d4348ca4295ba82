import { afterAll, beforeAll, expect, test } from 'vitest';
import { openIssuer } from '../../support/issuer.js';
import { openHome, startServe } from '../../support/program.js';

let issuer: Awaited<ReturnType<typeof openIssuer>>;
beforeAll(async () => {
  issuer = await openIssuer();
});
afterAll(() => issuer.close());

async function serving(auth: object) {
  const home = openHome({ mcpServers: {}, security: { auth } });
  const server = await startServe(home);
  return {
    url: server.url,
    [Symbol.asyncDispose]: async () => {
      await server.stop();
      home[Symbol.dispose]();
    },
  };
}

/** Where a request without a token is sent to find out where to get one. */
async function challenge(url: string): Promise<string> {
  const { status, headers } = await fetch(`${url}/mcp`, { method: 'POST', body: '{}' });
  expect(status).toBe(401);
  return headers.get('www-authenticate') ?? '';
}

test('serve publishes the issuer of its tokens where MCP clients look for it [B20]', async () => {
  await using server = await serving(issuer.settings);
  const [, address = ''] = /resource_metadata="([^"]+)"/.exec(await challenge(server.url)) ?? [];
  expect(address).toBe(`${server.url}/.well-known/oauth-protected-resource/mcp`);
  for (const each of [address, `${server.url}/.well-known/oauth-protected-resource`])
    expect(await (await fetch(each)).json()).toMatchObject({
      resource: `${server.url}/mcp`,
      authorization_servers: [issuer.settings.issuer],
      scopes_supported: expect.arrayContaining(['execute']),
      bearer_methods_supported: ['header'],
    });
  const elsewhere = await fetch(address, { headers: { origin: 'https://evil.example' } });
  expect(elsewhere.status).toBe(403);
});

test('behind a proxy it is the address that tokens are made out to [B20]', async () => {
  const audience = 'https://codemode.example/tools/mcp';
  await using server = await serving({ ...issuer.settings, audience });
  expect(await challenge(server.url)).toContain(
    'resource_metadata="https://codemode.example/.well-known/oauth-protected-resource/mcp"',
  );
  const document = await fetch(`${server.url}/.well-known/oauth-protected-resource`);
  expect(await document.json()).toMatchObject({ resource: audience });
});

test('serve with its own tokens publishes no issuer', async () => {
  await using server = await serving({});
  expect(await challenge(server.url)).not.toContain('resource_metadata');
  expect((await fetch(`${server.url}/.well-known/oauth-protected-resource`)).status).toBe(401);
});
