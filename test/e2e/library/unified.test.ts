import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { z as z3 } from 'zod/v3';
import type { AuthContext, CodemodeHost, ExecutionRequest, UnifiedTool } from '../../../src/index.js';
import { typeCheckPrograms } from '../../support/type-check.js';

/** The contract `unified` through the built library: its own shapes, and values that are not among them. */
const library = (await import(
  new URL('../../../dist/index.js', import.meta.url).href
)) as typeof import('../../../src/index.js');
const { createHost, ErrorType, MCPProtocolAdapter, TypeScriptAPIGenerator, zodFromJsonSchema } = library;
const EVERYDAY = fileURLToPath(new URL('../../fixtures/everyday-server.mjs', import.meta.url));

let host: CodemodeHost;
beforeAll(async () => {
  const search = {
    description: 'Search for inboxes',
    input: {
      type: 'object',
      properties: {
        query: { type: 'string', description: 'Words', pattern: '^[a-z]+$' },
        limit: { type: 'number', default: 50 },
      },
      required: ['query'],
    },
    output: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] } },
    annotations: { readOnlyHint: true },
    execute: ({ query }: { query?: unknown }) => [{ name: String(query) }],
  };
  host = await createHost({
    config: { security: { capabilities: { network: { allowedHosts: ['api.helpscout.net'] } } } },
    tools: {
      'help-scout': { 'search-inboxes': search, 'old.one': { deprecated: true, execute: () => 1 } },
      a: { 'b.c': { execute: () => 'of a' } },
      'a.b': { c: { execute: () => 'of a.b' } },
    },
  });
});
afterAll(() => host.close());

const bad = (place: string) => expect.objectContaining({ code: 'bad_input', message: expect.stringContaining(place) });
/** What is thrown, now or later. */
const thrown = async (work: () => unknown): Promise<unknown> => {
  try {
    await work();
  } catch (error) {
    return error;
  }
  return 'nothing was thrown';
};

describe('names', () => {
  test('id is server.tool, and namespace and method are what code writes [C2] [C9]', async () => {
    const { servers, tools, namespaces } = await host.discoverTools();
    const found = tools.get('help-scout.search-inboxes');
    expect(found).toMatchObject({
      id: 'help-scout.search-inboxes',
      name: 'search-inboxes',
      serverName: 'help-scout',
      namespace: 'helpScout',
      methodName: 'searchInboxes',
    });
    expect(servers.get('help-scout')).toMatchObject({ namespace: 'helpScout', path: 'help-scout' });
    expect(namespaces.get('helpScout')).toEqual(['help-scout.search-inboxes', 'help-scout.old.one']);
    const code = `return await mcp.${found?.namespace}.${found?.methodName}('support')`;
    expect(await host.execute(code, { capabilities: ['mcp:help-scout'] })).toMatchObject({
      result: [{ name: 'support' }],
    });
  });

  test('two tools whose ids are written the same are both there [C9]', async () => {
    const { tools } = await host.discoverTools();
    const ids = [...tools].filter(([id]) => id.startsWith('a.')).map(([id, tool]) => [id, tool.serverName, tool.name]);
    expect(ids).toEqual([
      ['a.b.c', 'a', 'b.c'],
      ['a.b.c__2', 'a.b', 'c'],
    ]);
    expect([await host.callTool('a', 'b.c'), await host.callTool('a.b', 'c')]).toEqual(['of a', 'of a.b']);
  });

  test('callTool takes the names that code writes too [C7]', async () => {
    expect(await host.callTool('helpScout', 'searchInboxes', { query: 'x' })).toEqual([{ name: 'x' }]);
    expect(await host.callTool('help-scout', 'search-inboxes', { query: 'x' })).toEqual([{ name: 'x' }]);
  });
});

