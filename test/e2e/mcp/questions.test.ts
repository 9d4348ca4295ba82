import type { Client } from '@modelcontextprotocol/client';
import { describe, expect, test } from 'vitest';
import {
  type ClientOptions,
  type Era,
  everyday,
  nodeServer,
  openHome,
  openStdio,
  packageServer,
  ready,
  run,
  startServe,
  until,
} from '../../support/program.js';
import { atDesk } from '../../support/rest.js';
import { fixture, startHttpServer } from '../../support/upstreams.js';

/** Over HTTP people are asked in clients of this token. */
const DESK = { security: { auth: { tokens: [atDesk('desk')] } } };
const ASKING = { ...DESK, mcpServers: { asking: nodeServer(fixture('asking-server.mjs')) } };
const CAPABLE: ClientOptions = { capabilities: { elicitation: {}, sampling: {}, roots: {} } };
const call = (tool: string, input: object = {}) =>
  `import * as asking from '@codemode/servers/asking';
   globalThis.__codemode_result__ = JSON.parse(await asking.${tool}(${JSON.stringify(input)}));`;

/** A client with a user: what it was asked, and its answers with its own name in them. */
function answering(client: Client, name: string): string[] {
  const asked: string[] = [];
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    asked.push(params.message);
    return { action: 'accept', content: { sure: true, by: name } };
  });
  client.setRequestHandler('sampling/createMessage', async () => {
    asked.push('sampling');
    return { model: 'none', role: 'assistant', content: { type: 'text', text: `completed by ${name}` } };
  });
  client.setRequestHandler('roots/list', async () => {
    asked.push('roots');
    return { roots: [{ uri: `file:///${name}` }] };
  });
  return asked;
}

describe.each(['legacy', 'modern'] as const)('over HTTP, clients of the %s era', (era: Era) => {
  test('the client whose call is under way is asked, and the others never are', async () => {
    using home = openHome(ASKING);
    await using server = await startServe(home);
    await using mine = await server.connect(era, CAPABLE, 'desk');
    await using theirs = await server.connect(era, CAPABLE, 'desk');
    const [askedMe, askedThem] = [answering(mine.client, 'me'), answering(theirs.client, 'them')];
    await Promise.all([ready(mine.client, 'asking'), ready(theirs.client, 'asking')]);
    const results = [];
    for (const kind of ['elicitation', 'sampling', 'roots'])
      results.push((await run(mine.client, call('ask', { kind }))).result);
    expect(results).toEqual([
      { action: 'accept', content: { sure: true, by: 'me' } },
      { model: 'none', role: 'assistant', content: { type: 'text', text: 'completed by me' } },
      { roots: [{ uri: 'file:///me' }] },
    ]);
    expect(askedMe).toEqual(['asking asks: Are you sure?', 'sampling', 'roots']);
    expect((await run(theirs.client, call('ask', { kind: 'roots' }))).result).toEqual({
      roots: [{ uri: 'file:///them' }],
    });
    expect(askedThem).toEqual(['roots']);
  });

  test('nobody is asked while calls of two clients are under way on one process', async () => {
    using home = openHome(ASKING);
    await using server = await startServe(home);
    await using mine = await server.connect(era, CAPABLE, 'desk');
    await using theirs = await server.connect(era, CAPABLE, 'desk');
    const asked = [answering(mine.client, 'me'), answering(theirs.client, 'them')];
    await ready(mine.client, 'asking');
    const held = run(theirs.client, call('hold'));
    await until(async () => (await run(mine.client, call('held'))).result === 1);
    expect((await run(mine.client, call('ask', { kind: 'elicitation' }))).result).toEqual({
      error: expect.stringMatching(/calls of several clients are in progress/),
    });
    expect(asked).toEqual([[], []]);
    await run(mine.client, call('let_go'));
    expect((await held).result).toBe('let go');
    expect((await run(mine.client, call('ask', { kind: 'sampling' }))).result).toMatchObject({ role: 'assistant' });
    expect(asked).toEqual([['sampling'], []]);
  });

  test('a server is told which capability its client lacks', async () => {
    using home = openHome(ASKING);
    await using server = await startServe(home);
    await using connected = await server.connect(era, { capabilities: { elicitation: {} } }, 'desk');
    await ready(connected.client, 'asking');
    const errorOf = async (kind: string) => (await run(connected.client, call('ask', { kind }))).result;
    for (const [kind, capability] of [
      ['sampling', 'sampling'],
      ['roots', 'roots'],
      ['link', 'elicitation.url'],
    ] as const)
      expect(await errorOf(kind)).toEqual({
        error: `the client that the call is made for does not support ${capability}`,
      });
  });

  test('a question of a newer-era server goes to its call, even with other calls in flight', async () => {
    using home = openHome({ ...DESK, mcpServers: { everyday: everyday() } });
    await using server = await startServe(home);
    await using mine = await server.connect(era, CAPABLE, 'desk');
    await using theirs = await server.connect(era, CAPABLE, 'desk');
    const asked = [answering(mine.client, 'me'), answering(theirs.client, 'them')];
    await ready(mine.client, 'everyday');
    const meet = run(theirs.client, `import { meet } from '@codemode/servers/everyday'; await meet({ count: 2 });`);
    const { result } = await run(
      mine.client,
      `import { confirm, meet } from '@codemode/servers/everyday';
       const both = await Promise.all([confirm(), confirm()]);
       await meet({ count: 2 });
       globalThis.__codemode_result__ = both;`,
    );
    await meet;
    expect(result).toEqual(['sure: true', 'sure: true']);
    expect(asked).toEqual([['everyday asks: Are you sure?', 'everyday asks: Are you sure?'], []]);
  });
});

