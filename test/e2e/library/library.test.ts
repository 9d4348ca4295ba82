import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { tool as langChainTool } from '@langchain/core/tools';
import { generateText, stepCountIs } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { z as z3 } from 'zod/v3';
import type { AuthContext, CodemodeHost, UnifiedTool } from '../../../src/index.js';
import { startPetsApi } from '../../support/pets-api.js';
import { startHttpServer } from '../../support/upstreams.js';

/** The library as somebody else uses it: what was built, with a real sandbox. */
const dist = (file: string) => new URL(`../../../dist/${file}`, import.meta.url).href;
const { createHost, defineTool, HostError, MCPProtocolAdapter, ToolCallError } = (await import(
  dist('index.js')
)) as typeof import('../../../src/index.js');
const { fromLangChain } = (await import(dist('langchain.js'))) as typeof import('../../../src/langchain.js');
const { toAiSdkTool } = (await import(dist('ai-sdk.js'))) as typeof import('../../../src/ai-sdk.js');
const EXAMPLES = fileURLToPath(new URL('../../../examples', import.meta.url));
const EVERYDAY = fileURLToPath(new URL('../../fixtures/everyday-server.mjs', import.meta.url));

const give = (expression: string) => `globalThis.__codemode_result__ = ${expression};`;
let host: CodemodeHost;
const aborted: string[] = [];
beforeAll(async () => {
  host = await createHost({
    config: {
      limits: [{ tools: 'weather/old', rate: '100/s' }],
      policy: [{ tools: ['weather/secret'], decision: 'deny' }],
    },
    tools: {
      weather: {
        forecast: defineTool({
          description: 'The weather of one day.',
          input: z.object({ city: z.string().trim(), day: z.string().transform((text) => new Date(text)) }),
          output: z.object({ city: z.string(), year: z.number() }),
          annotations: { readOnlyHint: true },
          tags: ['outdoors'],
          execute: ({ city, day }) => {
            if (city === '') throw new Error('a city must have a name');
            return { city, year: day.getUTCFullYear() };
          },
        }),
        old: {
          deprecated: true,
          input: { type: 'object', properties: { n: { type: 'number' } } },
          execute: ({ n }) => n,
        },
        endless: {
          execute: (_, { signal }) =>
            new Promise(() => signal.addEventListener('abort', () => aborted.push('endless'), { once: true })),
        },
        secret: { execute: () => 'never' },
      },
    },
  });
});
afterAll(() => host.close());

describe('functions of a program', () => {
  test('are tools that programs call, with what zod makes of their input [C9] [C16]', async () => {
    const { ok, result, toolTrace } = await host.run(
      `import { forecast } from '@codemode/servers/weather'; ${give(`await forecast({ city: ' Oslo ', day: '2031-05-05' })`)}`,
    );
    expect({ ok, result }).toEqual({ ok: true, result: { city: 'Oslo', year: 2031 } });
    expect(toolTrace).toMatchObject([{ serverId: 'weather', toolName: 'forecast', ok: true }]);
  });

  test('fail by their message, and are not reached with what their schema forbids [C9]', async () => {
    const caught = (call: string) =>
      host.run(
        `import { forecast } from '@codemode/servers/weather'; ${give(`await ${call}.catch((error) => [error.name, error.message])`)}`,
      );
    expect((await caught(`forecast({ city: '  ', day: '2031' })`)).result).toEqual([
      expect.any(String),
      expect.stringContaining('a city must have a name'),
    ]);
    expect((await caught('forecast({ city: 7 })')).result).toEqual(['SchemaValidationError', expect.any(String)]);
  });

  test('are told when their program is over [C16]', async () => {
    const { ok, diagnostics } = await host.run(
      `import { endless } from '@codemode/servers/weather'; await endless();`,
      { timeoutMs: 300 },
    );
    expect(ok).toBe(false);
    expect(diagnostics[0]).toMatchObject({ code: 'SANDBOX_LIMIT' });
    expect(aborted).toEqual(['endless']);
  });

  test('obey the policy like every other tool [C9]', async () => {
    expect((await host.tools()).map(({ id }) => id)).toEqual(['weather.forecast', 'weather.old', 'weather.endless']);
    await expect(host.callTool('weather', 'secret')).rejects.toThrow('there is no tool of weather called "secret"');
  });
});