test("callTool in profile unified follows the contract's rates, times, codes and values [C7] [C13]", async () => {
  let [now, most] = [0, 0];
  const work = async () => {
    most = Math.max(most, ++now);
    await new Promise((resolve) => setTimeout(resolve, 20));
    now--;
    return '{"a":[1]}';
  };
  const fail = () => {
    throw new Error('no');
  };
  await using own = await createHost({
    config: { profile: 'unified', security: { capabilities: { mcp: { timeoutPerCall: 150 } } } },
    tools: {
      t: { work: { execute: work }, hang: { execute: () => new Promise(() => {}) }, fail: { execute: fail } },
    },
  });
  const calls = await Promise.allSettled(Array.from({ length: 6 }, () => own.callTool('t', 'work')));
  const values = calls.map((call) =>
    call.status === 'fulfilled' ? call.value : (call.reason as { code: string }).code,
  );
  expect(values).toEqual([...Array(5).fill({ a: [1] }), 'RATE_LIMITED']);
  expect(most).toBe(3);
  const [session, worker] = [own.session({ caller: 'another' }), await own.createWorker()];
  for (const [name, code] of [
    ['hang', 'TOOL_TIMEOUT'],
    ['fail', 'TOOL_CALL_FAILED'],
  ] as const) {
    expect(await thrown(() => session.callTool('t', name))).toMatchObject({ name: 'ToolCallError', code });
    const { error } = await worker.execute(`return await mcp.t.${name}()`, { capabilities: ['mcp:t'] });
    expect(error?.code).toBe(code);
  }
  const { result } = await worker.execute('return await mcp.t.work()', { capabilities: ['mcp:t'] });
  expect(result).toEqual({ a: [1] });
});

