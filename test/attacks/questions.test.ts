import type { Client } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import {
  type ClientOptions,
  nodeServer,
  openHome,
  openStdio,
  ready,
  run,
  startServe,
  until,
} from '../support/program.js';
import { atDesk } from '../support/rest.js';
import { fixture, isAlive } from '../support/upstreams.js';

/** A server that wants something of a user who did not call it, or asks too often. */
const asking = (...words: string[]) => ({
  mcpServers: { asking: nodeServer(fixture('asking-server.mjs'), ...words) },
  security: { auth: { tokens: [atDesk('desk')] } },
});
const CAPABLE: ClientOptions = { capabilities: { elicitation: {}, sampling: {}, roots: {} } };
const call = (tool: string, input: object = {}) =>
  `import * as asking from '@codemode/servers/asking';
   globalThis.__codemode_result__ = JSON.parse(await asking.${tool}(${JSON.stringify(input)}));`;

/** Counts what a user is asked, and answers it when `answer` lets it. */
function watched(client: Client, answer: Promise<void> = Promise.resolve()) {
  const seen = { open: 0, most: 0, asked: [] as string[], cancelled: 0 };
  client.setRequestHandler('elicitation/create', async ({ params }, { mcpReq }) => {
    seen.asked.push(params.message);
    seen.most = Math.max(seen.most, ++seen.open);
    mcpReq.signal.addEventListener('abort', () => seen.cancelled++);
    await answer;
    seen.open--;
    return { action: 'accept', content: { sure: true } };
  });
  client.setRequestHandler('sampling/createMessage', async () => {
    seen.asked.push('sampling');
    return { model: 'none', role: 'assistant', content: { type: 'text', text: 'completed' } };
  });
  client.setRequestHandler('roots/list', async () => {
    seen.asked.push('roots');
    return { roots: [{ uri: 'file:///secret-folder' }] };
  });
  return seen;
}

const answersOf = async (client: Client) => (await run(client, call('answers'))).result as unknown[];

test('a server that asks without a call asks nobody over HTTP, and only for folders over stdio', async () => {
  using home = openHome(asking('ask-at-start'));
  await using server = await startServe(home);
  await using connected = await server.connect('legacy', CAPABLE, 'desk');
  const overHttp = watched(connected.client);
  await ready(connected.client, 'asking');
  await until(async () => (await answersOf(connected.client)).length === 4);
  const refusal = expect.stringMatching(/no call is in progress/);
  expect((await answersOf(connected.client)).slice(1)).toEqual([refusal, refusal, refusal]);
  expect(overHttp.asked).toEqual([]);

  using other = openHome(asking('ask-at-start'));
  await using program = await openStdio(other, 'legacy', CAPABLE);
  const overStdio = watched(program.client);
  await ready(program.client, 'asking');
  await until(async () => (await answersOf(program.client)).length === 4);
  expect((await answersOf(program.client)).filter((answer) => typeof answer === 'string')).toEqual([refusal, refusal]);
  expect(overStdio.asked).toEqual(['roots']);
});

test('a flood of questions reaches a user sixteen at a time at most, and the rest is refused', async () => {
  using home = openHome(asking());
  await using program = await openStdio(home, 'legacy', CAPABLE);
  let answer = () => {};
  const seen = watched(program.client, new Promise((resolve) => (answer = resolve)));
  await ready(program.client, 'asking');
  const flooded = run(program.client, call('ask_at_once', { kind: 'elicitation', count: 2_000 }));
  await until(() => seen.open === 16);
  answer();
  const answers = (await flooded).result as { error?: string }[];
  expect(answers.filter(({ error }) => error === undefined).length).toBeLessThanOrEqual(50);
  // Those that are read once the first were answered are too many for one call.
  const refused = answers.filter(({ error }) => /at a time|at most 50 questions/.test(error ?? ''));
  expect(refused.length).toBeGreaterThanOrEqual(1_950);
  expect(seen.most).toBe(16);
});

test('a server that asks on and on is answered fifty times in one call', async () => {
  using home = openHome(asking());
  await using program = await openStdio(home, 'legacy', CAPABLE);
  const seen = watched(program.client);
  await ready(program.client, 'asking');
  expect((await run(program.client, call('ask_forever', { kind: 'elicitation' }))).result).toEqual({ asked: 60 });
  expect(seen.asked).toHaveLength(50);
  expect(await answersOf(program.client)).toContain('at most 50 questions are answered in one call');
});

test('a question of 10 MB is refused before it is shown', async () => {
  using home = openHome(asking());
  await using program = await openStdio(home, 'legacy', CAPABLE);
  const seen = watched(program.client);
  await ready(program.client, 'asking');
  for (const kind of ['elicitation', 'sampling']) {
    const { result } = await run(program.client, call('ask_large', { kind, length: 10_000_000 }));
    expect(result).toEqual({ error: expect.stringMatching(/may have \d+ characters/) });
  }
  expect(seen.asked).toEqual([]);
});

