import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { omitUndefined } from '../../../src/lib/omit-undefined.js';
import { PROGRAM } from '../../support/cli.js';
import { startLogin } from '../../support/login.js';
import {
  agree,
  agreeAndReturn,
  BY_HAND,
  json,
  listen,
  ROBOT,
  startWorld,
  type World,
} from '../../support/oauth-world.js';
import { type Home, openHome, openStdio, type Response, run, runProgram } from '../../support/program.js';

const READ = `import { read_note } from '@codemode/servers/notes';
  globalThis.__codemode_result__ = await read_note();`;
const WRITE = `import { write_note } from '@codemode/servers/notes';
  globalThis.__codemode_result__ = await write_note({ text: 'x' });`;

function homeFor(world: World, auth?: object): Home {
  return openHome({ mcpServers: { notes: { url: world.url, ...omitUndefined({ auth }) } } });
}

async function login(home: Home, ...words: string[]) {
  const { address, ended } = await startLogin(home, '--no-browser', ...words);
  const page = await agreeAndReturn(address);
  return { address, page, ...(await ended) };
}

async function runOnce(home: Home, code: string): Promise<Response> {
  const file = join(home.work, 'program.ts');
  writeFileSync(file, code);
  const { stdout, stderr } = await runProgram(home, 'run', file);
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout) as Response;
}

async function statusOf(home: Home) {
  const { stdout } = await runProgram(home, 'auth', 'status', '--json');
  return (JSON.parse(stdout) as { servers: Record<string, unknown>[] }).servers[0];
}

function stateText(home: Home): string {
  const files = readdirSync(home.state, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
  return files.map((each) => readFileSync(join(each.parentPath, each.name), 'latin1')).join('\n');
}

test('without a login, a program and `codemode servers` name the login command to type [B20]', async () => {
  await using world = await startWorld();
  using home = homeFor(world);
  const { diagnostics } = await runOnce(home, READ);
  expect(JSON.stringify(diagnostics)).toContain('codemode auth login notes');
  const servers = JSON.parse((await runProgram(home, 'servers', '--json')).stdout) as { servers: object[] };
  expect(servers.servers[0]).toMatchObject({ state: 'failed', fix: `${process.execPath} ${PROGRAM} auth login notes` });
  expect(await statusOf(home)).toEqual({ serverId: 'notes', method: 'none', state: 'not_logged_in' });
});

test('a person logs in by browser, programs call tools, a running host notices, logout revokes [B17] [B20]', async () => {
  await using world = await startWorld();
  using home = homeFor(world);
  await using mcp = await openStdio(home);
  expect((await run(mcp.client, READ)).result).not.toBe('milk and honey');

  const { address, page, status, stdout, stderr } = await login(home);
  expect([status, page]).toEqual([0, expect.stringContaining('you can close this window')]);
  expect(stdout).toMatch(/^notes: logged in, by http:\S+, for notes:read, until 20\S+Z, renewed automatically/);
  const asked = new URL(address).searchParams;
  expect(Object.fromEntries(asked)).toMatchObject({
    response_type: 'code',
    code_challenge_method: 'S256',
    resource: world.url,
    scope: 'notes:read offline_access',
    redirect_uri: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/callback$/),
    state: expect.stringMatching(/^[\w-]{43}$/),
  });

  // The host that was started before, without a restart.
  await expect
    .poll(async () => (await run(mcp.client, READ)).result, { timeout: 20_000, interval: 300 })
    .toBe('milk and honey');
  expect(await statusOf(home)).toMatchObject({
    state: 'logged_in',
    scopes: ['notes:read'],
    isRenewable: true,
  });

  const tokens = [...world.state.seenTokens];
  expect(tokens).toHaveLength(1);
  const everything = [
    stateText(home),
    stdout,
    stderr,
    mcp.stderr(),
    (await runProgram(home, 'auth', 'status')).stdout,
  ].join('\n');
  for (const token of tokens) {
    expect(everything).not.toContain(token);
    expect(everything).not.toContain(Buffer.from(token).toString('base64'));
  }

  // A second login finds the registration of the first one.
  expect((await login(home)).status).toBe(0);
  expect(world.counts.registered).toBe(1);

  const out = await runProgram(home, 'auth', 'logout', 'notes');
  expect([out.status, out.stdout]).toEqual([0, 'notes: revoked and deleted\n']);
  expect(world.counts.revoked).toBeGreaterThan(0);
  const after = await run(mcp.client, READ);
  expect(after.diagnostics[0]).toMatchObject({ errorClass: 'AuthenticationError' });
  expect((await runProgram(home, 'auth', 'logout', 'notes')).status).toBe(1);
});

