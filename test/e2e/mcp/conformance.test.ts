import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needsSuite, runSuite, type SuiteRun } from '../../support/mcp-suite.js';
import { nodeServer, openHome, startServe } from '../../support/program.js';
import { listed } from '../../support/rest.js';
import { startTokenRelay } from '../../support/token-relay.js';
import { fixture } from '../../support/upstreams.js';

const OLDER = '2025-11-25';
const NEWER = '2026-07-28';
/** Most of a run is the suite waiting for things; a machine that is busy with other tests makes it this long at worst. */
const PATIENCE_MS = 240_000;
const patiently = { timeout: PATIENCE_MS };

/** Nothing that was not expected, and nothing expected that has become wrong. */
async function passes(run: SuiteRun): Promise<string[]> {
  const { unexpected, passingNow, passed } = await runSuite(run);
  expect({ unexpected, passingNow }).toEqual({ unexpected: [], passingNow: [] });
  return passed;
}

describe.concurrent('servers, before the public MCP conformance suite', needsSuite(), () => {
  const mcpServers = { tools: nodeServer(fixture('conformance-server.mjs')) };
  const open = async (config: object) => {
    // The suite answers forms as a person would.
    const tokens = [{ ...listed('suite'), person: true }];
    const home = openHome({ ...config, security: { auth: { tokens } } });
    const served = await startServe(home);
    const relay = await startTokenRelay({ url: served.url, token: 'suite' });
    const close = async () => {
      await relay[Symbol.asyncDispose]();
      await served.stop();
      home[Symbol.dispose]();
    };
    return { url: `${relay.url}/mcp`, close };
  };
  let servers: Awaited<ReturnType<typeof open>>[] = [];
  beforeAll(async () => {
    const plain = { defaults: { codeMode: { enabled: false } }, mcpServers };
    servers = await Promise.all([open(plain), open({ mcpServers })]);
  }, PATIENCE_MS);
  afterAll(() => Promise.all(servers.map(({ close }) => close())));
  const all = (server: 0 | 1, ...more: string[]) => ['--url', servers[server]?.url ?? '', '--suite', 'all', ...more];

  test('tools passed on as they are: the released suite finds only what is expected [X1]', patiently, async () => {
    const passed = await passes({ name: 'released', release: 'released', role: 'server', arguments: all(0) });
    expect(passed).toContain('tools-call-mixed-content');
  });
  test.each([OLDER, NEWER])(
    'tools passed on as they are: the next suite finds only what is expected in era %s [X1]',
    patiently,
    async (era) => {
      const inEra = all(0, '--spec-version', era);
      const passed = await passes({ name: `proxy ${era}`, release: 'next', role: 'server', arguments: inEra });
      expect(passed).toContain('tools-call-with-progress');
    },
  );
  test.each([
    [OLDER, ['server-initialize', 'server-session-lifecycle', 'ping', 'tools-list', 'resources-list']],
    [NEWER, ['tools-list', 'resources-list', 'http-header-validation', 'sep-2164-resource-not-found', 'caching']],
  ])('one tool: clients of era %s connect, list and leave as they should [X1]', patiently, async (era, some) => {
    const scenarios = [...some, 'server-sse-multiple-streams', 'dns-rebinding-protection'];
    const inEra = all(1, '--spec-version', era);
    await passes({ name: `one tool ${era}`, release: 'next', role: 'server', arguments: inEra, scenarios });
  });
});

describe('programs, before the public MCP conformance suite', needsSuite(), () => {
  // The suite starts all its clients at once; one after the other, each gets the machine to itself.
  const lock = fileURLToPath(new URL('../../mcp-suite/package.json', import.meta.url));
  const [shell, client] = ['sh', 'mjs'].map((extension) =>
    fileURLToPath(new URL(`../../support/conformance-client.${extension}`, import.meta.url)),
  );
  const by = ['--command', `sh ${shell} ${lock} ${process.execPath} ${client}`, '--timeout', String(PATIENCE_MS)];
  const as = { name: 'client', role: 'client' } as const;
  // Whatever else the machine does, the product gives a server ten seconds, and one scenario the client half a second.
  const again = { ...patiently, retry: 2 };

  test('call tools of servers of the older era, also of those that want a login [X1] [B20]', again, async () => {
    const scenarios = [
      ...['initialize', 'tools_call', 'elicitation-sep1034-client-defaults'],
      ...['auth/metadata-default', 'auth/basic-cimd', 'auth/pre-registration'],
    ];
    const wanted = { arguments: [...by, '--suite', 'all'], scenarios };
    expect(await passes({ ...as, release: 'released', ...wanted })).toEqual(scenarios);
  });
  test('get the answer whose stream was cut, when its server said [X1]', again, async () => {
    const wanted = { arguments: [...by, '--scenario', 'sse-retry'], scenarios: ['sse-retry'] };
    expect(await passes({ ...as, release: 'released', ...wanted })).toEqual(['sse-retry']);
  });
  test('call tools of servers of the newer era [X1]', again, async () => {
    const scenarios = [
      'tools_call',
      'request-metadata',
      'sep-2322-client-request-state',
      'http-standard-headers',
      'http-custom-headers',
      'http-invalid-tool-headers',
      'json-schema-ref-no-deref',
      'json-schema-2020-12-preservation',
    ];
    const wanted = { arguments: [...by, '--suite', 'all', '--spec-version', NEWER], scenarios };
    // One check of it is an expected failure.
    const whole = scenarios.filter((scenario) => scenario !== 'http-custom-headers');
    expect(await passes({ ...as, release: 'next', ...wanted })).toEqual(whole);
  });
});
