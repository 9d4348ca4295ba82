import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { Account } from '../../src/broker/credentials/account.js';
import { Credentials } from '../../src/broker/credentials/credentials.js';
import { login } from '../../src/broker/credentials/login.js';
import type { UpstreamAuthorizer } from '../../src/domain/authorization.js';
import { Database } from '../../src/store/sqlite/database.js';
import { openBrowser } from '../../src/surfaces/cli/open-browser.js';
import { authorizedFetch } from '../../src/upstream/mcp/http/authorized-fetch.js';
import { createGuardedFetch } from '../../src/upstream/mcp/oauth/guarded-fetch.js';
import { agree, agreeAndReturn, json, listen, openVault, startWorld, type World } from '../support/oauth-world.js';
import { createRegistry, definition } from '../support/upstreams.js';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function stateFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'codemode-oauth-'));
  folders.push(folder);
  return folder;
}

function accountOf(world: Pick<World, 'url'>, more: Partial<Account['settings']> = {}): Account {
  return {
    serverId: 'notes',
    url: world.url,
    settings: { grant: 'authorization_code', allowPrivateAddresses: false, ...more },
    headers: { 'x-api-key': 'the key of the server 12345' },
  };
}

/** A login whose browser does what it is told. `opened` is how often a person was sent somewhere. */
async function attempt(account: Account, browse: (address: string) => Promise<unknown>, folder = stateFolder()) {
  let opened = 0;
  const browsing: Promise<unknown>[] = [];
  const result = await login(account, openVault(folder), {
    timeoutMs: 15_000,
    onAddress: (url) => {
      opened += 1;
      browsing.push(browse(url.href));
    },
  }).then(
    (grant) => ({ grant, message: '' }),
    (error: Error) => ({ grant: undefined, message: error.message }),
  );
  await Promise.all(browsing);
  return { ...result, opened, folder };
}

/** The same authorization server, which says something else about itself. */
function metadataWith(change: (truth: Record<string, unknown>) => object) {
  return (request: IncomingMessage, response: ServerResponse): boolean => {
    if (!/well-known/.test(request.url ?? '')) return false;
    const issuer = `http://${request.headers.host}`;
    const truth = {
      issuer,
      authorization_endpoint: `${issuer}/auth`,
      token_endpoint: `${issuer}/token`,
      registration_endpoint: `${issuer}/reg`,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none'],
    };
    json(response, 200, change(truth));
    return true;
  };
}

/** What a page gets whose own name leads to this machine. */
async function statusAs(name: string, { port, pathname, search }: URL): Promise<number> {
  const asking = request({ host: '127.0.0.1', port, path: pathname + search, headers: { host: `${name}:${port}` } });
  asking.end();
  const [answer] = (await once(asking, 'response')) as [IncomingMessage];
  answer.resume();
  return answer.statusCode ?? 0;
}

test('an answer with another state, a repeated one or one by another host name changes nothing [B20]', async () => {
  await using world = await startWorld();
  const statuses: number[] = [];
  const visit = async (url: URL, init: RequestInit = {}) => {
    const answer = await fetch(url, init);
    statuses.push(answer.status);
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
    return answer.text();
  };
  const { grant, message } = await attempt(accountOf(world), async (address) => {
    const back = new URL(await agree(address));
    const guessed = new URL(back);
    guessed.searchParams.set('state', 'guessed<script>');
    guessed.searchParams.set('code', 'attackers-code');
    expect(await visit(guessed)).not.toContain('guessed');
    const twice = new URL(back);
    twice.searchParams.append('code', 'attackers-code');
    await visit(twice);
    await visit(back, { method: 'POST' });
    await visit(new URL('/elsewhere', back));
    for (const name of ['localhost', 'rebound.example']) statuses.push(await statusAs(name, back));
    const [, replayed] = await Promise.all([visit(back), visit(back)]);
    expect(replayed).toContain('has ended');
  });
  expect([message, statuses.sort()]).toEqual(['', [200, 400, 400, 400, 400, 400, 404, 410]]);
  expect(grant?.tokens?.scope).toBe('notes:read');
});

test.each([
  ['another issuer', 'https://evil.example'],
  ['no issuer, though one was promised', undefined],
])('mix-up: an answer that names %s is not exchanged, and nothing of it is shown [B20]', async (_, iss) => {
  let exchanged = 0;
  const intercept = (request: IncomingMessage): boolean => {
    if (request.url === '/token') exchanged += 1;
    return false;
  };
  await using world = await startWorld({ intercept });
  const { grant, message } = await attempt(accountOf(world), async (address) => {
    const back = new URL(await agree(address));
    back.searchParams.delete('iss');
    if (iss !== undefined) back.searchParams.set('iss', iss);
    expect(await (await fetch(back)).text()).toContain('did not work');
  });
  expect([grant, exchanged]).toEqual([undefined, 0]);
  expect(message).toBe(`the answer does not come from ${world.issuer}, where the login began; nothing was sent`);
});

