import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { UpstreamTarget } from '../../src/domain/targets/targets.js';
import type { Adapter } from '../../src/upstream/adapter.js';
import { changeOf, createRegistry, definition, fixture, startHttpServer, stdio, textOf } from '../support/upstreams.js';

const PROTOCOL_BY_HAND = 'everyday-server.mjs';
const PROTOCOL_BY_SDK = 'everyday-sdk-server.mjs';

const TRANSPORTS = [
  { name: 'stdio', script: PROTOCOL_BY_SDK, protocolVersion: '2026-07-28', transport: 'stdio' },
  { name: 'stdio, from our own fixture', script: PROTOCOL_BY_HAND, protocolVersion: '2026-07-28', transport: 'stdio' },
  { name: 'stateless HTTP', mode: 'stateless', protocolVersion: '2026-07-28', transport: 'streamable-http' },
  { name: 'HTTP with sessions', mode: 'sessions', protocolVersion: '2025-11-25', transport: 'streamable-http' },
  { name: 'HTTP with server-sent events', mode: 'sse', protocolVersion: '2025-11-25', transport: 'sse' },
  { name: 'a WebSocket', mode: 'websocket', protocolVersion: '2025-11-25', transport: 'websocket' },
] as const;

describe.each(TRANSPORTS)('over $name', ({ protocolVersion, transport, ...how }) => {
  const mode = 'mode' in how ? how.mode : undefined;
  const registry = createRegistry({ audience: { announced: () => ['elicitation'], onlyClient: () => undefined } });
  const capabilities = { elicitation: {} };
  const respondent = {
    key: 'client',
    caller: 'caller',
    capabilities,
    answer: async () => ({ action: 'accept', content: { sure: true } }),
  };
  let server: Awaited<ReturnType<typeof startHttpServer>> | undefined;
  let adapter: Adapter;
  let target: UpstreamTarget;
  beforeAll(async () => {
    if (mode !== undefined) server = await startHttpServer(mode);
    target =
      'script' in how
        ? stdio(fixture(how.script))
        : mode === 'websocket'
          ? { kind: 'websocket', url: `ws://127.0.0.1:${server?.port}/mcp`, headers: {} }
          : { kind: 'http', url: `http://127.0.0.1:${server?.port}/mcp`, headers: {}, flavour: 'auto' };
    adapter = registry.register(definition('everyday', target));
  });
  afterAll(async () => {
    await registry.close();
    await server?.stop();
  });

  test('a server is connected at its first use, in its own protocol era', async () => {
    expect(adapter.health().state).toBe('idle');
    const identity = {
      name: 'everyday',
      version: '1.2.3',
      instructions: 'Everyday tools.',
      protocolVersion,
      transport,
    };
    expect(await adapter.connect()).toEqual(identity);
    expect(adapter.health()).toMatchObject({ state: 'ready', identity, warnings: [], losses: 0 });
  });

  test('its tools are listed with schemas and annotations', async () => {
    const { tools, warnings } = await adapter.listTools();
    expect(warnings).toEqual([]);
    expect(tools.map((tool) => tool.name)).toContain('slow');
    expect(tools.find((tool) => tool.name === 'echo')).toMatchObject({
      serverId: 'everyday',
      description: 'Says it again.',
      inputSchema: { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] },
      annotations: { readOnlyHint: true },
    });
  });

  test('a call gives content, structured content and the verdict of the tool', async () => {
    expect(await adapter.call({ tool: 'add', arguments: { a: 1, b: 2 } })).toMatchObject({
      status: 'answered',
      reply: { content: [{ type: 'text', text: '3' }], structuredContent: { sum: 3 }, isError: false },
    });
    expect(await adapter.call({ tool: 'fail', arguments: {} })).toMatchObject({
      status: 'answered',
      reply: { isError: true },
    });
    expect(await adapter.call({ tool: 'image', arguments: {} })).toMatchObject({
      reply: { content: [{ type: 'image', mimeType: 'image/png' }] },
    });
  });

  test('a tool that asks the user gets the answer of the handler', async () => {
    expect(textOf(await adapter.call({ tool: 'confirm', arguments: {}, respondent }))).toBe('sure: true');
  });

  test('a result of 30 MB arrives whole', async () => {
    const text = textOf(await adapter.call({ tool: 'big', arguments: { bytes: 30_000_000 } }));
    expect(String(text).length).toBe(30_000_000);
  });

  test('a message beyond the limit fails its call and not the program', async () => {
    await using strict = createRegistry({ maxMessageBytes: 1_000_000 });
    const limited = strict.register(definition('limited', target));
    const outcome = await limited.call({ tool: 'big', arguments: { bytes: 5_000_000 } });
    expect(outcome).toMatchObject({ status: 'failed', failure: { mayHaveRun: true } });
    expect(textOf(await limited.call({ tool: 'echo', arguments: { message: 'on' } }))).toBe('on');
  });

  test('a call reports progress', async () => {
    const reports: unknown[] = [];
    const outcome = await adapter.call({
      tool: 'slow',
      arguments: { ms: 20 },
      onProgress: (progress) => reports.push(progress),
    });
    expect(textOf(outcome)).toBe('done');
    expect(reports).toEqual([{ progress: 1, total: 2, message: 'half' }]);
  });

  test('a cancelled call ends at once, and the server is told', async () => {
    const before = Number(textOf(await adapter.call({ tool: 'cancellations', arguments: {} })));
    const controller = new AbortController();
    const outcome = await adapter.call({
      tool: 'slow',
      arguments: { ms: 60_000 },
      signal: controller.signal,
      onProgress: () => controller.abort(),
    });
    expect(outcome).toEqual({
      status: 'failed',
      failure: { kind: 'cancelled', mayHaveRun: true, message: 'the call was cancelled' },
    });
    await expect
      .poll(async () => Number(textOf(await adapter.call({ tool: 'cancellations', arguments: {} }))))
      .toBe(before + 1);
  });

  test('a call that takes too long is given up, and may have taken effect', async () => {
    const outcome = await adapter.call({ tool: 'slow', arguments: { ms: 60_000 }, timeoutMs: 100 });
    expect(outcome).toMatchObject({ status: 'failed', failure: { kind: 'timeout', mayHaveRun: true } });
    expect(textOf(await adapter.call({ tool: 'echo', arguments: { message: 'still here' } }))).toBe('still here');
  });

  test('arguments that the tool does not take are reported by the tool', async () => {
    const outcome = await adapter.call({ tool: 'add', arguments: { a: 'x' } });
    expect(outcome).toMatchObject(
      outcome.status === 'failed' ? { failure: { kind: 'refused' } } : { reply: { isError: true } },
    );
  });

  test('many calls at once do not get in each other’s way', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, (_, n) => adapter.call({ tool: 'echo', arguments: { message: `m${n}` } })),
    );
    expect(outcomes.map(textOf)).toEqual(Array.from({ length: 50 }, (_, n) => `m${n}`));
  });

  test('news of changed tools arrive', async () => {
    const changed = changeOf(adapter);
    if (mode === 'stateless') await fetch(`http://127.0.0.1:${server?.port}/change`);
    else await adapter.call({ tool: 'grow', arguments: { name: 'grown' } });
    await changed;
    if (mode !== 'stateless') expect((await adapter.listTools()).tools.map((tool) => tool.name)).toContain('grown');
  });
});