test('a question after the answer reaches nobody', async () => {
  using home = openHome(asking());
  await using program = await openStdio(home, 'legacy', CAPABLE);
  const seen = watched(program.client);
  await ready(program.client, 'asking');
  expect((await run(program.client, call('ask_after_answer', { kind: 'elicitation' }))).result).toBe('answered');
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(await answersOf(program.client)).toEqual([
    expect.objectContaining({ announced: expect.anything() }),
    expect.stringMatching(/no call is in progress/),
  ]);
  expect(seen.asked).toEqual([]);
});

test('a question about a call that was cancelled is not put to the next client', async () => {
  using home = openHome(asking());
  await using server = await startServe(home);
  await using mine = await server.connect('legacy', CAPABLE, 'desk');
  await using theirs = await server.connect('legacy', CAPABLE, 'desk');
  const seen = [watched(mine.client), watched(theirs.client)];
  await ready(mine.client, 'asking');
  const held = run(theirs.client, call('hold'));
  await until(async () => (await run(mine.client, call('held'))).result === 1);
  const given = new AbortController();
  const cancelled = run(mine.client, call('ask_when_cancelled', { kind: 'elicitation' }), {}, { signal: given.signal });
  setTimeout(() => given.abort(), 300);
  await expect(cancelled).rejects.toThrow();
  await until(async () => (await answersOf(mine.client)).length === 2);
  expect((await answersOf(mine.client))[1]).toMatch(/calls of several clients/);
  await run(mine.client, call('let_go'));
  await held;
  expect(seen.map(({ asked }) => asked)).toEqual([[], []]);
});

test('a question that is still open when its call ends is taken back', async () => {
  using home = openHome(asking());
  await using program = await openStdio(home, 'legacy', CAPABLE);
  const seen = watched(program.client, new Promise(() => {}));
  await ready(program.client, 'asking');
  const given = new AbortController();
  const cancelled = run(program.client, call('ask', { kind: 'elicitation' }), {}, { signal: given.signal });
  await until(() => seen.open === 1);
  given.abort();
  await expect(cancelled).rejects.toThrow();
  await until(() => seen.cancelled === 1);
  expect(isAlive(program.pid)).toBe(true);
});

test.each(['legacy', 'modern'] as const)(
  'no address of a server starts a program, and no field is hidden: %s',
  async (era) => {
    using home = openHome(asking());
    await using server = await startServe(home);
    const capabilities = { elicitation: { form: {}, url: {} } };
    await using connected = await server.connect(era, { capabilities }, 'desk');
    const shown: unknown[] = [];
    connected.client.setRequestHandler('elicitation/create', async ({ params }) => {
      shown.push('url' in params ? params.url : params.message);
      return { action: 'decline' };
    });
    await ready(connected.client, 'asking');
    const ask = async (kind: string, text: string) =>
      (await run(connected.client, call('ask', { kind, text }))).result as unknown;
    const refused = { error: expect.stringMatching(/is not shown to a person/) };
    for (const url of ['javascript:alert(1)', 'file:///etc/passwd', 'vscode://x', 'https://example.com@evil.example/'])
      expect(await ask('link', url)).toEqual(refused);
    expect(await ask('link', 'https://exam\u200bple.com/')).toEqual(refused);
    expect(await ask('form', 'amount\n\u202e')).toEqual(refused);
    expect(shown).toEqual([]);
    expect(await ask('link', 'https://example.com/a')).toEqual({ action: 'decline' });
    expect(await ask('form', 'amount')).toEqual({ action: 'decline' });
    expect(shown).toEqual(['https://example.com/a', 'asking asks: Fill in']);
  },
);

test('a round of the newer era that is made up, changed or used again answers nothing', async () => {
  using home = openHome(asking());
  await using server = await startServe(home);
  await using connected = await server.connect('modern', CAPABLE, 'desk');
  await ready(connected.client, 'asking');
  const request = { name: 'codemode_run', arguments: { code: call('ask', { kind: 'elicitation' }) } };
  const step = async (more: object) =>
    (await connected.client.callTool({ ...request, ...more } as never, { allowInputRequired: true })) as unknown as {
      requestState?: string;
      inputRequests?: Record<string, { method: string }>;
      structuredContent?: { result: unknown };
      isError?: boolean;
    };
  const { requestState = '', inputRequests = {} } = await step({});
  const [name = ''] = Object.keys(inputRequests);
  expect(inputRequests[name]).toMatchObject({ method: 'elicitation/create' });
  const inputResponses = { [name]: { action: 'accept', content: { sure: true } } };
  await expect(step({ requestState: `${requestState.slice(0, -4)}AAAA`, inputResponses })).rejects.toThrow();
  // What is not an answer leaves the question as it is.
  const again = await step({
    requestState,
    inputResponses: { [name]: { action: 'steal' }, other: { action: 'accept' } },
  });
  expect(Object.keys(again.inputRequests ?? {})).toEqual([name]);
  const { structuredContent } = await step({ requestState, inputResponses });
  expect(structuredContent?.result).toEqual({ action: 'accept', content: { sure: true } });
  expect(await step({ requestState, inputResponses })).toMatchObject({ isError: true });
});
