import { describe, expect, test, vi } from 'vitest';
import { UNUSABLE_INPUT } from '../../src/domain/tool.js';
import type { UpstreamDefinition } from '../../src/domain/upstream.js';
import { changeOf, createRegistry, definition, fixture, isAlive, stdio, textOf } from '../support/upstreams.js';

function awkward(
  registry: ReturnType<typeof createRegistry>,
  mode: string,
  more: Partial<UpstreamDefinition> = {},
  environment = {},
) {
  const [name = 'plain', ...rest] = mode.split(' ');
  return registry.register(
    definition('awkward', stdio(fixture('awkward-server.mjs'), [name, ...rest], environment), more),
  );
}

describe.concurrent('listing tools', () => {
  test('malformed tools are repaired or left out, each with a warning, and the good ones stay', async () => {
    await using registry = createRegistry();
    const adapter = awkward(registry, 'odd-tools');
    const { tools, warnings } = await adapter.listTools();
    const schema = { inputSchema: { type: 'object' } };
    expect(tools).toEqual([
      { serverId: 'awkward', name: 'good', description: 'fine', annotations: { readOnlyHint: true }, ...schema },
      { serverId: 'awkward', name: 'no-schema' },
      { serverId: 'awkward', name: 'null-everything' },
      { serverId: 'awkward', name: 'text-hint', annotations: { destructiveHint: true }, ...schema },
      { serverId: 'awkward', name: 'schema-is-text', inputSchema: UNUSABLE_INPUT },
      { serverId: 'awkward', name: 'array-output', outputSchema: { type: 'array', items: {} }, ...schema },
      { serverId: 'awkward', name: 'a b/c:ü', ...schema },
      { serverId: 'awkward', name: '__proto__', ...schema },
      { serverId: 'awkward', name: 'constructor', ...schema },
    ]);
    expect(warnings).toEqual([
      'a tool is not an object and was left out',
      'a tool has no name and was left out',
      'tool "text-hint": readOnlyHint is neither true nor false and was left out',
      'tool "schema-is-text": its inputSchema is not an object and was left out',
      'tool "good" is listed twice; the first one counts',
      'tool "a b/c:ü": its description is not text and was left out',
      expect.stringMatching(/^tool "x+…" has a name of 600 characters and was left out$/),
    ]);
    expect(adapter.health().warnings).toEqual(warnings);
  });

  test('pages that lead in a circle are read once', async () => {
    await using registry = createRegistry();
    const { tools, warnings } = await awkward(registry, 'cursor-loop').listTools();
    expect(tools.map((tool) => tool.name)).toEqual(['tool-0', 'tool-1', 'tool-2', 'tool-3']);
    expect(warnings).toEqual([
      'the list of tools leads back to a page that was read already; reading stopped after 4 pages',
    ]);
  });

  test.each([
    ['4000', 'it lists more than 10000 tools'],
    ['1', 'it lists its tools on more than 1000 pages'],
  ])('an endless list in pages of %s quarantines its server, with the reason', async (size, reason) => {
    await using registry = createRegistry();
    const adapter = awkward(registry, `pages ${size}`);
    await expect(adapter.listTools()).rejects.toThrow(reason);
    expect(adapter.health()).toMatchObject({ state: 'quarantined' });
    expect(adapter.health().reason).toMatch(new RegExp(`^${reason}; it is not used again before [\\d:]+ UTC$`));
    await expect(adapter.listTools()).rejects.toThrow('it is not used again before');
    expect(await adapter.call({ tool: 'x', arguments: {} })).toMatchObject({ failure: { kind: 'not_sent' } });
  });

  test('a listing that is not a list gives no tools, and a server without tools is not an error', async () => {
    await using first = createRegistry();
    expect(await awkward(first, 'no-list').listTools()).toEqual({
      tools: [],
      warnings: ['a page of tools has no list in it'],
    });
    await using second = createRegistry();
    expect(await awkward(second, 'no-tools').listTools()).toEqual({ tools: [], warnings: [] });
  });

  test('a changed list is announced and read again', async () => {
    await using registry = createRegistry();
    const adapter = awkward(registry, 'changing');
    expect((await adapter.listTools()).tools.map((tool) => tool.name)).toEqual(['version-0']);
    const changed = changeOf(adapter);
    await adapter.call({ tool: 'change', arguments: {} });
    await changed;
    expect((await adapter.listTools()).tools.map((tool) => tool.name)).toEqual(['version-1']);
  });
});

