import { expect, test } from 'vitest';
import {
  descendantsOf,
  type Era,
  ended,
  everyday,
  openHome,
  type Response,
  ready,
  run,
  runProgram,
  startServe,
} from '../../support/program.js';

const config = { mcpServers: { everyday: everyday() } };

test('several clients of both eras work at the same time, and each gets its own answers [X1]', async () => {
  using home = openHome(config);
  await using server = await startServe(home);
  const eras: readonly Era[] = ['legacy', 'legacy', 'modern', 'modern'];
  const clients = await Promise.all(eras.map((era) => server.connect(era)));
  for (const { client } of clients) await ready(client, 'everyday');
  const answers = await Promise.all(
    clients.flatMap(({ client }, who) =>
      Array.from({ length: 5 }, (_, turn) =>
        run(
          client,
          `import { echo } from '@codemode/servers/everyday';
           globalThis.who = (globalThis.who ?? '') + '${who}/${turn}';
           globalThis.__codemode_result__ = [await echo({ message: '${who}/${turn}' }), globalThis.who];`,
        ),
      ),
    ),
  );
  expect(answers.map(({ result }) => result)).toEqual(
    eras.flatMap((_, who) => Array.from({ length: 5 }, (_, turn) => [`${who}/${turn}`, `${who}/${turn}`])),
  );
  for (const { client } of clients) await client.close();
});

test('what is kept for one client is not handed to another [X6]', async () => {
  using home = openHome(config);
  await using server = await startServe(home);
  await using mine = await server.connect();
  await using theirs = await server.connect();
  const large = await run(mine.client, `globalThis.__codemode_result__ = 'x'.repeat(1_000_000)`);
  expect(large).toMatchObject({
    result: expect.stringMatching(/^x+… \(\d+ more characters\)$/),
    diagnostics: [{ code: 'RESULT_TOO_LARGE' }],
  });
  const handle = /result-[\w-]+/.exec(large.diagnostics[0]?.hint ?? '')?.[0];
  const load = `import { load } from '@codemode/results';
    globalThis.__codemode_result__ = await load('${handle}').then((value) => value.length, (error) => error.message);`;
  expect((await run(mine.client, load)).result).toBe(1_000_000);
  expect((await run(theirs.client, load)).result).toMatch(/nothing is kept/);
});

test('it reports liveness and readiness, and shuts down gracefully on a signal [X1]', async () => {
  using home = openHome(config);
  await using server = await startServe(home);
  const get = async (path: string) => {
    const response = await fetch(server.url + path);
    return [response.status, await response.json()];
  };
  expect(await get('/healthz')).toEqual([200, { status: 'ok' }]);
  expect(await get('/readyz')).toEqual([200, { status: 'ready' }]);

  await using connected = await server.connect();
  await ready(connected.client, 'everyday');
  let stopped: ReturnType<typeof server.stop> | undefined;
  let started: number[] = [];
  const lastRun: Promise<Response> = run(
    connected.client,
    `import { slow } from '@codemode/servers/everyday'; globalThis.__codemode_result__ = await slow({ ms: 1_000 });`,
    {},
    {
      onprogress: ({ message }) => {
        if (message?.endsWith('half') !== true || stopped !== undefined) return;
        started = descendantsOf(server.pid);
        stopped = server.stop('SIGTERM');
      },
    },
  );
  // The call that was in progress is answered.
  expect((await lastRun).result).toBe('done');
  expect(await stopped).toEqual([0, null]);
  expect(started.length).toBeGreaterThan(0);
  await ended(started);
});

test("a session's event stream stays open until the session ends; an ended session is gone [X1]", async () => {
  using home = openHome(config);
  await using server = await startServe(home);
  const mcp = (method: string, more: Record<string, string> = {}, body?: object) =>
    fetch(`${server.url}/mcp`, {
      method,
      headers: {
        authorization: `Bearer ${server.token}`,
        accept: method === 'GET' ? 'text/event-stream' : 'application/json, text/event-stream',
        'content-type': 'application/json',
        ...more,
      },
      ...(body === undefined ? {} : { body: JSON.stringify({ jsonrpc: '2.0', ...body }) }),
    });
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '0' } };
  const opened = await mcp('POST', {}, { id: 1, method: 'initialize', params });
  await opened.text();
  const session = { 'mcp-session-id': String(opened.headers.get('mcp-session-id')) };
  await mcp('POST', session, { method: 'notifications/initialized' });
  const stream = await mcp('GET', session);
  expect([stream.status, stream.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
  let isOpen = true;
  const read = (async () => {
    for await (const _ of stream.body as unknown as AsyncIterable<Uint8Array>) void _;
    isOpen = false;
  })();
  // Requests of the same session come and go beside it.
  for (let id = 2; id < 5; id++) await (await mcp('POST', session, { id, method: 'tools/list' })).text();
  expect(isOpen).toBe(true);
  await mcp('DELETE', session);
  await read;

  const { client, transport } = await server.connect();
  await run(client, '');
  const { sessionId } = transport;
  await transport.terminateSession();
  const headers = { authorization: `Bearer ${server.token}`, 'mcp-session-id': String(sessionId) };
  const response = await fetch(`${server.url}/mcp`, { headers: { ...headers, accept: 'text/event-stream' } });
  expect([response.status, await response.json()]).toMatchObject([
    404,
    { error: { message: expect.stringMatching(/initialize again/) } },
  ]);
  await client.close();
});

test('the access token is printed by `token`, and by nothing else [X6]', async () => {
  using home = openHome(config);
  const printed = await runProgram(home, 'token');
  expect(printed).toEqual({ stdout: expect.stringMatching(/^[\w-]{43}\n$/), stderr: '', status: 0 });
  await using server = await startServe(home);
  expect(server.token).toBe(printed.stdout.trim());
  expect(server.stderr()).not.toContain(server.token);
});

test('a port in use, an unknown profile and an unknown model are reported in one line [X6]', async () => {
  using home = openHome({ ...config, models: [{ ref: 'large' }] });
  await using server = await startServe(home);
  const port = new URL(server.url).port;
  expect(await runProgram(home, 'serve', '--port', port)).toEqual({
    stdout: '',
    stderr: `codemode: port ${port} of 127.0.0.1 is in use; choose another one with --port\n`,
    status: 2,
  });
  expect(await runProgram(home, 'mcp', '--model', 'larg')).toMatchObject({
    stderr: expect.stringMatching(/did you mean large\?\n$/),
    status: 2,
  });
  expect(await runProgram(home, 'mcp', '--profile', 'code')).toMatchObject({
    stdout: '',
    stderr: expect.stringMatching(/--profile/),
    status: 2,
  });
});