describe('the aggregator', () => {
  test('discovers tools with their source, version, tags and deprecation [C7] [C9]', async () => {
    const { servers, tools, namespaces } = await host.discoverTools();
    expect([...servers.values()]).toEqual([
      { name: 'weather', namespace: 'weather', path: 'weather', source: 'native', state: 'ready', toolCount: 3 },
    ]);
    expect(namespaces.get('weather')).toEqual(['weather.forecast', 'weather.old', 'weather.endless']);
    expect(tools.get('weather.forecast')).toMatchObject({
      name: 'forecast',
      serverName: 'weather',
      description: 'The weather of one day.',
      inputSchema: { required: ['city', 'day'] },
      outputSchema: { required: ['city', 'year'] },
      annotations: { readOnlyHint: true },
      metadata: { source: 'native', version: expect.any(String), tags: ['outdoors'] },
    });
    expect(tools.get('weather.old')?.metadata).toMatchObject({
      deprecated: true,
      rateLimit: { calls: 100, perMs: 1_000 },
    });
  });

  test('calls one tool, and says why where it cannot [C7]', async () => {
    expect(await host.callTool('weather', 'old', { n: 4 })).toBe(4);
    await expect(host.callTool('weather', 'forecast', { city: 'Oslo' })).rejects.toBeInstanceOf(ToolCallError);
    await expect(host.callTool('weather', 'forcast')).rejects.toThrow('did you mean forecast?');
    await expect(host.callTool('whether', 'x')).rejects.toThrow('did you mean weather?');
  });

  test('registers MCP servers, APIs and functions at run time, and lets them go [C7] [C9]', async () => {
    await using api = await startPetsApi();
    const key = 'pets-canary-7f3a9';
    await host.registerServer({ name: 'everyday', command: process.execPath, args: [EVERYDAY], timeout: 10_000 });
    await host.registerServer({ name: 'pets', openapi: `${api.url}/openapi.json`, auth: { type: 'apiKey', key } });
    await host.registerServer({ name: 'more', tools: { one: { execute: () => 1 } } });
    const { servers, tools } = await host.discoverTools();
    expect([...servers.values()].map(({ name, source }) => [name, source])).toEqual([
      ['weather', 'native'],
      ['everyday', 'mcp'],
      ['pets', 'openapi'],
      ['more', 'native'],
    ]);
    expect(tools.get('pets.listPets')?.metadata).toEqual({
      source: 'openapi',
      version: '1.2.3',
      tags: ['pets'],
      auth: { type: 'apiKey' },
    });
    const { result } = await host.run(
      `import { listPets, get_pets_by_id } from '@codemode/servers/pets'; import { one } from '@codemode/servers/more';
       const { headers } = await get_pets_by_id({ id: '7' });
       ${give('[(await listPets()).length, await one(), headers["x-pets-key"]]')}`,
    );
    // The API got the key and repeats it; the program does not get to see it.
    expect(result).toEqual([2, 1, expect.stringContaining('[redacted')]);
    const health = await host.getServerHealth();
    expect([...health].map(([name, { state }]) => [name, state])).toContainEqual(['everyday', 'ready']);
    for (const name of ['everyday', 'pets', 'more']) await host.unregisterServer(name);
    expect([...(await host.discoverTools()).servers.keys()]).toEqual(['weather']);
    await expect(host.unregisterServer('pets')).rejects.toThrow('there is no server called "pets"');
  });

  test.each([
    ['http', 'stateless', 'http', 'streamable-http'],
    ['http', 'sse', 'http', 'sse'],
    ['websocket', 'websocket', 'ws', 'websocket'],
  ] as const)('registers a server over %s (%s) [C7]', async (transport, mode, scheme, spoken) => {
    await using server = await startHttpServer(mode);
    const url = `${scheme}://127.0.0.1:${server.port}/mcp`;
    await host.registerServer({ name: 'remote', transport, url, timeout: 5_000, retryPolicy: { maxAttempts: 2 } });
    expect(await host.callTool('remote', 'add', { a: 40, b: 2 })).toEqual({ sum: 42 });
    expect((await host.getServerHealth()).get('remote')?.identity?.transport).toBe(spoken);
    await host.unregisterServer('remote');
  });

  test('notices that a server over HTTP has died, when its health is asked for [C8]', async () => {
    await using server = await startHttpServer('stateless');
    await host.registerServer({ name: 'mortal', transport: 'http', url: `http://127.0.0.1:${server.port}/mcp` });
    expect(await host.callTool('mortal', 'add', { a: 40, b: 2 })).toEqual({ sum: 42 });
    const state = async () => (await host.getServerHealth()).get('mortal')?.state;
    expect(await state()).toBe('ready');
    await server.stop();
    expect(await state()).toMatch(/^(degraded|failed)$/);
    await host.unregisterServer('mortal');
  });

  test('gives a server its own environment and timeout, filled in from the one around it [C7]', async () => {
    const environment = { FLAVOUR: '${CODEMODE_HOME}/x' };
    const settings = {
      transport: 'stdio' as const,
      command: process.execPath,
      args: [EVERYDAY],
      environment,
      timeout: 500,
    };
    await host.registerServer({ name: 'local', ...settings });
    await host.discoverTools();
    expect(await host.callTool('local', 'environment', { name: 'FLAVOUR' })).toBe(`${process.env.CODEMODE_HOME}/x`);
    await expect(host.callTool('local', 'slow', { ms: 60_000 })).rejects.toThrow(/500 ms/);
    await host.unregisterServer('local');
  });

  test('refuses a server with the key that is wrong, and a name that is taken [C7]', async () => {
    await expect(host.registerServer({ name: 'x', url: 'ftp://x' })).rejects.toThrow(
      'config: mcpServers.x.url: expected an address that starts with http://',
    );
    await expect(host.registerServer({ name: 'x', command: '${NO_SUCH_VARIABLE}' })).rejects.toThrow(
      'NO_SUCH_VARIABLE',
    );
    await expect(host.registerServer({ name: 'weather', url: 'http://127.0.0.1' })).rejects.toThrow('exists already');
    await expect(host.registerServer({ name: 'a/b', tools: {} })).rejects.toBeInstanceOf(HostError);
    await expect(host.registerServer({ name: '__proto__', command: 'node' })).rejects.toThrow('cannot be called');
  });
});