test('our own fixture lists the same tools as the official SDK', async () => {
  await using registry = createRegistry();
  const [own, official] = await Promise.all(
    [PROTOCOL_BY_HAND, PROTOCOL_BY_SDK].map((script) =>
      registry.register(definition(script.replace('.mjs', ''), stdio(fixture(script)))).listTools(),
    ),
  );
  const listed = (listing: typeof own) => listing?.tools.map(({ serverId, ...tool }) => tool);
  expect(listed(own)).toEqual(listed(official));
});

test('several servers work side by side, and one that cannot start costs the others nothing', async () => {
  await using registry = createRegistry();
  for (const id of ['one', 'two', 'three']) registry.register(definition(id, stdio(fixture(PROTOCOL_BY_HAND))));
  registry.register(
    definition('broken', { kind: 'stdio', command: 'no-such-program', arguments: [], environment: {} }),
  );
  const listed = await registry.listAll();
  expect(listed.map(({ id, listing }) => [id, listing?.tools.length])).toEqual([
    ['one', 14],
    ['two', 14],
    ['three', 14],
    ['broken', undefined],
  ]);
  expect(listed[3]?.problem).toMatchObject({
    code: 'upstream_unavailable',
    message: 'server "broken": command not found: no-such-program; install it, or correct `command` of this server',
  });
  const pids = await Promise.all(
    ['one', 'two', 'three'].map(async (id) => textOf(await registry.get(id).call({ tool: 'pid', arguments: {} }))),
  );
  expect(new Set(pids).size).toBe(3);
});

test('servers come and go at run time', async () => {
  await using registry = createRegistry();
  const events: string[] = [];
  registry.onEvent((event) => event.type !== 'state' && events.push(`${event.type} ${event.id}`));
  registry.register(definition('a', stdio(fixture(PROTOCOL_BY_HAND))));
  expect(() => registry.register(definition('a', stdio(fixture(PROTOCOL_BY_HAND))))).toThrow(
    'a server called "a" exists already',
  );
  const adapter = registry.get('a');
  await adapter.connect();
  await registry.unregister('a');
  expect(adapter.health().state).toBe('closed');
  expect(await adapter.call({ tool: 'echo', arguments: {} })).toMatchObject({
    failure: { kind: 'not_sent', mayHaveRun: false },
  });
  expect(() => registry.get('a')).toThrow('there is no server called "a"; there are: none');
  expect(events).toEqual(['registered a', 'unregistered a']);
});

test('a server process sees its own variables and the few that are meant for all, nothing else', async () => {
  await using registry = createRegistry({ baseEnvironment: { PATH: process.env.PATH ?? '', LANG: 'C' } });
  const adapter = registry.register(definition('a', stdio(fixture(PROTOCOL_BY_HAND), [], { MINE: 'yes' })));
  const read = async (name: string) => textOf(await adapter.call({ tool: 'environment', arguments: { name } }));
  expect([await read('MINE'), await read('LANG'), await read('HOME'), await read('VITEST')]).toEqual([
    'yes',
    'C',
    'unset',
    'unset',
  ]);
});