describe('the adapter', () => {
  const definition = {
    name: 'search-inboxes',
    serverName: 'help-scout',
    description: 'Finds',
    inputSchema: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
    namespace: 'helpScout',
  };

  test("makes a tool of the contract's ToolInfo [C9] [C16]", async () => {
    const tool = new MCPProtocolAdapter(host).createTool(definition);
    expect(tool).toMatchObject({
      id: 'help-scout.search-inboxes',
      name: 'search-inboxes',
      namespace: 'helpScout',
      description: definition.description,
      metadata: { source: 'mcp', version: '1.0', tags: [] },
    });
    expect(await tool.execute({ query: 'x' })).toEqual([{ name: 'x' }]);
    await expect(tool.execute({ query: 5 })).rejects.toMatchObject({ code: 'INVALID_ARGUMENTS' });
  });

  test('gives schemas that parse as zod does, and are the JSON Schema of the server [C9]', async () => {
    const [tool] = (await new MCPProtocolAdapter(host).discoverTools()) as [UnifiedTool];
    expect(tool.inputSchema.parse({ query: 'abc' })).toEqual({ query: 'abc' });
    expect(tool.inputSchema.safeParse({ query: 5 })).toMatchObject({
      success: false,
      error: { issues: [{ path: ['query'], message: 'expected string, received number 5' }] },
    });
    expect(tool.inputSchema.safeParse(undefined).success).toBe(false);
    expect(tool.inputSchema.safeParse({ query: 'ABC' }).success).toBe(false);
    expect(() => tool.inputSchema.parse({})).toThrow('query');
    expect(tool.outputSchema?.safeParse([{ name: 'x' }]).success).toBe(true);
    // It is one of zod's own: it can be a part of others.
    const around = z.object({ args: tool.inputSchema as unknown as z.ZodType });
    expect(around.safeParse({ args: {} }).success).toBe(false);
    expect(z.toJSONSchema(around)).toMatchObject({ properties: { args: { required: ['query'] } } });
  });

  test('gives schemas that say the same however often they are read [C9]', async () => {
    const json = { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] };
    const schema = zodFromJsonSchema(json) as unknown as z.ZodType;
    const read = [1, 2].map(() => z.toJSONSchema(schema));
    expect(read.map(({ required, properties }) => [required, properties])).toEqual(
      Array(2).fill([['query'], json.properties]),
    );
    expect(json).toEqual({ type: 'object', properties: { query: { type: 'string' } }, required: ['query'] });
    // A second host, and a second text.
    const tools = await new MCPProtocolAdapter(host, 'native').discoverTools();
    const written = () => new TypeScriptAPIGenerator().generateAPI(tools).replace(/^.*Generated at.*$/m, '');
    expect([written(), written()]).toEqual(Array(2).fill(expect.stringContaining('searchInboxes(query: string')));
    for (const name of ['first', 'second']) {
      await host.registerServer({ name, tools: tools.filter((tool) => tool.name === 'search-inboxes') });
      expect(await thrown(() => host.callTool(name, 'search-inboxes', { query: 5 }))).toMatchObject({
        code: 'INVALID_ARGUMENTS',
      });
      await host.unregisterServer(name);
    }
  });

  test('gives a tool for each of the registry [C9]', async () => {
    const [{ tools }, adapted] = await Promise.all([
      host.discoverTools(),
      new MCPProtocolAdapter(host).discoverTools(),
    ]);
    expect(adapted.map(({ id }) => id).sort()).toEqual([...tools.keys()].sort());
  });

  test('keeps the version that a tool has, also when its tools are given to a host [C9]', async () => {
    const adapter = new MCPProtocolAdapter(host);
    const tool = adapter.createTool({ ...definition, version: '2.3.1' });
    expect(tool.metadata).toEqual({ source: 'mcp', version: '2.3.1', tags: [] });
    await host.registerServer({
      name: 'versioned',
      tools: [tool, { ...tool, id: 'x.y', name: 'y', metadata: { ...tool.metadata, version: '7' } }],
    });
    const { tools } = await host.discoverTools();
    const versions = ['search-inboxes', 'y'].map((name) => tools.get(`versioned.${name}`)?.metadata.version);
    expect(versions).toEqual(['2.3.1', '7']);
    await host.unregisterServer('versioned');
    expect(await thrown(() => adapter.createTool({ ...definition, version: 2 }))).toEqual(bad('version'));
  });

  test("adapts an aggregator of one's own, whose tools say no more than they must [C9]", async () => {
    const calls: unknown[] = [];
    const adapter = new MCPProtocolAdapter({
      discoverTools: async () => ({
        servers: new Map(),
        tools: new Map([['x', definition]]),
        namespaces: new Map([['helpScout', ['x']]]),
      }),
      callTool: async (...call: unknown[]) => calls.push(call),
    });
    const [tool] = (await adapter.discoverTools()) as [UnifiedTool];
    await tool.execute({ query: 'a' });
    expect(calls).toEqual([['help-scout', 'search-inboxes', { query: 'a' }]]);
    expect(adapter.validateTool(tool)).toBe(true);
  });

  test.each([
    [undefined, 'the tool'],
    [null, 'the tool'],
    ['x', 'the tool'],
    [{}, 'name'],
    [{ ...definition, serverName: '' }, 'serverName'],
    [{ ...definition, description: 1 }, 'description'],
    [{ ...definition, namespace: undefined }, 'namespace'],
    [{ ...definition, inputSchema: 'object' }, 'inputSchema'],
    [{ ...definition, inputSchema: { type: () => 1 } }, 'inputSchema.type'],
    [{ ...definition, outputSchema: [] }, 'outputSchema'],
    [{ ...definition, metadata: { source: 'soap', version: '1', tags: [] } }, 'metadata.source'],
  ])('createTool answers %j with a coded error [C9]', async (given, place) => {
    expect(await thrown(() => new MCPProtocolAdapter(host).createTool(given))).toEqual(bad(place));
  });

  test('validateTool says no to what is none, and never throws [C9]', () => {
    const adapter = new MCPProtocolAdapter(host);
    const tool = adapter.createTool(definition);
    const ofOwn = { ...tool, inputSchema: z3.object({}), outputSchema: z.string() };
    const wrong = [undefined, null, 5, [], {}, { ...tool, id: 'other' }, { ...tool, id: '.search-inboxes' }];
    const throwing = new Proxy(tool, {
      get: () => {
        throw new Error('not a tool');
      },
    });
    const more = [
      throwing,
      { ...tool, metadata: { ...tool.metadata, rateLimit: 5 } },
      { ...tool, metadata: { ...tool.metadata, auth: 'basic' } },
      { ...tool, inputSchema: {} },
      { ...tool, execute: 1 },
      { ...tool, metadata: {} },
      { ...tool, name: '' },
    ];
    expect([tool, ofOwn, ...wrong, ...more].map((each) => adapter.validateTool(each as never))).toEqual([
      true,
      true,
      ...[...wrong, ...more].map(() => false),
    ]);
  });

  test.each([undefined, null, 5, {}, { discoverTools: () => {} }])(
    '%j is refused as an aggregator [C9]',
    async (given) => {
      expect(await thrown(() => new MCPProtocolAdapter(given as never))).toEqual(bad('aggregator'));
    },
  );

  test.each([undefined, null, 5, {}, { tools: {} }])(
    '%j is refused as what an aggregator discovers [C9]',
    async (given) => {
      const aggregator = { discoverTools: async () => given, callTool: async () => 1 };
      const adapter = new MCPProtocolAdapter(aggregator as never);
      expect(await thrown(() => adapter.discoverTools())).toEqual(bad('tools'));
    },
  );

  test('a source and a JSON Schema that are none are refused with a coded error [C9]', async () => {
    expect(await thrown(() => new MCPProtocolAdapter(host, 'soap' as never))).toEqual(bad('source'));
    for (const given of ['x', null, []])
      expect(await thrown(() => zodFromJsonSchema(given as never))).toEqual(bad('zodFromJsonSchema'));
  });
});