test('sessions of two callers keep their results apart, and all can be ended [C16]', async () => {
  const [one, two] = [host.session({ caller: 'one' }), host.session({ caller: 'two' })];
  const results = await Promise.all([one.run(give('1')), two.run(give('2'))]);
  expect(results.map(({ ok, state, result }) => ({ ok, state, result }))).toEqual([
    { ok: true, state: 'succeeded', result: 1 },
    { ok: true, state: 'succeeded', result: 2 },
  ]);
  const stop = new AbortController();
  const arrive = `console.log('here'); import { listServers } from '@codemode/discovery'; await listServers();`;
  const ended = await one.run(`${arrive} for (;;) {}`, { signal: stop.signal, onLog: () => stop.abort() });
  expect(ended.diagnostics[0]).toMatchObject({ code: 'CANCELLED' });
  one.close();
});

test('a mistake in the configuration of a program is named by its key [C16]', async () => {
  await expect(createHost({ config: { sandbox: { limits: { memroy: 1 } } } })).rejects.toThrow(
    'config: sandbox.limits.memroy: unknown key; did you mean memory?',
  );
  await expect(createHost({ config: {}, configFile: 'x' })).rejects.toThrow('config or configFile, not both');
  await expect(createHost({ config: {}, tools: { a: { b: {} as never } } })).rejects.toThrow('has no function execute');
});

test('tools of LangChain are a server [C9]', async () => {
  const double = langChainTool(async ({ n }) => ({ twice: n * 2 }), {
    name: 'double',
    description: 'Doubles.',
    schema: z.object({ n: z.number().describe('what is doubled') }),
  });
  const shout = langChainTool(async ({ text }: { text: string }) => text.toUpperCase(), {
    name: 'shout',
    description: 'Shouts.',
    schema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  });
  await host.registerServer({ name: 'chain', tools: fromLangChain([double, shout]) });
  const { result } = await host.run(
    `import { double, shout } from '@codemode/servers/chain'; ${give(`[await double({ n: 21 }), await shout({ text: 'hey' })]`)}`,
  );
  expect(result).toEqual([{ twice: 42 }, 'HEY']);
  expect((await host.tools()).find(({ id }) => id === 'chain.double')).toMatchObject({
    description: 'Doubles.',
    inputSchema: { properties: { n: { type: 'number', description: 'what is doubled' } }, required: ['n'] },
    metadata: { source: 'langchain' },
  });
  await host.unregisterServer('chain');
});

