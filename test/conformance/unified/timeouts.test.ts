import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { everyday, openHome, startServe } from '../../support/program.js';
import { restClient } from '../../support/rest.js';

/** Answers after the milliseconds that the path names. */
const web = createServer((request, response) => {
  setTimeout(() => response.end('x'), Number(request.url?.slice(1)));
});
let webPort = 0;

async function serving(capabilities: { mcp?: object; network?: object }, mcpServers: object) {
  const network = { allowedHosts: ['127.0.0.1'], allowedPorts: [webPort], ...capabilities.network };
  const home = openHome({ mcpServers, security: { capabilities: { ...capabilities, network } } });
  const server = await startServe(home);
  const rest = restClient(server.url, server.token);
  return {
    execute: async (code: string, names: string[] = Object.keys(mcpServers)) => {
      const granted = [...names.map((name) => `mcp:${name}`), `network:127.0.0.1:${webPort}`];
      return (await rest.post('/execute', server.token, { code, capabilities: granted })).body;
    },
    [Symbol.asyncDispose]: async () => {
      await server.stop();
      home[Symbol.dispose]();
    },
  };
}

beforeAll(async () => {
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
  webPort = (web.address() as AddressInfo).port;
});
afterAll(() => {
  web.closeAllConnections();
  web.close();
});

test('a call has 10 s and a request 5 s by default; a server with a timeout of its own has that [C6, C7]', async () => {
  await using server = await serving({}, { plain: everyday(), patient: { ...everyday(), timeout: '20s' } });
  const slow = 'const begun = Date.now(); await mcp.NAME.slow({ ms: 11_000 }); return Date.now() - begun';
  const [patient, plain, request] = await Promise.all([
    server.execute(slow.replace('NAME', 'patient')),
    server.execute(slow.replace('NAME', 'plain')),
    server.execute(`await fetch('http://127.0.0.1:${webPort}/7000')`),
  ]);
  expect([patient.success, Number(patient.result) >= 11_000]).toEqual([true, true]);
  expect(plain.error).toMatchObject({
    type: 'mcp',
    code: 'TOOL_TIMEOUT',
    message: expect.stringContaining('no answer within 10000 ms'),
    details: { hint: 'Ask the user to raise mcpServers.plain.timeout.' },
  });
  expect(request.error).toMatchObject({
    type: 'network',
    code: 'REQUEST_TIMEOUT',
    message: expect.stringContaining('no answer within 5000 ms'),
    details: { hint: expect.stringContaining('security.capabilities.network.timeoutPerRequest') },
  });
});

test('timeoutPerCall, timeoutPerRequest and maxConcurrentCalls are what the configuration says [C6, C12]', async () => {
  const capabilities = {
    mcp: { timeoutPerCall: '300ms', maxConcurrentCalls: 2, maxCallsPerSecond: 100 },
    network: { timeoutPerRequest: '200ms' },
  };
  await using server = await serving(capabilities, { plain: everyday(), own: { ...everyday(), timeout: '5s' } });
  const call = await server.execute('await mcp.plain.slow({ ms: 3_000 })');
  expect(call.error).toMatchObject({ code: 'TOOL_TIMEOUT', message: expect.stringContaining('within 300 ms') });
  const request = await server.execute(`await fetch('http://127.0.0.1:${webPort}/3000')`);
  expect(request.error).toMatchObject({ code: 'REQUEST_TIMEOUT', message: expect.stringContaining('within 200 ms') });
  const code = `const begun = Date.now();
    await Promise.all([1, 2, 3].map(() => mcp.own.slow({ ms: 500 }))); return Date.now() - begun`;
  expect((await server.execute(code)).result).toBeGreaterThanOrEqual(1_000);
});