test.each([
  ['speaks for another issuer', { issuer: 'https://accounts.example' }, /cannot be used/],
  ['sends the browser to a file', { authorization_endpoint: 'file:///etc/passwd' }, /cannot be used|only https/],
  ['sends the browser to a script', { authorization_endpoint: 'javascript:alert(1)' }, /cannot be used|only https/],
  ['sends the browser to plain http elsewhere', { authorization_endpoint: 'http://as.example/auth' }, /only https/],
  ['wants tokens asked for over plain http', { token_endpoint: 'http://as.example/token' }, /only https/],
  ['checks no PKCE', { code_challenge_methods_supported: ['plain'] }, /PKCE/],
  ['says nothing of PKCE', { code_challenge_methods_supported: undefined }, /PKCE/],
  ['is a flood', { padding: 'x'.repeat(1_000_000) }, /longer than 262144 bytes/],
])(
  'metadata of an authorization server that %s is refused before anybody is sent anywhere [B20]',
  async (_, lie, reason) => {
    await using world = await startWorld({ intercept: metadataWith((truth) => ({ ...truth, ...lie })) });
    const { grant, message, opened } = await attempt(accountOf(world), agreeAndReturn);
    expect([grant, opened]).toEqual([undefined, 0]);
    expect(message).toMatch(reason);
  },
);

test('a server cannot get tokens for another resource or name an excluded authorization server [B20]', async () => {
  await using stranger = await startWorld({
    resourceMetadata: ({ issuer }) => ({ resource: 'https://bank.example/mcp', authorization_servers: [issuer] }),
  });
  const other = await attempt(accountOf(stranger), agreeAndReturn);
  expect([other.opened, other.message]).toEqual([0, expect.stringContaining('is for https://bank.example/mcp')]);
  await using world = await startWorld();
  const pinned = await attempt(accountOf(world, { issuer: 'https://accounts.example' }), agreeAndReturn);
  expect([pinned.opened, pinned.message]).toEqual([0, expect.stringContaining('auth.issuer allows only')]);
});

test('a server that names a different authorization server than at login is not followed [B20]', async () => {
  await using evil = await startWorld();
  let issuers: string[] = [];
  await using world = await startWorld({
    resourceMetadata: ({ issuer, url }) => ({
      resource: url,
      authorization_servers: issuers.length > 0 ? issuers : [issuer],
      scopes_supported: ['notes:read'],
    }),
  });
  const first = await attempt(accountOf(world), agreeAndReturn);
  expect(first.message).toBe('');
  issuers = [evil.issuer];
  const second = await attempt(accountOf(world), agreeAndReturn, first.folder);
  expect([second.opened, second.message]).toEqual([0, expect.stringContaining('codemode auth logout notes')]);
});