test('schemas of zod 3 keep their types and parse, in functions and in LangChain [C9] [C10]', async () => {
  const input = z3.object({ query: z3.string().trim().describe('words'), limit: z3.number().int().default(50) });
  // Before 3.24 zod was no Standard Schema.
  const old = Object.create(input, { '~standard': { value: undefined } }) as typeof input;
  const told = ({ query, limit }: { query: string; limit: number }) => `${query} ${limit}`;
  await host.registerServer({
    name: 'old',
    tools: { now: defineTool({ input, execute: told }), before: defineTool({ input: old, execute: told }) },
  });
  const schema = input as never;
  const chained = langChainTool(async (given) => told(given), { name: 'chained', description: 'x', schema });
  await host.registerServer({ name: 'oldchain', tools: fromLangChain([chained]) });
  const code =
    'return [await mcp.old.now(" a "), await mcp.old.before({ query: "b" }), await mcp.oldchain.chained("c", 2)]';
  const { result, error } = await host.execute(code, { capabilities: ['mcp:old', 'mcp:oldchain'] });
  expect(result, error?.message).toEqual(['a 50', 'b 50', 'c 2']);
  await expect(host.callTool('old', 'before', { query: 5 })).rejects.toThrow('expected string');
  const inputSchema = {
    type: 'object',
    properties: { query: { type: 'string', description: 'words' }, limit: { type: 'integer', default: 50 } },
    required: ['query'],
  };
  const { tools } = await host.discoverTools();
  for (const id of ['old.now', 'old.before', 'oldchain.chained'])
    expect(tools.get(id)?.inputSchema).toEqual(inputSchema);
  for (const name of ['old', 'oldchain']) await host.unregisterServer(name);
});

test('a model of the AI SDK writes a program and is told its result [C16]', async () => {
  const code = `import { forecast } from '@codemode/servers/weather'; ${give(`await forecast({ city: 'Bergen', day: '2030-01-01' })`)}`;
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  const answers = [
    {
      content: [{ type: 'tool-call', toolCallId: '1', toolName: 'codemode', input: JSON.stringify({ code }) }],
      finishReason: { unified: 'tool-calls' },
    },
    { content: [{ type: 'text', text: 'done' }], finishReason: { unified: 'stop' } },
  ];
  const model = new MockLanguageModelV3({
    doGenerate: async () => ({ ...answers.shift(), usage, warnings: [] }) as never,
  });
  const { text, steps } = await generateText({
    model,
    tools: { codemode: toAiSdkTool(host) as never },
    stopWhen: stepCountIs(3),
    prompt: 'What is the weather?',
  });
  expect(text).toBe('done');
  expect(steps[0]?.toolResults[0]?.output).toEqual({
    result: { city: 'Bergen', year: 2030 },
    logs: [],
    diagnostics: [],
  });
  const [offered] = model.doGenerateCalls[0]?.tools ?? [];
  expect(offered).toMatchObject({ name: 'codemode', inputSchema: { required: ['code'] } });
  expect((offered as { description: string }).description).toContain('forecast');
});

