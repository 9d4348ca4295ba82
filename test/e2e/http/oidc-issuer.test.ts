import { createServer } from 'node:http';
import { type AddressInfo, createServer as createSocketServer } from 'node:net';
import { Client, ClientCredentialsProvider, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { everyday, type Home, openHome, startServe } from '../../support/program.js';

/** An authorization server as people run it (oidc-provider), and clients that find it by what `serve` says of itself. */

const SECRET = 'the-secret-of-the-robot-0123456789';
let issuer: Awaited<ReturnType<typeof openProvider>>;
let home: Home;
let server: Awaited<ReturnType<typeof startServe>>;

beforeAll(async () => {
  issuer = await openProvider();
  const port = await freePort();
  const audience = `http://127.0.0.1:${port}/mcp`;
  home = openHome({
    mcpServers: { everyday: everyday() },
    security: { auth: { provider: 'oauth2', issuer: issuer.origin, audience } },
  });
  server = await startServe(home, '--port', String(port));
}, 60_000);
afterAll(async () => {
  await server?.stop();
  home?.[Symbol.dispose]();
  issuer?.close();
});

async function freePort(): Promise<number> {
  const socket = createSocketServer();
  await new Promise<void>((resolve) => socket.listen(0, '127.0.0.1', resolve));
  const { port } = socket.address() as AddressInfo;
  await new Promise((resolve) => socket.close(resolve));
  return port;
}

/** Access tokens are JWTs for the resource that they are asked for. */
async function openProvider() {
  const listener = createServer();
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
  const name: string = 'oidc-provider'; // it comes without types
  const { Provider } = (await import(name)) as {
    Provider: new (issuer: string, configuration: object) => { callback(): Parameters<typeof listener.on>[1] };
  };
  const { warn, info } = console;
  // It says what suits production.
  Object.assign(console, { warn: () => {}, info: () => {} });
  const client = { redirect_uris: [], response_types: [], grant_types: ['client_credentials'], client_secret: SECRET };
  const provider = new Provider(origin, {
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => undefined,
        getResourceServerInfo: (_: unknown, audience: string) => ({
          scope: 'execute read',
          audience,
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
    scopes: ['execute', 'read'],
    clients: [
      { ...client, client_id: 'robot', scope: 'execute read' },
      { ...client, client_id: 'reader', scope: 'read' },
    ],
    ttl: { ClientCredentials: 600 },
    cookies: { keys: ['for the test only'] },
  });
  Object.assign(console, { warn, info });
  listener.on('request', provider.callback());
  return { origin, close: () => listener.close() };
}

async function connect(clientId: string, scope: string) {
  const client = new Client({ name: 'test', version: '0' });
  const authProvider = new ClientCredentialsProvider({
    clientId,
    clientSecret: SECRET,
    scope,
    expectedIssuer: issuer.origin,
  });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { authProvider }));
  return { client, [Symbol.asyncDispose]: () => client.close() };
}

async function tokenFor(resource: string): Promise<string> {
  const body = new URLSearchParams({ grant_type: 'client_credentials', scope: 'execute', resource });
  const authorization = `Basic ${Buffer.from(`robot:${SECRET}`).toString('base64')}`;
  const answer = await fetch(`${issuer.origin}/token`, { method: 'POST', headers: { authorization }, body });
  return ((await answer.json()) as { access_token: string }).access_token;
}

test('a client finds the issuer by itself, gets a token from it and runs a program [B20]', async () => {
  await using connected = await connect('robot', 'execute');
  const { structuredContent } = await connected.client.callTool({
    name: 'codemode_run',
    arguments: {
      code: `import { echo } from '@codemode/servers/everyday'; globalThis.__codemode_result__ = await echo({ message: 'in' });`,
    },
  });
  expect(structuredContent).toMatchObject({ result: 'in' });
});

test('a token of that issuer for another resource is refused, and one for this is taken [B20]', async () => {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '0' } };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
  const statusOf = async (resource: string) => {
    const accept = 'application/json, text/event-stream';
    const headers = {
      accept,
      'content-type': 'application/json',
      authorization: `Bearer ${await tokenFor(resource)}`,
    };
    const answer = await fetch(`${server.url}/mcp`, { method: 'POST', headers, body });
    await answer.body?.cancel();
    return answer.status;
  };
  expect(await statusOf('https://elsewhere.example/mcp')).toBe(401);
  expect(await statusOf(`${server.url}/mcp`)).toBe(200);
});

test('a token without the scope to execute lets nobody in over MCP [B20]', async () => {
  await expect(connect('reader', 'read')).rejects.toThrow();
});
