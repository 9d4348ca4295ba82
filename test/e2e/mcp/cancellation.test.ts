import { expect, test } from 'vitest';
import { type Era, everyday, openHome, openStdio, ready, run, startServe, until } from '../../support/program.js';

const SLOW = `import { slow } from '@codemode/servers/everyday'; await slow({ ms: 120_000 });`;
const COUNT = `import { cancellations } from '@codemode/servers/everyday'; globalThis.__codemode_result__ = await cancellations();`;
const ERAS: readonly Era[] = ['legacy', 'modern'];
const config = { mcpServers: { everyday: everyday() } };

test.each(ERAS)('a withdrawn call ends its run and is cancelled at the server, over stdio, %s [A31]', async (era) => {
  using home = openHome(config);
  await using program = await openStdio(home, era);
  const { client } = program;
  await ready(client, 'everyday');
  const withdrawn = new AbortController();
  const running = run(
    client,
    SLOW,
    { limits: { timeoutMs: 120_000 } },
    {
      signal: withdrawn.signal,
      // The call has reached the server.
      onprogress: ({ message }) => message?.endsWith('half') === true && withdrawn.abort(),
    },
  );
  await expect(running).rejects.toThrow();
  await until(async () => (await run(client, COUNT)).result === '1');
});

test.each(ERAS)('a withdrawn call ends its run and is cancelled at the server, over HTTP, %s [A31]', async (era) => {
  using home = openHome(config);
  await using server = await startServe(home);
  await using connected = await server.connect(era);
  await ready(connected.client, 'everyday');
  const withdrawn = new AbortController();
  const running = run(
    connected.client,
    SLOW,
    { limits: { timeoutMs: 120_000 } },
    {
      signal: withdrawn.signal,
      onprogress: ({ message }) => message?.endsWith('half') === true && withdrawn.abort(),
    },
  );
  await expect(running).rejects.toThrow();
  await until(async () => (await run(connected.client, COUNT)).result === '1');
});

test.each(ERAS)('a closed HTTP request ends its run without a word of the client, %s [A31]', async (era) => {
  using home = openHome(config);
  await using server = await startServe(home);
  await using connected = await server.connect(era);
  await ready(connected.client, 'everyday');
  const { sessionId } = connected.transport;
  const headers = {
    authorization: `Bearer ${server.token}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...(sessionId === undefined
      ? { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'codemode_run' }
      : { 'mcp-session-id': sessionId }),
  };
  const envelope = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const hangUp = new AbortController();
  const response = await fetch(`${server.url}/mcp`, {
    method: 'POST',
    headers,
    signal: hangUp.signal,
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 77,
      method: 'tools/call',
      params: {
        name: 'codemode_run',
        arguments: { code: SLOW, limits: { timeoutMs: 120_000 } },
        _meta: { progressToken: 'p', ...(era === 'modern' ? envelope : {}) },
      },
    }),
  });
  let seen = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    seen += decoder.decode(chunk as Uint8Array, { stream: true });
    if (seen.includes('half')) break;
  }
  expect(seen).toContain('everyday.slow: half');
  hangUp.abort();
  await until(async () => (await run(connected.client, COUNT)).result === '1');
});

test('at a time limit the in-flight call is cancelled at the server, and logs are returned [A30]', async () => {
  using home = openHome(config);
  await using program = await openStdio(home);
  await ready(program.client, 'everyday');
  const response = await run(program.client, `console.log('before'); ${SLOW}`, { limits: { timeoutMs: 700 } });
  expect(response).toMatchObject({
    result: null,
    logs: [{ message: 'before' }],
    diagnostics: [{ code: 'SANDBOX_LIMIT', errorClass: 'SandboxLimitError' }],
  });
  await until(async () => (await run(program.client, COUNT)).result === '1');
});