describe('servers', () => {
  test("registerServer takes the contract's MCPServerConfig, with what is left out [C7]", async () => {
    const config = { name: 'local', transport: 'stdio', command: process.execPath, args: [EVERYDAY] } as const;
    const rest = {
      url: undefined,
      environment: undefined,
      auth: undefined,
      timeout: undefined,
      retryPolicy: undefined,
    };
    await host.registerServer({ ...config, ...rest });
    expect(await host.callTool('local', 'echo', { message: 'hi' })).toBe('hi');
    await host.unregisterServer('local');
  });

  test("registerServer takes the tools of one's own adapter [C7] [C9]", async () => {
    const own: UnifiedTool = {
      id: 'mail.count-words',
      name: 'count-words',
      description: 'Counts',
      namespace: 'mail',
      inputSchema: z3.object({ text: z3.string().trim(), least: z3.number().default(1) }),
      outputSchema: z.object({ count: z.number() }),
      execute: async (args) => {
        const { text, least } = args as { text: string; least: number };
        return { count: text.split(' ').filter((word) => word.length >= least).length };
      },
      metadata: { source: 'native', version: '1.0', tags: ['text'], deprecated: true },
    };
    await host.registerServer({ name: 'mail', tools: [own] });
    const code = 'return (await mcp.mail.countWords(" a bb ccc ", 2)).count';
    expect(await host.execute(code, { capabilities: ['mcp:mail'] })).toMatchObject({ success: true, result: 2 });
    expect((await host.discoverTools()).tools.get('mail.count-words')).toMatchObject({
      inputSchema: { required: ['text'] },
      outputSchema: { required: ['count'] },
      metadata: { tags: ['text'], deprecated: true },
    });
    await host.unregisterServer('mail');
    for (const [tools, place] of [
      [[{}], 'tools of "mail": tool 0 is not a UnifiedTool'],
      [[own, own], 'tools of "mail": there are two tools'],
    ] as const)
      expect(await thrown(() => host.registerServer({ name: 'mail', tools }))).toEqual(bad(place));
    for (const tools of [null, 5, [{}]])
      expect(await thrown(() => createHost({ config: {}, tools: { mail: tools as never } }))).toEqual(
        bad('tools of "mail"'),
      );
  });

  test.each([
    [undefined, 'an object'],
    [null, 'an object'],
    [[], 'an object'],
    [{}, 'name'],
    [{ name: 5, transport: 'stdio', command: 'x' }, 'name'],
    [{ name: 'a/b', transport: 'stdio', command: 'x' }, 'name'],
    [{ name: 'x', transport: 'pigeon', command: 'x' }, 'Unsupported transport: pigeon'],
    [{ name: 'x', transport: 'stdio' }, 'command: is missing, and transport stdio needs it'],
    [{ name: 'x', transport: 'websocket', command: 'x' }, 'url: is missing, and transport websocket needs it'],
    [{ name: 'x' }, 'expected command'],
    [{ name: 'x', transport: 'http', url: 5 }, 'url'],
    [{ name: 'x', transport: 'http', url: 'http://x', timeout: -1 }, 'timeout'],
    [{ name: 'x', transport: 'http', url: 'http://x', retryPolicy: { maxAttempts: 'a' } }, 'retryPolicy'],
    [{ name: 'x', tools: 5 }, 'tools'],
    [{ name: 'x', tools: null }, 'tools'],
  ])('registerServer answers %j with a coded error [C7]', async (config, place) => {
    expect(await thrown(() => host.registerServer(config as never))).toEqual(bad(place));
  });

  test('callTool says that a server cannot be reached, not that it lacks the tool [C7]', async () => {
    await host.registerServer({ name: 'gone', transport: 'websocket', url: 'ws://127.0.0.1:1/' });
    await expect(host.callTool('gone', 'x', {})).rejects.toMatchObject({
      code: 'upstream_unavailable',
      message: expect.stringMatching(/^server "gone": (?!server).*cannot be reached/),
    });
    await host.unregisterServer('gone');
  });

  test.each([
    [[undefined, 'x'], 'name of a server'],
    [['help-scout', undefined], 'name of a tool'],
    [['help-scout', 'search-inboxes', 5n], 'args is a bigint'],
    [['help-scout', 'search-inboxes', { at: [() => 1] }], 'args.at[0] is a function'],
    [['help-scout', 'search-inboxes', { n: Number.NaN }], 'args.n is NaN'],
  ])('callTool answers an invalid call with a coded error (%#) [C7]', async (call, place) => {
    expect(await thrown(() => host.callTool(...(call as [string, string])))).toEqual(bad(place));
  });
});