test('a public server cannot make us request this machine or network by any spelling or redirect [B20]', async () => {
  const { server, origin } = await listen();
  let connections = 0;
  server.on('connection', () => {
    connections += 1;
  });
  server.on('request', (_, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end());
  const { port } = new URL(origin);
  const guarded = createGuardedFetch({ serverUrl: 'https://mcp.example.com/mcp', allowPrivateAddresses: false });
  const addresses = [
    origin,
    `https://127.0.0.1:${port}/`,
    `https://localhost:${port}/`,
    `http://localhost:${port}/`,
    `https://2130706433:${port}/`,
    `https://0x7f.1:${port}/`,
    `https://[::ffff:127.0.0.1]:${port}/`,
    'https://169.254.169.254/latest/meta-data/',
    'https://10.0.0.1/',
    'https://[fd00::1]/',
    `http://mcp.example.com:${port}/`,
    'file:///etc/passwd',
    'https://name:password@8.8.8.8/',
  ];
  for (const address of addresses)
    await expect(guarded.fetch(address), address).rejects.toMatchObject({ code: 'upstream_unavailable' });
  expect(connections).toBe(0);
  await guarded.close();

  // What the user allows is reached, but a redirect to elsewhere is not followed even then.
  const allowed = createGuardedFetch({ serverUrl: 'https://mcp.example.com/mcp', allowPrivateAddresses: true });
  await expect(allowed.fetch(origin)).rejects.toThrow(/redirects to http:\/\/127.0.0.1:1, which is not followed/);
  expect(connections).toBe(1);
  await allowed.close();
  server.close();
});

test('a private server cannot send us to this machine, and no server to link-local addresses [B20]', async () => {
  const { server, origin } = await listen();
  server.on('request', (_, response) => response.end('{}'));
  for (const [serverUrl, address] of [
    ['https://10.1.2.3/mcp', origin],
    ['http://127.0.0.1:9/mcp', 'https://169.254.169.254/'],
  ] as const) {
    const guarded = createGuardedFetch({ serverUrl, allowPrivateAddresses: false });
    await expect(guarded.fetch(address)).rejects.toThrow(/allowPrivateAddresses/);
    await guarded.close();
  }
  const local = createGuardedFetch({ serverUrl: 'http://127.0.0.1:9/mcp', allowPrivateAddresses: false });
  expect((await local.fetch(origin)).status).toBe(200);
  await local.close();
  server.close();
});

test("a code does not follow a token endpoint's redirect, and its text cannot paint the terminal [B20]", async () => {
  const { server, origin } = await listen();
  const stolen: string[] = [];
  server.on('request', (request, response) => {
    stolen.push(request.url ?? '');
    response.end('{}');
  });
  // Elsewhere, and to another place of the same server, where other people's pages may be.
  for (const location of [`${origin}/steal`, '/users/mallory/steal']) {
    await using redirecting = await startWorld({
      intercept: (request, response) => {
        if (request.url === '/users/mallory/steal') stolen.push(request.url);
        if (request.url !== '/token') return false;
        response.writeHead(307, { location }).end();
        return true;
      },
    });
    const away = await attempt(accountOf(redirecting), agreeAndReturn);
    expect([away.grant, stolen]).toEqual([undefined, []]);
    expect(away.message).toContain('which is not followed');
  }
  server.close();

  await using painting = await startWorld({
    intercept: (request, response) => {
      if (request.url !== '/token') return false;
      json(response, 400, {
        error: 'server_error',
        error_description: `\u001b[2J\u202eall is well ${'!'.repeat(5_000)}`,
      });
      return true;
    },
  });
  const { message } = await attempt(accountOf(painting), agreeAndReturn);
  expect(message).toMatch(/server_error: \\u001b\[2J\\u202eall is well !+…$/);
  expect(message.length).toBeLessThan(500);
});

test('the headers that the user sets for a server go to that server only [B17] [B20]', async () => {
  const seen: string[] = [];
  await using world = await startWorld({
    intercept: (request) => {
      seen.push(
        `${request.url} ${request.headers['x-api-key'] ?? 'nothing'} ${request.headers.authorization ?? 'nothing'}`,
      );
      return false;
    },
  });
  expect((await attempt(accountOf(world), agreeAndReturn)).message).toBe('');
  expect(seen.length).toBeGreaterThan(3);
  expect(seen.filter((each) => !each.endsWith(' nothing nothing'))).toEqual([]);
});

test('a token stays with its server: not in redirects, errors, or for another address or name [B17] [B20]', async () => {
  await using world = await startWorld();
  const { folder } = await attempt(accountOf(world), agreeAndReturn);
  const vault = openVault(folder);
  const token = (await vault.read(accountOf(world), 'grant'))?.tokens?.accessToken as string;
  const thief = await listen();
  const stolen: (string | undefined)[] = [];
  thief.server.on('request', (request, response) => {
    stolen.push(request.headers.authorization);
    response.writeHead(400).end(`you said ${request.headers.authorization}`);
  });

  // The server itself, taken over: it sends requests away, then repeats what it was sent.
  const taken = await listen();
  const url = `${taken.origin}/mcp`;
  await vault.locked({ serverId: 'notes', url }, async (session) =>
    session.write('grant', {
      grant: 'authorization_code',
      server: { issuer: world.issuer, tokenEndpoint: `${world.issuer}/token`, clientAuthentication: [] },
      client: { clientId: 'x' },
      resource: url,
      tokens: { accessToken: token, issuedAtMs: Date.now() },
    }),
  );
  let requests = 0;
  taken.server.on('request', (request, response) => {
    requests += 1;
    if (requests === 1) return void response.writeHead(307, { location: `${thief.origin}/mcp` }).end();
    return void response.writeHead(400).end(`you said ${request.headers.authorization}`);
  });
  const credentials = new Credentials(vault);
  await using registry = createRegistry({ authorizerFor: async (each) => credentials.authorizerFor(each) });
  const target = { kind: 'http', headers: {}, flavour: 'streamable' } as const;
  for (const [id, address] of [
    ['notes', url],
    ['notes', url],
    ['notes', `${thief.origin}/mcp`],
    ['renamed', url],
  ] as const) {
    if (registry.has(id)) await registry.unregister(id);
    const adapter = registry.register(definition(id, { ...target, url: address }));
    const error = await adapter.connect().catch((each: Error) => each);
    expect(String(error)).not.toContain(token);
    expect(JSON.stringify(adapter.health())).not.toContain(token);
  }
  expect(requests).toBeGreaterThan(1);
  // Whatever makes the client library go elsewhere by itself: the token does not go along.
  const { fetch: authorized } = authorizedFetch(
    fetch,
    url,
    credentials.authorizerFor(definition('notes', { ...target, url })) as UpstreamAuthorizer,
  );
  const sent = authorized(`${thief.origin}/mcp`, { headers: { authorization: `Bearer ${token}` } });
  await expect(sent).rejects.toThrow(`is not sent to ${thief.origin}`);
  expect(stolen.filter((each) => each !== undefined)).toEqual([]);
  for (const { server } of [thief, taken]) server.close();
});

test('the state folder holds no token in clear, and a row copied to another server does not open [B17] [B20]', async () => {
  await using world = await startWorld();
  const { folder } = await attempt(accountOf(world), agreeAndReturn);
  const tokens = (await openVault(folder).read(accountOf(world), 'grant'))?.tokens;
  const secrets = [tokens?.accessToken, tokens?.refreshToken].map(String);
  const files = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'latin1'));
  expect(secrets.filter((secret) => files.some((text) => text.includes(secret)))).toEqual([]);

  const database = await Database.open(folder);
  database.prepare(`INSERT INTO credentials SELECT 'other', url, kind, sealed, 0 FROM credentials`).run();
  database
    .prepare(
      `INSERT INTO credentials SELECT server_id, 'https://evil.example/mcp', kind, sealed, 0 FROM credentials WHERE server_id = 'notes'`,
    )
    .run();
  database.close();
  const vault = openVault(folder);
  const { url } = world;
  const owners = [
    { serverId: 'other', url },
    { serverId: 'notes', url: 'https://evil.example/mcp' },
    { serverId: 'notes', url },
  ];
  const opened = await Promise.all(owners.map(async (owner) => (await vault.read(owner, 'grant')) !== undefined));
  expect(opened).toEqual([false, false, true]);
});