describe.concurrent('answers', () => {
  const reply = (content: unknown, more: object = {}) => ({
    status: 'answered',
    reply: { content, isError: false, ...more },
  });
  const text = (value: string) => ({ type: 'text', text: value });

  test('odd results are brought to one shape', async () => {
    await using registry = createRegistry();
    const adapter = awkward(registry, 'plain');
    const call = (tool: string) => adapter.call({ tool, arguments: {} });
    expect(await call('string')).toEqual(reply([text('just text')]));
    expect(await call('nothing')).toEqual(reply([], { hasNoContent: true }));
    expect(await call('structured')).toEqual(reply([], { structuredContent: { a: 1 }, hasNoContent: true }));
    expect(await call('array')).toEqual(reply([], { structuredContent: [1, 2] }));
    expect(await call('legacy')).toEqual(reply([], { structuredContent: { a: 1 }, hasNoContent: true }));
    expect(await call('video')).toEqual(
      reply([{ type: 'video', url: 'x' }, text('loose'), text('7'), text('{"text":"no type"}')]),
    );
    expect(await call('truthy')).toEqual(reply([]));
    expect(await call('text-id')).toEqual(reply([]));
    expect(await call('batch')).toEqual(reply([]));
  });

  test('errors of the protocol keep their code and data, and a bare string is an error too', async () => {
    await using registry = createRegistry();
    const adapter = awkward(registry, 'plain');
    expect(await adapter.call({ tool: 'protocol-error', arguments: {} })).toEqual({
      status: 'failed',
      failure: {
        kind: 'refused',
        mayHaveRun: true,
        code: -32042,
        message: expect.stringContaining('sign in first'),
        data: { url: 'https://x' },
      },
    });
    expect(await adapter.call({ tool: 'string-error', arguments: {} })).toMatchObject({
      failure: { kind: 'refused', message: expect.stringContaining('it broke') },
    });
  });

  test('an answer that is not a message does not hold a call longer than its time', async () => {
    await using registry = createRegistry();
    const adapter = awkward(registry, 'plain', { callTimeoutMs: 5_000 });
    await adapter.connect();
    expect(await adapter.call({ tool: 'null-result', arguments: {} })).toMatchObject({
      failure: { kind: 'invalid_reply' },
    });
    expect(await adapter.call({ tool: 'never', arguments: {} })).toMatchObject({
      failure: { kind: 'timeout', mayHaveRun: true },
    });
  });

  test('keys that aim at prototypes stay plain data', async () => {
    await using registry = createRegistry();
    const outcome = await awkward(registry, 'plain').call({ tool: 'proto', arguments: {} });
    const structured = outcome.status === 'answered' ? (outcome.reply.structuredContent as object) : {};
    expect(Object.getOwnPropertyNames(structured)).toEqual(['__proto__', 'constructor']);
    expect(Object.getPrototypeOf(structured)).toBe(Object.prototype);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  test('a tool that answers as a task is waited for, and its task is cancelled with the call', async () => {
    await using registry = createRegistry();
    const adapter = awkward(registry, 'tasks');
    await adapter.listTools();
    expect(await adapter.call({ tool: 'job', arguments: { polls: 3 } })).toEqual(
      reply([text('the job is done')], { taskId: 'task-1' }),
    );
    // Long enough for the server to have named the task: without its name nothing can be cancelled.
    const outcome = await adapter.call({ tool: 'job', arguments: { polls: 1_000_000 }, timeoutMs: 1_000 });
    expect(outcome).toMatchObject({ failure: { kind: 'timeout', mayHaveRun: true } });
    const cancelled = async () => textOf(await adapter.call({ tool: 'cancelled', arguments: {} }));
    await vi.waitFor(async () => expect(await cancelled()).toBe('1'), { timeout: 20_000 });
  });
});

describe.concurrent('the handshake', () => {
  test('a server that dies of a question before the handshake is started again without one', async () => {
    await using registry = createRegistry();
    expect(await awkward(registry, 'dies-of-questions').connect()).toMatchObject({
      name: 'awkward',
      protocolVersion: '2025-06-18',
    });
  });

  test('a server that ignores questions before the handshake is taken for an older one', async () => {
    await using registry = createRegistry();
    expect(await awkward(registry, 'ignores-questions', { connectTimeoutMs: 2_000 }).connect()).toMatchObject({
      protocolVersion: '2025-06-18',
    });
  });

  test('a handshake with missing names is completed', async () => {
    await using registry = createRegistry();
    expect(await awkward(registry, 'nameless').connect()).toEqual({
      name: 'unnamed',
      version: 'unknown',
      protocolVersion: '2025-06-18',
      transport: 'stdio',
    });
  });

  test('noise on stdout is passed over, and kept as a warning that shows terminal codes', async () => {
    await using registry = createRegistry();
    const adapter = awkward(registry, 'noise');
    expect((await adapter.listTools()).tools).toHaveLength(1);
    const { warnings } = adapter.health();
    expect(warnings).toContain('not a message: Welcome to the awkward server!');
    expect(warnings).toContain('not a message: \\u001b[31mred\\u001b[0m');
    expect(warnings).toContain('not a message: DEBUG: handling a request');
  });

  test('a server that never answers is given up in time, and its process is gone', async () => {
    await using registry = createRegistry();
    const adapter = awkward(registry, 'mute', { connectTimeoutMs: 400 });
    await expect(adapter.connect()).rejects.toMatchObject({
      code: 'upstream_unavailable',
      message: expect.stringMatching(/no answer for 400 ms \(mcpServers\.awkward\.connectTimeout/),
    });
    expect(adapter.health()).toMatchObject({ state: 'failed' });
  });

  test('a server that cannot start says why, without its secrets', async () => {
    await using registry = createRegistry();
    const adapter = awkward(registry, 'crash-on-start', {}, { API_TOKEN: 'hunter2hunter2' });
    const failure = await adapter.connect().catch((error: Error) => error);
    expect((failure as Error).message).toMatch(
      /^server "awkward": the process ended with exit code 1; stderr: no configuration for \*\*\*, giving up/,
    );
    expect(JSON.stringify([failure, adapter.health()])).not.toContain('hunter2');
  });

  test('a loop over a server that is down does not start it again and again', async () => {
    await using registry = createRegistry();
    const adapter = awkward(registry, 'crash-on-start');
    await adapter.connect().catch(() => undefined);
    const states: string[] = [];
    adapter.onEvent((event) => event.type === 'state' && states.push(event.health.state));
    for (let n = 0; n < 20; n += 1)
      expect(await adapter.call({ tool: 'x', arguments: {} })).toMatchObject({
        failure: { kind: 'not_sent', mayHaveRun: false },
      });
    expect(states).toEqual([]);
  });

  test('an endless line ends the server, not us', async () => {
    await using registry = createRegistry({ maxMessageBytes: 5_000_000 });
    await expect(awkward(registry, 'huge-line').connect()).rejects.toThrow('a message is longer than 5000000 bytes');
  });
});

test.concurrent('a server that ignores every request to stop is killed with everything it started', async () => {
  const registry = createRegistry();
  const adapter = awkward(registry, 'stubborn');
  const [server = 0, descendant = 0] = JSON.parse(
    String(textOf(await adapter.call({ tool: 'descendant', arguments: {} }))),
  ) as number[];
  expect([isAlive(server), isAlive(descendant)]).toEqual([true, true]);
  await registry.close();
  await vi.waitFor(() => expect([isAlive(server), isAlive(descendant)]).toEqual([false, false]));
});

test.concurrent('what a crashed server left behind is ended too', async () => {
  await using registry = createRegistry();
  const adapter = awkward(registry, 'stubborn');
  const pids = JSON.parse(String(textOf(await adapter.call({ tool: 'descendant', arguments: {} })))) as number[];
  await adapter.call({ tool: 'crash', arguments: {} });
  await vi.waitFor(() => expect(pids.map(isAlive)).toEqual([false, false]));
});

test.concurrent('a server that is busy for long is not taken for dead', async () => {
  await using registry = createRegistry();
  const adapter = awkward(registry, 'noise');
  await adapter.connect();
  expect(await adapter.call({ tool: 'never', arguments: {}, timeoutMs: 300 })).toMatchObject({
    failure: { kind: 'timeout' },
  });
  expect(adapter.health()).toMatchObject({ state: 'ready', losses: 0 });
});

test.concurrent('questions that nobody answers are refused with a clear error', async () => {
  await using registry = createRegistry();
  const answer = JSON.parse(String(textOf(await awkward(registry, 'plain').call({ tool: 'ask', arguments: {} }))));
  expect(answer).toEqual({
    code: -32601,
    message: 'this client does not answer sampling/createMessage; it was not among the capabilities it announced',
  });
});