describe('capabilities', () => {
  const auth = (own: Partial<AuthContext> = {}): AuthContext => ({
    userId: 'ann',
    sessionId: 'one',
    scopes: ['execute'],
    capabilities: {
      mcp: { allowedServers: ['help-scout', 'a'], allowedTools: ['help-scout/search-inboxes'] },
      network: { allowedHosts: ['api.helpscout.net'] },
    },
    expiresAt: new Date(Date.now() + 60_000),
    ...own,
  });

  test.each<[ExecutionRequest, Partial<AuthContext>, boolean]>([
    [{ needsNetwork: false, mcpCalls: [] }, {}, true],
    [{ needsNetwork: false, mcpCalls: [] }, { capabilities: {} }, true],
    [{ needsNetwork: true, mcpCalls: [] }, {}, true],
    [{ needsNetwork: true, mcpCalls: [] }, { capabilities: {} }, false],
    [{ needsNetwork: false, mcpCalls: [{ serverName: 'help-scout' }, { serverName: 'a' }] }, {}, true],
    [{ needsNetwork: false, mcpCalls: [{ serverName: 'help-scout' }, { serverName: 'b' }] }, {}, false],
    [{ needsNetwork: false, mcpCalls: [{ serverName: 'a' }] }, { capabilities: {} }, false],
    [{ mcpCalls: [{ serverName: 'help-scout', toolName: 'search-inboxes' }] }, {}, true],
    [{ mcpCalls: [{ serverName: 'help-scout', toolName: 'delete' }] }, {}, false],
    [{ needsNetwork: false, mcpCalls: [] }, { expiresAt: new Date(0) }, false],
    [{ capabilities: { system: { clock: true } } }, { capabilities: { system: { clock: true } } }, false],
  ])("validateCapabilities takes the contract's request: %j, %j [C6]", (request, own, expected) => {
    expect(host.validateCapabilities(auth(own), request)).toBe(expected);
  });

  test.each([
    [undefined, [], 'the AuthContext'],
    [{}, [], 'userId'],
    [{ ...auth(), scopes: 'execute' }, [], 'scopes'],
    [{ ...auth(), expiresAt: '2040-01-01' }, [], 'expiresAt: must be a Date'],
    [auth(), undefined, 'the request: is missing'],
    [auth(), null, 'the request: is missing'],
    [auth(), 5, 'capabilities'],
    [auth(), ['everything'], 'kind:target'],
    [auth(), { mcpCalls: [{}] }, 'mcpCalls.0.serverName'],
    [auth(), { needsNetwork: 'yes' }, 'needsNetwork'],
  ])(
    'validateCapabilities answers what it cannot read with a coded error (%#) [C6]',
    async (context, request, place) => {
      expect(await thrown(() => host.validateCapabilities(context as never, request as never))).toEqual(bad(place));
    },
  );

  test('system capabilities are read, and refused by their names [C6]', async () => {
    const run = (capabilities: unknown) => host.execute('return 1', { capabilities: capabilities as never });
    expect(await run({ system: {} })).toMatchObject({ success: true, result: 1 });
    for (const asked of [{ system: { clock: {} } }, ['system:clock']])
      expect((await run(asked)).error).toMatchObject({
        type: ErrorType.SECURITY,
        code: 'CAPABILITY_VIOLATION',
        details: { violation: 'system:clock' },
      });
    expect((await run({ system: 5 })).error).toMatchObject({ type: 'validation', code: 'VALIDATION_ERROR' });
  });
});