test('a browser address is one argument to a program without a shell, and always a web page [B20]', async () => {
  const folder = stateFolder();
  const said = join(folder, 'said');
  writeFileSync(
    join(folder, 'xdg-open'),
    `#!/bin/sh\nprintf '%s\\n' "$#" "$@" > ${said}.new && mv ${said}.new ${said}\n`,
  );
  chmodSync(join(folder, 'xdg-open'), 0o755);
  const path = process.env.PATH;
  process.env.PATH = `${folder}:${path}`;
  try {
    const hostile = new URL("https://as.example/$(touch${IFS}x)?a=`id`&b=;calc.exe&c='|x'");
    expect(await openBrowser(hostile, { DISPLAY: ':0' }, 'linux')).toBe(true);
    await expect.poll(() => readdirSync(folder)).toContain('said');
    expect(readFileSync(said, 'utf8')).toBe(`1\n${hostile.href}\n`);
    for (const address of ['file:///etc/passwd', 'javascript:alert(1)', 'vscode://x'])
      expect(await openBrowser(new URL(address), { DISPLAY: ':0' }, 'linux')).toBe(false);
    expect(await openBrowser(hostile, {}, 'linux')).toBe(false);
  } finally {
    process.env.PATH = path;
  }
});

test('two hosts that renew at once use a rotating refresh token once, and no withdrawn one [B20]', async () => {
  await using world = await startWorld({ accessTokenSeconds: 2 });
  const { folder } = await attempt(accountOf(world), agreeAndReturn);
  const [one, other] = [openVault(folder), openVault(folder)].map((vault) =>
    new Credentials(vault).authorizerFor(
      definition('notes', { kind: 'http', url: world.url, headers: {}, flavour: 'auto' }),
    ),
  );
  const tokens = async () => Promise.all([one, other, one, other].map((lender) => lender?.token()));
  await expect.poll(() => tokens().then(() => world.counts.refreshed), { timeout: 5_000 }).toBe(1);
  const lent = await tokens();
  const [current] = lent;
  expect(lent).toEqual(lent.map(() => expect.stringMatching(/^[\w-]{20,}$/)));
  await new Credentials(openVault(folder)).logout('notes', accountOf(world));
  await expect(one?.renew(current, {})).rejects.toMatchObject({
    code: 'login_needed',
    message: expect.stringContaining('codemode auth login notes'),
  });
  expect(await other?.token()).toBeUndefined();
});
