import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { Vault } from '../../src/broker/credentials/vault.js';
import { masterKey } from '../../src/store/master-key.js';
import { SqliteCredentialStore } from '../../src/store/sqlite/credentials.js';
import { Database } from '../../src/store/sqlite/database.js';

/*
 * An authorization server (oidc-provider, as people run it), an MCP server that takes its tokens and nothing else, and a
 * person's browser, all on loopback.
 */

interface StoredToken {
  readonly scope?: string;
  readonly aud?: string | string[];
  readonly isExpired: boolean;
  readonly clientId?: string;
}

interface OidcProvider {
  callback(): RequestListener;
  readonly AccessToken: { find(value: string): Promise<StoredToken | undefined> };
  readonly ClientCredentials: { find(value: string): Promise<StoredToken | undefined> };
  on(event: string, listener: (...words: unknown[]) => void): void;
}

export interface WorldOptions {
  readonly accessTokenSeconds?: number;
  /** Looks at a request to the authorization server first; true where it has answered it. */
  readonly intercept?: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** What a request to the authorization server waits for. */
  readonly delay?: (request: IncomingMessage) => Promise<void>;
  /** What the protected resource metadata says, in place of the truth. */
  readonly resourceMetadata?: (truth: { readonly issuer: string; readonly url: string }) => object;
  readonly hasRegistration?: boolean;
}

export type World = Awaited<ReturnType<typeof startWorld>>;

export const ROBOT = { clientId: 'robot', clientSecret: 'the-secret-of-the-robot-0123456789' } as const;
export const BY_HAND = { clientId: 'made-by-hand' } as const;

const SCOPES = 'notes:read notes:write';

export async function startWorld(options: WorldOptions = {}) {
  const authorization = await listen();
  const resource = await listen();
  const issuer = authorization.origin;
  const url = `${resource.origin}/mcp`;
  const provider = await createProvider(issuer, options);
  const counts = { refreshed: 0, revoked: 0, registered: 0, called: 0 };
  const state = { isDown: false, seenTokens: new Set<string>() };
  provider.on('grant.success', (context) => {
    const { body } = (context as { oidc: { body: { grant_type: string } } }).oidc;
    if (body.grant_type === 'refresh_token') counts.refreshed += 1;
  });
  provider.on('registration_create.success', () => {
    counts.registered += 1;
  });

  const callback = provider.callback();
  authorization.server.on('request', async (request, response) => {
    await options.delay?.(request);
    if (state.isDown) return void request.socket.destroy();
    if (request.url === '/token/revocation') counts.revoked += 1;
    if (options.intercept?.(request, response) !== true) callback(request, response);
  });

  const handle = toNodeHandler(createMcpHandler(createNotesServer));
  const metadata =
    options.resourceMetadata ??
    (() => ({ resource: url, authorization_servers: [issuer], scopes_supported: ['notes:read'] }));
  resource.server.on('request', async (request, response) => {
    if (request.url?.startsWith('/.well-known/oauth-protected-resource/mcp'))
      return void json(response, 200, metadata({ issuer, url }));
    if (request.url !== '/mcp') return void response.writeHead(404).end();
    const token = request.headers.authorization?.replace(/^Bearer /, '');
    if (token !== undefined) state.seenTokens.add(token);
    const found =
      token === undefined
        ? undefined
        : ((await provider.AccessToken.find(token)) ?? (await provider.ClientCredentials.find(token)));
    const where = `resource_metadata="${resource.origin}/.well-known/oauth-protected-resource/mcp"`;
    if (found === undefined || found.isExpired || ![found.aud].flat().includes(url)) {
      response.setHeader('www-authenticate', `Bearer error="invalid_token", ${where}`);
      return void json(response, 401, {});
    }
    const body = await bodyOf(request);
    const isWrite = /"name":"write_note"/.test(body);
    if (isWrite && !(found.scope ?? '').split(' ').includes('notes:write')) {
      response.setHeader('www-authenticate', `Bearer error="insufficient_scope", scope="notes:write", ${where}`);
      return void json(response, 403, {});
    }
    if (/"tools\/call"/.test(body)) counts.called += 1;
    await handle(request as Parameters<typeof handle>[0], response, body === '' ? undefined : JSON.parse(body));
  });

  return {
    issuer,
    url,
    counts,
    state,
    [Symbol.asyncDispose]: async () => {
      for (const { server } of [authorization, resource]) {
        server.closeAllConnections();
        server.close();
        await once(server, 'close');
      }
    },
  };
}