test('an expired token is renewed once for all calls of two hosts, though refresh tokens rotate [B20]', async () => {
  await using world = await startWorld({ accessTokenSeconds: 3 });
  using home = homeFor(world, { type: 'oauth', clientId: BY_HAND.clientId });
  expect((await login(home)).status).toBe(0);
  await using first = await openStdio(home);
  await using second = await openStdio(home);
  const many = `import { read_note } from '@codemode/servers/notes';
    const all = await Promise.all(Array.from({ length: 10 }, () => read_note()));
    globalThis.__codemode_result__ = all.filter((each) => each === 'milk and honey').length;`;
  const both = () => Promise.all([first, second].map(async ({ client }) => (await run(client, many)).result));
  await expect.poll(both, { timeout: 20_000 }).toEqual([10, 10]);
  const before = world.counts.refreshed;
  await new Promise((resolve) => setTimeout(resolve, 3_100));
  expect(await both()).toEqual([10, 10]);
  // Twenty calls: on a slow machine the token may end once more in between.
  expect(world.counts.refreshed - before).toBeLessThanOrEqual(2);
  // A third generation: the grant has survived the race.
  await new Promise((resolve) => setTimeout(resolve, 3_100));
  expect(await both()).toEqual([10, 10]);
});

test('a tool that needs more scopes says so, and the next login asks for them [B20]', async () => {
  await using world = await startWorld();
  using home = homeFor(world);
  await login(home);
  const { diagnostics } = await runOnce(home, WRITE);
  expect(diagnostics[0]).toMatchObject({
    errorClass: 'AuthenticationError',
    message: expect.stringContaining('notes:write'),
    hint: expect.stringContaining('codemode auth login notes'),
  });
  expect(await statusOf(home)).toMatchObject({ missingScopes: ['notes:write'] });
  const { address, status } = await login(home);
  expect([status, new URL(address).searchParams.get('scope')]).toEqual([0, 'notes:read notes:write offline_access']);
  expect((await runOnce(home, WRITE)).result).toBe('written');
});

test('client credentials need nobody, and get more scopes by themselves [B20]', async () => {
  await using world = await startWorld();
  using home = homeFor(world, { type: 'oauth', grant: 'client_credentials', scopes: ['notes:read'], ...ROBOT });
  expect((await runOnce(home, READ)).result).toBe('milk and honey');
  expect((await runOnce(home, WRITE)).result).toBe('written');
  expect(await statusOf(home)).toMatchObject({
    state: 'logged_in',
    grant: 'client_credentials',
    scopes: ['notes:read', 'notes:write'],
  });
  const shown = [(await runProgram(home, 'config', 'explain')).stdout, stateText(home)].join('\n');
  expect(shown).not.toContain(ROBOT.clientSecret);
});

test('a token set by hand is sent as it is, and no login is offered for it [B20]', async () => {
  await using world = await startWorld();
  using robot = homeFor(world, { type: 'oauth', grant: 'client_credentials', scopes: ['notes:read'], ...ROBOT });
  await runOnce(robot, READ);
  const [token] = world.state.seenTokens;
  using home = openHome({ mcpServers: { notes: { url: world.url, auth: { type: 'bearer', token } } } });
  expect((await runOnce(home, READ)).result).toBe('milk and honey');
  const refused = await runProgram(home, 'auth', 'login', 'notes');
  expect([refused.status, refused.stderr]).toEqual([2, expect.stringContaining('set by hand')]);
  expect(await statusOf(home)).toMatchObject({ method: 'header', state: 'not_needed' });
});