test('over Streamable HTTP a question goes to its own client, so two clients are asked at once', async () => {
  await using upstream = await startHttpServer('sessions');
  using home = openHome({ ...DESK, mcpServers: { everyday: { url: `http://127.0.0.1:${upstream.port}/mcp` } } });
  await using server = await startServe(home);
  const eras = ['legacy', 'modern'] as const;
  const clients = await Promise.all(eras.map((era) => server.connect(era, CAPABLE, 'desk')));
  const asked = clients.map(({ client }, who) => answering(client, String(who)));
  for (const { client } of clients) await ready(client, 'everyday');
  const code = `import { confirm, meet } from '@codemode/servers/everyday';
    const [met, sure] = await Promise.all([meet({ count: 2 }), confirm()]);
    globalThis.__codemode_result__ = [met, sure];`;
  const answers = await Promise.all(clients.map(({ client }) => run(client, code)));
  expect(answers.map(({ result }) => result)).toEqual(eras.map(() => ['met', 'sure: true']));
  expect(asked).toEqual(eras.map(() => ['everyday asks: Are you sure?']));
  for (const { client } of clients) await client.close();
});

test('the reference server "everything" gets completions, answers and roots from an HTTP client', async () => {
  using home = openHome({ ...DESK, mcpServers: { everything: packageServer('server-everything', 'stdio') } });
  await using server = await startServe(home);
  await using connected = await server.connect('legacy', CAPABLE, 'desk');
  answering(connected.client, 'me');
  await ready(connected.client, 'everything');
  const { result, diagnostics } = await run(
    connected.client,
    `import * as everything from '@codemode/servers/everything';
     globalThis.__codemode_result__ = [
       JSON.stringify(await everything.trigger_sampling_request({ prompt: 'say something', maxTokens: 10 })),
       JSON.stringify(await everything.trigger_elicitation_request({})),
       JSON.stringify(await everything.get_roots_list({})),
     ];`,
  );
  expect(diagnostics).toEqual([]);
  expect(result).toEqual([
    expect.stringContaining('completed by me'),
    expect.stringContaining('sure'),
    expect.stringContaining('file:///me'),
  ]);
});

test.each(['legacy', 'modern'] as const)('a tool that is called directly asks its client too (%s era)', async (era) => {
  using home = openHome({ ...ASKING, defaults: { codeMode: { excludedTools: ['ask'] } } });
  await using server = await startServe(home);
  await using connected = await server.connect(era, CAPABLE, 'desk');
  answering(connected.client, 'me');
  await until(async () => (await connected.client.listTools()).tools.some(({ name }) => name === 'ask'));
  const result = await connected.client.callTool({ name: 'ask', arguments: { kind: 'elicitation' } });
  expect(JSON.stringify(result.content)).toContain('me');
});

test.each(['legacy', 'modern'] as const)('over stdio a client of the %s era is asked too', async (era) => {
  using home = openHome(ASKING);
  await using program = await openStdio(home, era, CAPABLE);
  const asked = answering(program.client, 'me');
  await ready(program.client, 'asking');
  const both = await Promise.all([
    run(program.client, call('ask', { kind: 'elicitation' })),
    run(program.client, call('ask', { kind: 'sampling' })),
  ]);
  expect(both.map(({ result }) => result)).toMatchObject([{ action: 'accept' }, { role: 'assistant' }]);
  expect(asked.sort()).toEqual(['asking asks: Are you sure?', 'sampling']);
});

test('over stdio a server learns which questions its client answers, and no others', async () => {
  using home = openHome(ASKING);
  await using program = await openStdio(home, 'legacy', { capabilities: { roots: {} } });
  await ready(program.client, 'asking');
  expect((await run(program.client, call('answers'))).result).toEqual([{ announced: ['roots'] }]);
});

test.each(['legacy', 'modern'] as const)(
  'what a person takes to answer is not the time of the program or of the call (%s era)',
  async (era) => {
    const upstream = nodeServer(fixture('asking-server.mjs'));
    using home = openHome({ ...DESK, mcpServers: { asking: { ...upstream, timeout: '700ms' } } });
    await using server = await startServe(home);
    await using connected = await server.connect(era, CAPABLE, 'desk');
    connected.client.setRequestHandler('elicitation/create', async () => {
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      return { action: 'decline' };
    });
    await ready(connected.client, 'asking');
    const code = call('ask', { kind: 'elicitation' });
    const { result } = await run(connected.client, code, { limits: { timeoutMs: 1_000 } });
    expect(result).toEqual({ action: 'decline' });
  },
);