describe('execute', () => {
  test('a run whose AuthContext expires calls nothing more [C6]', async () => {
    const code = `for (;;) {
      await mcp.helpScout.searchInboxes('x');
      await new Promise((resolve) => setTimeout(resolve, 300));
    }`;
    const capabilities = ['mcp:help-scout'];
    const context = { userId: 'u', sessionId: 's', scopes: ['execute'], capabilities };
    const auth = { ...context, expiresAt: new Date(Date.now() + 1_500) };
    expect(await host.execute(code, { auth, capabilities })).toMatchObject({
      success: false,
      error: { code: 'UNAUTHORIZED', message: expect.stringContaining('has expired') },
      metrics: { apiCalls: expect.any(Number) },
    });
  });

  test('an error has its time as a Date, and the request id of its context [C13] [C16]', async () => {
    const { error } = await host.execute('throw new Error("x")', { context: { requestId: 'r9' } });
    expect(error).toMatchObject({ type: ErrorType.RUNTIME, message: 'x', requestId: 'r9' });
    expect(error?.timestamp).toBeInstanceOf(Date);
    expect(Math.abs(Date.now() - (error?.timestamp.getTime() ?? 0))).toBeLessThan(60_000);
  });

  test('a limit that was reached is named as the request names it [C13]', async () => {
    const { error } = await host.execute('const a = []; for (;;) a.push(new Array(1e5).fill(1.5))', {
      memoryLimit: 8e6,
    });
    expect(error).toMatchObject({ type: ErrorType.MEMORY, code: 'MEMORY_LIMIT' });
    expect(error?.details?.hint).toBe('Raise memoryLimit.');
  });

  test('context is data: what JSON writes of it arrives, the rest is refused [C2]', async () => {
    const context = { userId: 'u', at: new Date(0), left: undefined, list: [{ n: 1 }] };
    expect((await host.execute('return context', { context })).result).toEqual({
      userId: 'u',
      at: '1970-01-01T00:00:00.000Z',
      list: [{ n: 1 }],
    });
    const circle: Record<string, unknown> = { requestId: 'r1' };
    circle.self = circle;
    for (const [wrong, place] of [
      [circle, 'context.self contains itself'],
      [{ n: 5n }, 'context.n is a bigint'],
      [{ map: new Map() }, 'context.map is a Map'],
    ] as const)
      expect((await host.execute('return 1', { context: wrong })).error).toMatchObject({
        type: 'validation',
        message: expect.stringContaining(place),
      });
    expect((await host.execute('return 1', { context: circle })).requestId).toBe('r1');
  });

  test.each([null, 5, [], { signal: 5 }, { onLog: 1 }, { auth: null }, { auth: {} }])(
    'options %j are refused in a result [C1]',
    async (options) => {
      const worker = await host.createWorker();
      for (const place of [host, worker])
        expect(await place.execute('return 1', options as never)).toMatchObject({
          success: false,
          error: { type: 'validation', code: 'VALIDATION_ERROR' },
          logs: [],
        });
      await host.destroyWorker(worker);
    },
  );
});

