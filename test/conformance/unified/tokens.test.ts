import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { openIssuer } from '../../support/issuer.js';
import { everyday, openHome, run, startServe, until } from '../../support/program.js';
import { listed, restClient } from '../../support/rest.js';

let issuer: Awaited<ReturnType<typeof openIssuer>>;
let home: ReturnType<typeof openHome>;
let server: Awaited<ReturnType<typeof startServe>>;
let rest: ReturnType<typeof restClient>;
const config = (more: object = {}) => ({
  mcpServers: { everyday: everyday(), other: everyday() },
  security: {
    auth: {
      ...issuer.settings,
      tokens: [listed('agent'), { ...listed('narrow'), capabilities: ['mcp:everyday/echo'] }],
    },
  },
  ...more,
});

beforeAll(async () => {
  issuer = await openIssuer();
  home = openHome(config({ server: { pingInterval: '60s' } }));
  server = await startServe(home);
  rest = restClient(server.url, 'agent');
}, 60_000);
afterAll(async () => {
  await server?.stop();
  issuer?.close();
  home?.[Symbol.dispose]();
});

/** What is accepted after its expiry, for clocks that differ. */
const CLOCK_SKEW_SECONDS = 30;
const expiringIn = (seconds: number) => Math.floor(Date.now() / 1000) - CLOCK_SKEW_SECONDS + seconds;