describe("the document's run time", () => {
  const auth = (own: Partial<AuthContext> = {}): AuthContext => ({
    userId: 'ann',
    sessionId: 'one',
    scopes: ['execute'],
    capabilities: ['mcp:weather/forecast'],
    expiresAt: new Date(Date.now() + 60_000),
    ...own,
  });
  const CODE = 'return (await mcp.weather.forecast("Bergen", context.day)).year';
  const options = { capabilities: ['mcp:weather'], context: { day: '2030-01-01', requestId: 'r1' } };

  test('executes the body of a function for somebody, within their capabilities [C16]', async () => {
    expect(
      await host.execute(CODE, { ...options, capabilities: ['mcp:weather/forecast'], auth: auth() }),
    ).toMatchObject({
      success: true,
      result: 2030,
      metrics: { apiCalls: 1 },
      requestId: 'r1',
    });
    const old = 'return await mcp.weather.old(1)';
    expect(await host.execute(old, options)).toMatchObject({ success: true, result: 1 });
    expect(await host.execute(old, { ...options, auth: auth() })).toMatchObject({
      success: false,
      error: { type: 'security', code: 'CAPABILITY_VIOLATION' },
    });
    expect(host.validateCapabilities(auth(), ['mcp:weather/forecast'])).toBe(true);
    expect(host.validateCapabilities(auth(), ['network:example.com'])).toBe(false);
  });

  test.each<[string, Partial<AuthContext>, string?]>([
    ['has expired', { expiresAt: new Date(Date.now() - 1) }, 'expiresAt'],
    ['ends at no time', { expiresAt: new Date(Number.NaN) }, 'expiresAt'],
    ['lacks the scope', { scopes: ['tools', 'approve'] }, 'scope:execute'],
    ['names nobody', { userId: '' }],
    ['grants what is not a capability', { capabilities: ['everything'] }],
  ])('does nothing for a context that %s, and names what it violates [C13] [C16]', async (_, own, violation) => {
    const { success, error } = await host.execute(CODE, { ...options, auth: auth(own) });
    const type = violation === undefined ? 'validation' : 'security';
    expect([success, error?.type, error?.details?.violation]).toEqual([false, type, violation]);
    expect(host.validateCapabilities(auth(own), [])).toBe(false);
  });

  test('gives workers of their own, and ends what runs in one that is destroyed [C16]', async () => {
    const worker = await host.createWorker();
    const before = host.getMetrics();
    expect(await worker.execute('return 1')).toMatchObject({ result: 1 });
    const seen: string[] = [];
    const endless = worker.execute('console.log("on"); await mcp.weather.endless({})', {
      ...options,
      onLog: ({ message }) => seen.push(message),
    });
    await expect.poll(() => seen).toEqual(['on']);
    expect(host.getMetrics().workers.running).toBeGreaterThan(0);
    await host.destroyWorker(worker);
    expect(await endless).toMatchObject({ success: false, error: { code: 'CANCELLED' } });
    await expect(worker.execute('return 1')).rejects.toMatchObject({ code: 'not_found' });
    await expect(host.destroyWorker(worker)).rejects.toMatchObject({ code: 'not_found' });
    const { executions, cpuTime } = host.getMetrics();
    expect(executions.total - before.executions.total).toBe(2);
    expect(executions.failed - before.executions.failed).toBe(1);
    expect(cpuTime).toBeGreaterThan(before.cpuTime);
  });

  test('adapts tools of one protocol or of all, and knows what is none [C9] [C16]', async () => {
    const adapter = new MCPProtocolAdapter(host, 'native');
    const tools = await adapter.discoverTools();
    const forecast = tools.find(({ id }) => id === 'weather.forecast');
    expect(forecast).toMatchObject({ namespace: 'weather', metadata: { source: 'native', tags: ['outdoors'] } });
    expect(await forecast?.execute({ city: 'Bergen', day: '2030-01-01' })).toEqual({ city: 'Bergen', year: 2030 });
    await expect(forecast?.execute({ city: 5 })).rejects.toBeInstanceOf(ToolCallError);
    expect(tools.map((tool) => adapter.validateTool(tool))).toEqual(tools.map(() => true));
    expect(adapter.validateTool({ ...(forecast as UnifiedTool), id: 'forecast' })).toBe(false);
    expect(await new MCPProtocolAdapter(host, 'openapi').discoverTools()).toEqual([]);
    expect(() => adapter.createTool({ name: 'x' })).toThrow('description: ');
  });
});

test.each([
  ['library.mjs', '{"sum":52,"problems":["there is no article kiwis"]}\n'],
  ['openapi.mjs', '["Ulysses"]\n'],
  [
    'unified.mjs',
    '[["Support"],["for user123"],1,"CAPABILITY_VIOLATION"]\n[true,"CAPABILITY_VIOLATION"]\n' +
      '[42,"helpscout.searchInboxes",true,["Sales"]]\n{"total":3,"failed":1}\n',
  ],
])('the example %s does what it says [C16]', (file, printed) => {
  expect(execFileSync(process.execPath, [file], { cwd: EXAMPLES, encoding: 'utf8' })).toBe(printed);
});