describe('the API generator', () => {
  const generator = new TypeScriptAPIGenerator();
  const DEFINITIONS = {
    helpscout: {
      namespace: 'helpscout',
      description: 'Customer support',
      methods: {
        searchInboxes: {
          description: 'Finds inboxes',
          parameters: [
            { name: 'query', type: 'string', required: true, description: 'Words' },
            { name: 'limit', type: 'number', required: false, default: 50, description: 'How many' },
          ],
          returnType: 'InboxResult[]',
          examples: ['await mcp.helpscout.searchInboxes("support")', 'await mcp.helpscout.searchInboxes("sales", 10)'],
        },
      },
    },
  } as const;
  const compile = (api: string, program: string) =>
    typeCheckPrograms(
      new Map([
        ['/api.d.ts', api],
        ['/program.ts', `import type {} from './api.js';\nexport async function run() { ${program} }`],
      ]),
    );

  test("writes the contract's header, and an API under the names that code calls [C10]", async () => {
    const text = generator.generateAPI(await new MCPProtocolAdapter(host).discoverTools());
    const [first, second, ...rest] = text.split('\n');
    expect(first).toBe('// Auto-generated TypeScript API for Code Mode');
    expect(second).toMatch(/^\/\/ Generated at: \d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect(rest.join('\n')).toContain('export interface UnifiedAPI {\n  helpScout: typeof Namespace1;');
    expect(text).toContain('@deprecated');
    // Everything that it names is declared in it, so nothing has to be imported.
    expect(text).not.toMatch(/^import /m);
    expect(
      compile(text, 'const [inbox] = await mcp.helpScout.searchInboxes("x", 1); return inbox?.name.length;'),
    ).toEqual([]);
    expect(compile(text, 'await mcp.helpScout.searchInboxes(5);')).not.toEqual([]);
  });

  test('writes definitions by hand, with their examples [C10]', () => {
    const text = generator.generateAPI(DEFINITIONS);
    expect(text).toContain('@example await mcp.helpscout.searchInboxes("sales", 10)');
    expect(text).toContain('Customer support');
    expect(text).toContain('searchInboxes(query: string, limit?: number): Promise<InboxResult[]>');
    expect(compile(text, 'const found = await mcp.helpscout.searchInboxes("sales", 10); return found.length;')).toEqual(
      [],
    );
    expect(compile(text, 'await mcp.helpscout.searchInboxes(5);')).not.toEqual([]);
  });

  test('types that a person wrote are kept where JSON can hold them, and are unknown elsewhere [C10]', () => {
    const written = (type: string) => {
      const parameters = [{ name: 'q', type, required: true, description: '' }];
      const methods = { m: { description: '', parameters, returnType: 'void' } };
      const { namespaces, types } = generator.defineAPI({ x: { namespace: 'x', description: '', methods } });
      return [namespaces.x?.methods.m?.parameters[0]?.type.replace(/\s+/g, ' '), ...Object.keys(types)];
    };
    expect(
      [
        ...['Promise<Inbox[]>', 'Array<Inbox>', 'Record<string, number>', '(string | number)[]', '[string, Inbox]'],
        ...['{ a: string; b?: 1 | null }', 'number | undefined', 'readonly true[]', 'Date', 'Map<string, Inbox>'],
        ...['string; evil()', '() => void', '{ a', '('.repeat(5_000), '{'.repeat(40)],
      ].map(written),
    ).toEqual([
      ['Inbox[]', 'Inbox'],
      ['Inbox[]', 'Inbox'],
      ['{ [key: string]: number }'],
      ['Array<string | number>'],
      ['[string, Inbox]', 'Inbox'],
      ['{ a: string; b?: 1 | null }'],
      ['number'],
      ['true[]'],
      ...Array(7).fill(['unknown']),
    ]);
  });

  test('gives an API as data [C10]', () => {
    expect(generator.defineAPI(DEFINITIONS)).toEqual({
      namespaces: {
        helpscout: {
          name: 'helpscout',
          description: 'Customer support',
          methods: {
            searchInboxes: {
              name: 'searchInboxes',
              description: 'Finds inboxes',
              parameters: [
                { name: 'query', type: 'string', optional: false, description: 'Words' },
                { name: 'limit', type: 'number', optional: true, description: 'How many', default: 50 },
              ],
              returnType: 'InboxResult[]',
              examples: DEFINITIONS.helpscout.methods.searchInboxes.examples,
            },
          },
        },
      },
      types: { InboxResult: { name: 'InboxResult', code: 'type InboxResult = Record<string, unknown>;' } },
      imports: [],
    });
  });

  test('an API as data keeps whole types, and declares each name that it writes [C10]', () => {
    const tree: z.ZodType = z.lazy(() => z.object({ value: z.number(), next: tree.optional() }).meta({ id: 'Tree' }));
    const inputSchema = z.object({ size: z.tuple([z.string(), z.number()]), tree });
    const outputSchema = z3.array(z3.object({ id: z3.string(), more: z3.record(z3.number()).optional() }));
    const tool = { id: 's.t', name: 't', description: '', namespace: 's', inputSchema, outputSchema };
    const metadata = { source: 'native', version: '1', tags: [] } as const;
    const { types, namespaces } = generator.defineAPI([{ ...tool, metadata, execute: async () => 1 } as never]);
    const method = namespaces.s?.methods.t;
    expect(method?.parameters.map(({ type }) => type)).toEqual(['[string, number]', 'Tree']);
    expect(method?.returnType.replace(/\s+/g, ' ')).toBe('Array<{ id: string; more?: { [key: string]: number } }>');
    expect(Object.values(types).map(({ code }) => code.replace(/\s+/g, ' '))).toEqual([
      'type Tree = { value: number; next?: Tree };',
    ]);
  });

  test('takes tools with schemas of either zod, and words that try to leave their comment [C10]', () => {
    const tool = (name: string, own: object): UnifiedTool => ({
      id: `x.${name}`,
      name,
      description: '*/ process.exit() /*',
      namespace: 'my space',
      inputSchema: z.object({ n: z.number() }),
      execute: async () => 1,
      metadata: { source: 'native', version: '1', tags: [] },
      ...own,
    });
    const text = generator.generateAPI([tool('one', {}), tool('two', { inputSchema: z3.object({ s: z3.string() }) })]);
    expect(compile(text, 'await mcp.mySpace.one({ n: 1 }); await mcp.mySpace.two("s");')).toEqual([]);
  });

  test.each([
    [undefined, 'the definitions'],
    [5, 'the definitions'],
    [[{}], 'tool 0'],
    [{ x: {} }, 'x.methods'],
    [{ x: { methods: { y: { parameters: [{ name: 1 }] } } } }, 'x.methods.y.parameters.0.name'],
    [{ x: { methods: { y: { parameters: [], returnType: 5 } } } }, 'x.methods.y.returnType'],
  ])('answers %j with a coded error [C10]', async (given, place) => {
    expect(await thrown(() => generator.generateAPI(given as never))).toEqual(bad(place));
  });
});