function createNotesServer(): McpServer {
  const server = new McpServer({ name: 'notes', version: '1' });
  const say = (text: string) => ({ content: [{ type: 'text' as const, text }] });
  server.registerTool('read_note', { description: 'Reads the note.' }, async () => say('milk and honey'));
  server.registerTool(
    'write_note',
    { description: 'Writes the note.', inputSchema: z.object({ text: z.string() }) },
    async () => say('written'),
  );
  return server;
}

async function createProvider(
  issuer: string,
  { accessTokenSeconds = 600, hasRegistration = true }: WorldOptions,
): Promise<OidcProvider> {
  const name: string = 'oidc-provider'; // it comes without types
  const { Provider } = (await import(name)) as {
    Provider: new (issuer: string, configuration: object) => OidcProvider;
  };
  const warn = console.warn;
  const info = console.info;
  console.warn = () => {};
  console.info = () => {};
  try {
    return new Provider(issuer, {
      features: {
        devInteractions: { enabled: true },
        registration: { enabled: hasRegistration },
        revocation: { enabled: true },
        clientCredentials: { enabled: true },
        resourceIndicators: {
          enabled: true,
          defaultResource: () => undefined,
          useGrantedResource: () => true,
          getResourceServerInfo: (_: unknown, audience: string) => ({
            scope: SCOPES,
            audience,
            accessTokenTTL: accessTokenSeconds,
            accessTokenFormat: 'opaque',
          }),
        },
      },
      pkce: { required: () => true },
      scopes: ['openid', 'offline_access', ...SCOPES.split(' ')],
      clients: [
        {
          client_id: ROBOT.clientId,
          client_secret: ROBOT.clientSecret,
          grant_types: ['client_credentials'],
          redirect_uris: [],
          response_types: [],
          scope: SCOPES,
        },
        {
          client_id: BY_HAND.clientId,
          application_type: 'native',
          token_endpoint_auth_method: 'none',
          redirect_uris: ['http://127.0.0.1/callback'],
          grant_types: ['authorization_code', 'refresh_token'],
        },
      ],
      ttl: {
        AccessToken: accessTokenSeconds,
        Interaction: 600,
        Session: 600,
        Grant: 600,
        RefreshToken: 600,
        IdToken: 60,
        AuthorizationCode: 60,
        ClientCredentials: accessTokenSeconds,
      },
      rotateRefreshToken: true,
      issueRefreshToken: async () => true,
      cookies: { keys: ['for the test only'] },
    });
  } finally {
    console.warn = warn;
    console.info = info;
  }
}

/** The credentials of a state folder, as a host has them. */
export function openVault(folder: string): Vault {
  return new Vault(async () => ({
    store: new SqliteCredentialStore(await Database.open(folder)),
    key: await masterKey(folder),
  }));
}

/** A server on a free port of loopback. */
export async function listen(): Promise<{ readonly server: Server; readonly origin: string }> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

export function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

const MAX_PAGES = 20;

/**
 * What a person does with the address: logs in, agrees, and is sent back. Gives the address that the browser is sent
 * back to, and has not opened yet.
 */
export async function agree(address: string): Promise<string> {
  const jar = new Map<string, string>();
  let url = address;
  let init: RequestInit = {};
  for (let page = 0; page < MAX_PAGES; page += 1) {
    if (/^http:\/\/127\.0\.0\.1:\d+\/callback/.test(url)) return url;
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(url, { redirect: 'manual', ...init, headers: { ...(init.headers as object), cookie } });
    for (const each of answer.headers.getSetCookie()) {
      const [name = '', value = ''] = (each.split(';')[0] ?? '').split(/=(.*)/s);
      jar.set(name, value);
    }
    init = {};
    const location = answer.headers.get('location');
    if (location !== null) {
      url = new URL(location, url).href;
      continue;
    }
    const body = await answer.text();
    const prompt = /name="prompt" value="(\w+)"/.exec(body)?.[1];
    const action = /<form[^>]*action="([^"]+)"/.exec(body)?.[1];
    if (prompt === undefined || action === undefined)
      throw new Error(`no form, HTTP ${answer.status}: ${body.slice(0, 300)}`);
    url = new URL(action, url).href;
    init = {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ prompt, login: 'alice', password: 'x' }),
    };
  }
  throw new Error('the login has no end');
}

/** The whole way, and what the browser shows at its end. */
export async function agreeAndReturn(address: string): Promise<string> {
  return (await fetch(await agree(address))).text();
}