async function connect(url: string, token: string) {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/api/v1/ws`, [], {
    headers: { authorization: `Bearer ${token}` },
  });
  const messages: { id: string; type: string; payload: { code?: string; result?: unknown } }[] = [];
  socket.on('message', (data: Buffer) => messages.push(JSON.parse(data.toString())));
  const closed = new Promise<[number, string]>((resolve) =>
    socket.on('close', (code, reason) => resolve([code, reason.toString()])),
  );
  const refused = new Promise<{ status: number; text: string }>((resolve) =>
    socket.on('unexpected-response', (_, response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    }),
  );
  socket.on('error', () => {});
  const opened = new Promise<undefined>((resolve) => socket.on('open', () => resolve(undefined)));
  const execute = (id: string, code: string) =>
    socket.send(JSON.stringify({ id, type: 'execute', payload: { code, options: { timeout: 20_000 } } }));
  return { messages, closed, execute, answered: await Promise.race([opened, refused]) };
}

describe('a WebSocket whose token has expired', () => {
  test('is closed at its next message, which is not run, and its runs end [C4, C5]', async () => {
    const token = await issuer.token({ exp: expiringIn(3) });
    const { messages, closed, execute } = await connect(server.url, token);
    execute('first', 'return 1');
    await until(() => messages.some(({ id }) => id === 'first'));
    expect(messages[0]).toMatchObject({ type: 'result', payload: { result: 1 } });
    await until(async () => (await rest.get('/runs', token)).status === 401);
    execute('second', 'return 2');
    expect(await closed).toEqual([1008, 'the token has expired']);
    expect(messages.filter(({ id }) => id === 'second')).toMatchObject([
      { type: 'error', payload: { type: 'security', code: 'UNAUTHORIZED' } },
    ]);
  });

  test('is closed at the next heartbeat too, where nothing is sent [C4, C5]', async () => {
    using ownHome = openHome(config({ server: { pingInterval: '200ms' } }));
    await using own = await startServe(ownHome);
    const connectFor = async (seconds: number) => connect(own.url, await issuer.token({ exp: expiringIn(seconds) }));
    let socket = await connectFor(2);
    // Refused: on a loaded machine the token may end before it has arrived.
    for (let seconds = 4; socket.answered !== undefined; seconds *= 2) socket = await connectFor(seconds);
    expect(await socket.closed).toEqual([1008, 'the token has expired']);
  });
});

/** A run's calls, until one is refused. */
const UNTIL_REFUSED = (call: string) => `for (;;) {
  const error = await ${call}.then(() => undefined, (error) => error);
  if (error !== undefined) throw error;
  await new Promise((resolve) => setTimeout(resolve, 400));
}`;

test('a run whose token expires calls nothing more, over REST and MCP of both eras [C5, X6]', async () => {
  const token = await issuer.token({ exp: expiringIn(6), scope: 'execute tools' });
  const clients = await Promise.all((['legacy', 'modern'] as const).map((era) => server.connect(era, {}, token)));
  const program = `import { echo } from '@codemode/servers/everyday';\n${UNTIL_REFUSED("echo({ message: 'x' })")}`;
  const [executed, ...ran] = await Promise.all([
    rest.post('/execute', token, { code: UNTIL_REFUSED("mcp.everyday.echo('x')"), capabilities: ['mcp:everyday'] }),
    ...clients.map(({ client }) => run(client, program)),
  ]);
  expect(executed.body).toMatchObject({
    success: false,
    error: { type: 'security', code: 'UNAUTHORIZED', message: expect.stringContaining('has expired') },
  });
  expect(Number((executed.body.metrics as { apiCalls?: number } | undefined)?.apiCalls)).toBeGreaterThan(0);
  for (const { diagnostics } of ran)
    expect(diagnostics).toContainEqual(
      expect.objectContaining({ message: expect.stringContaining('the authorization of this run has expired') }),
    );
  await Promise.all(clients.map(({ client }) => client.close().catch(() => {})));
});

test('a challenge names the scope, and has an error code only where a token was sent [C5]', async () => {
  const challenge = async (path: string, headers: Record<string, string>) =>
    (await fetch(`${server.url}${path}`, { headers })).headers.get('www-authenticate') ?? '';
  const bearer = async (token: string) => ({ authorization: `Bearer ${token}` });
  const none = await challenge('/api/v1/runs', {});
  expect(none).toMatch(/^Bearer realm="codemode", scope="execute"/);
  expect(none).not.toContain('error=');
  expect(await challenge('/api/v1/runs', await bearer('wrong'))).toContain('error="invalid_token"');
  const narrow = await challenge('/api/v1/approvals', await bearer(await issuer.token()));
  expect(narrow).toContain('error="insufficient_scope", scope="approve"');
});

describe('scopes of an issuer', () => {
  test.each<[string, object]>([
    ['scope, separated by spaces', { scope: 'openid execute' }],
    ['scope, a list', { scope: ['execute'] }],
    ['scopes, a list', { scope: undefined, scopes: ['openid', 'execute'] }],
    ['scopes, separated by spaces', { scope: undefined, scopes: 'execute tools' }],
    ['scp, a list', { scope: undefined, scp: ['execute'] }],
    ['scp, separated by spaces', { scope: undefined, scp: 'execute tools' }],
  ])('count as %s [C5]', async (_, claims) => {
    const answer = await rest.post('/execute', await issuer.token(claims), { code: 'return 1' });
    expect([answer.status, answer.body.result]).toEqual([200, 1]);
  });

  test.each<[string, object]>([
    ['roles', { scope: undefined, roles: ['execute'] }],
    ['a longer word', { scope: 'executes execute,tools' }],
    ['a nested list', { scope: [['execute']] }],
    ['an object', { scope: { execute: true } }],
  ])('do not count as %s [C5]', async (_, claims) => {
    const answer = await rest.post('/execute', await issuer.token(claims), { code: 'return 1' });
    expect([answer.status, answer.body.error?.code]).toEqual([403, 'FORBIDDEN']);
  });
});

describe('a request without a good token is told which one to get', () => {
  test('of the issuer, where one is configured, not the one that codemode prints [C5]', async () => {
    const { status, body } = await rest.post('/execute', server.token, { code: 'return 1' });
    expect(status).toBe(401);
    expect(body.error?.message).toContain(issuer.settings.issuer);
    expect(body.error?.message).not.toContain('codemode token');
    expect(server.stderr()).toContain('connect a client');
    expect(server.stderr()).not.toContain('codemode token');
  });

  test('one with the scope of the route, which the printed one lacks [C5]', async () => {
    using ownHome = openHome({ mcpServers: {} });
    await using own = await startServe(ownHome);
    const message = async (path: string) => {
      const response = await fetch(`${own.url}/api/v1${path}`, { headers: { authorization: 'Bearer wrong' } });
      return ((await response.json()) as { error: { message: string } }).error.message;
    };
    expect(await message('/tools')).toContain('`codemode token`');
    expect(await message('/approvals')).toContain('scope approve');
    expect(await message('/approvals')).not.toContain('`codemode token`');
    expect(await message('/servers')).toContain('scope servers');
  });
});

test('an issuer that cannot be reached is a network error with 503, over REST and WebSocket [C5, C13]', async () => {
  const gone = await openIssuer();
  const token = await gone.token();
  gone.close();
  using ownHome = openHome({ mcpServers: {}, security: { auth: gone.settings } });
  await using own = await startServe(ownHome);
  const response = await fetch(`${own.url}/api/v1/execute`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: '{"code":"return 1"}',
  });
  expect([response.status, await response.json()]).toMatchObject([
    503,
    { error: { type: 'network', code: 'ISSUER_UNAVAILABLE', message: expect.stringContaining(gone.settings.issuer) } },
  ]);
  const { answered } = await connect(own.url, token);
  expect(answered).toMatchObject({ status: 503, text: expect.stringContaining('ISSUER_UNAVAILABLE') });
});

test('/tools lists what the token may call, and nothing else [C3, C5]', async () => {
  const names = async (token: string) => {
    const { namespaces } = (await rest.get('/tools', token)).body as {
      namespaces: Record<string, { tools: { name: string }[] }>;
    };
    return Object.entries(namespaces).map(([name, { tools }]) => [name, tools.map((tool) => tool.name).sort()]);
  };
  expect((await names('agent')).map(([name]) => name)).toEqual(['everyday', 'other']);
  expect(await names('narrow')).toEqual([['everyday', ['echo']]]);
  const capabilities = { mcp: { allowedServers: ['other'], allowedTools: ['add'] } };
  expect(await names(await issuer.token({ scope: 'tools', capabilities }))).toEqual([['other', ['add']]]);
  expect(await names(await issuer.token({ scope: 'tools', capabilities: [] }))).toEqual([]);
});