test('a login that nobody makes ends by itself, and one that is refused says why [B20]', async () => {
  await using world = await startWorld();
  using home = homeFor(world);
  const late = await runProgram(home, 'auth', 'login', 'notes', '--no-browser', '--timeout', '1s');
  expect(late).toMatchObject({ status: 69, stderr: expect.stringContaining('nobody logged in within 1 s') });

  const denied = await startLogin(home, '--no-browser');
  const back = new URL(await agree(denied.address));
  back.searchParams.delete('code');
  back.searchParams.set('error', 'access_denied');
  back.searchParams.set('error_description', 'not \u001b[31mtoday\u202e');
  const page = await (await fetch(back)).text();
  expect(page).toContain('did not work');
  expect(page).not.toContain('today');
  expect(await denied.ended).toMatchObject({
    status: 69,
    stderr: expect.stringContaining('access_denied: not \\u001b[31mtoday\\u202e'),
  });
});

test('an authorization server that is down is named, and an interrupted login ends [B20]', async () => {
  await using world = await startWorld();
  using home = homeFor(world);
  const interrupted = await startLogin(home, '--no-browser');
  interrupted.child.kill('SIGINT');
  expect((await interrupted.ended).status).toBe(130);
  world.state.isDown = true;
  const { status, stderr } = await runProgram(home, 'auth', 'login', 'notes', '--no-browser');
  expect([status, stderr]).toEqual([69, expect.stringContaining(`${world.issuer} cannot be reached`)]);
});

test('an issuer that has nothing but OpenID Connect Discovery is found [B20]', async () => {
  let refused = 0;
  await using world = await startWorld({
    intercept: (request, response) => {
      if (request.url?.startsWith('/.well-known/oauth-authorization-server') !== true) return false;
      refused += 1;
      json(response, 404, {});
      return true;
    },
  });
  using home = homeFor(world);
  expect(await login(home)).toMatchObject({ status: 0 });
  expect(refused).toBeGreaterThan(0);
});

test('a client described at a URL needs no registration; one made by hand keeps its own port [B20]', async () => {
  const clientMetadataUrl = 'https://codemode.example/client.json';
  await using world = await startWorld({
    intercept: (request, response) => {
      if (request.url !== '/.well-known/oauth-authorization-server') return false;
      json(response, 200, {
        issuer: world.issuer,
        authorization_endpoint: `${world.issuer}/auth`,
        token_endpoint: `${world.issuer}/token`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
        client_id_metadata_document_supported: true,
      });
      return true;
    },
  });
  const clientOf = async (auth: object) => {
    using home = homeFor(world, { type: 'oauth', ...auth });
    const { address, child, ended } = await startLogin(home, '--no-browser');
    child.kill('SIGINT');
    await ended;
    const { client_id: clientId, redirect_uri: redirectUri } = Object.fromEntries(new URL(address).searchParams);
    return { clientId, redirectUri };
  };
  expect((await clientOf({ clientMetadataUrl })).clientId).toBe(clientMetadataUrl);
  const { server, origin } = await listen();
  server.close();
  const redirectPort = Number(new URL(origin).port);
  expect(await clientOf({ clientId: 'mine', redirectPort })).toEqual({
    clientId: 'mine',
    redirectUri: `http://127.0.0.1:${redirectPort}/callback`,
  });
  using plain = homeFor(world);
  const { status, stderr } = await runProgram(plain, 'auth', 'login', 'notes');
  expect([status, stderr]).toEqual([69, expect.stringContaining('set auth.clientId and auth.redirectPort')]);
  expect(world.counts.registered).toBe(0);
});
