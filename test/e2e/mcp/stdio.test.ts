import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, test } from 'vitest';
import {
  descendantsOf,
  ended,
  everyday,
  type Home,
  nodeServer,
  openHome,
  openStdio,
  packageServer,
  ready,
  run,
  startProgram,
  until,
} from '../../support/program.js';
import { fixture, isAlive } from '../../support/upstreams.js';

const config = { mcpServers: { everyday: everyday() } };
const SLOW = `import { slow } from '@codemode/servers/everyday'; await slow({ ms: 120_000 });`;

/** A client that writes its own JSON. */
function speak(home: Home) {
  const child = startProgram(home, 'mcp');
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
  let stderr = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const say = (message: unknown) =>
    child.stdin?.write(
      `${typeof message === 'string' ? message : JSON.stringify({ jsonrpc: '2.0', ...(message as object) })}\n`,
    );
  const next = async () => JSON.parse((await lines.next()).value as string) as Record<string, unknown>;
  const answerTo = async (id: number) => {
    for (;;) {
      const message = await next();
      if (message['id'] === id)
        return message as { id: number; result?: Record<string, unknown>; error?: { code: number } };
    }
  };
  const initialize = async () => {
    const clientInfo = { name: 'by hand', version: '0' };
    say({ id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo } });
    const answer = await answerTo(1);
    say({ method: 'notifications/initialized' });
    return answer;
  };
  return { child, say, answerTo, initialize, stderr: () => stderr };
}

test('stdout carries the protocol and nothing else, whatever the client sends [X1, X6]', async () => {
  using home = openHome(config);
  const { child, say, answerTo, initialize, stderr } = speak(home);
  expect(await initialize()).toMatchObject({
    result: {
      protocolVersion: '2025-06-18',
      serverInfo: { name: 'codemode' },
      capabilities: { tools: { listChanged: true } },
    },
  });
  for (const noise of ['', 'not json', '{"half":', '[]', '7', '{"jsonrpc":"2.0"}', '{"jsonrpc":"2.0","method":1}'])
    say(noise);
  say({ id: 2, method: 'no/such/method' });
  expect(await answerTo(2)).toMatchObject({ error: { code: -32601 } });
  say({ id: 3, method: 'tools/list', params: { cursor: 'nonsense' } });
  expect(await answerTo(3)).toMatchObject({ error: { code: -32602 } });
  // Every line so far was JSON, or `answerTo` would have thrown.
  say({
    id: 4,
    method: 'tools/call',
    params: { name: 'codemode_run', arguments: { code: "console.log('to the logs')" } },
  });
  expect(await answerTo(4)).toMatchObject({ result: { structuredContent: { logs: [{ message: 'to the logs' }] } } });
  await expect.poll(stderr).toMatch(/isolation (strict|namespaces|none)[\s\S]*servers: everyday/);
  child.stdin?.end();
  expect(await once(child, 'exit')).toEqual([0, null]);
});

test.each(['SIGINT', 'SIGTERM', 'SIGHUP', 'the end of its input', 'a vanished client'] as const)(
  '%s ends it and every process it started, also in the middle of a run [A31]',
  async (how) => {
    using home = openHome(config);
    const { child, say, initialize } = speak(home);
    await initialize();
    say({
      id: 2,
      method: 'tools/call',
      params: {
        name: 'codemode_run',
        arguments: { code: SLOW, limits: { timeoutMs: 120_000 } },
        _meta: { progressToken: 1 },
      },
    });
    let started: number[] = [];
    await until(() => {
      started = descendantsOf(child.pid as number);
      return started.length >= 3;
    });
    if (how === 'the end of its input') child.stdin?.end();
    else if (how === 'a vanished client') for (const end of [child.stdin, child.stdout, child.stderr]) end?.destroy();
    else child.kill(how);
    expect(await once(child, 'exit')).toEqual([0, null]);
    await ended(started);
  },
);

describe('without a jail', () => {
  // The second key is missing, so this is refused on every machine.
  const unsafe = { ...config, sandbox: { isolation: 'none', workers: { min: 1 } } };

  test('it exits with 69 and says what to do after answering the client, and runs nothing', async () => {
    using home = openHome(unsafe);
    const { child, say, answerTo, initialize, stderr } = speak(home);
    expect(await initialize()).toMatchObject({ result: { serverInfo: { name: 'codemode' } } });
    say({ id: 2, method: 'tools/call', params: { name: 'codemode_run', arguments: { code: 'console.log(1)' } } });
    expect(await answerTo(2)).toMatchObject({
      result: { isError: true, structuredContent: { logs: [], diagnostics: [{ code: 'JAIL_UNAVAILABLE' }] } },
    });
    expect(await once(child, 'exit')).toEqual([69, null]);
    expect(stderr()).toContain('sandbox.unsafelyAllowNoJail: true');
    expect(stderr()).not.toContain('isolation none (');
  });

  test.each(['says nothing', 'goes at once'] as const)('it ends with status 69 when the client %s', async (how) => {
    using home = openHome(unsafe);
    const { child, stderr } = speak(home);
    if (how === 'goes at once') child.stdin?.end();
    expect(await once(child, 'exit')).toEqual([69, null]);
    expect(stderr()).toContain('sandbox.unsafelyAllowNoJail: true');
  });
});

test('the first questions are answered from disk while a server hangs [X1]', async () => {
  const folder = openHome({});
  const mood = join(folder.work, 'hang');
  using home = openHome({
    mcpServers: { moody: nodeServer(fixture('moody-server.mjs'), mood), everyday: everyday() },
    defaults: { codeMode: { excludedTools: ['moody/echo'] } },
  });
  {
    await using first = await openStdio(home);
    await until(async () => (await first.client.listTools()).tools.some(({ name }) => name === 'echo'));
  }
  writeFileSync(mood, '');
  expect(existsSync(mood)).toBe(true);
  await using program = await openStdio(home);
  expect((await program.client.listTools()).tools.map(({ name }) => name)).toEqual(['codemode_run', 'echo']);
  const { contents } = await program.client.readResource({ uri: 'codemode://servers/moody/types.d.ts' });
  expect(JSON.stringify(contents)).toContain('function add(');
  // Programs that do not use it are not held up either.
  await ready(program.client, 'everyday');
  const response = await run(
    program.client,
    `import { add } from '@codemode/servers/everyday'; globalThis.__codemode_result__ = await add({ a: 1, b: 1 });`,
  );
  expect(response.result).toEqual({ sum: 2 });
  folder[Symbol.dispose]();
});

test('a server that crashes during a run costs one call and is back for the next [A33]', async () => {
  using home = openHome(config);
  await using program = await openStdio(home);
  await ready(program.client, 'everyday');
  const response = await run(
    program.client,
    `import { crash, echo, pid } from '@codemode/servers/everyday';
     const before = await pid();
     const lost = await crash().catch((error) => error.constructor.name);
     const again = await echo({ message: 'still here' }).catch(() => echo({ message: 'still here' }));
     globalThis.__codemode_result__ = [lost, again, before === await pid()];`,
  );
  expect(response.result).toEqual(['ToolCallError', 'still here', false]);
  expect(isAlive(program.pid)).toBe(true);
});

test('what servers ask is passed on to a client that can answer, with the name of who asks', async () => {
  using home = openHome({
    mcpServers: { everyday: everyday(), everything: packageServer('server-everything', 'stdio') },
  });
  const program = await openStdio(home, 'legacy', { capabilities: { elicitation: {}, sampling: {}, roots: {} } });
  await using _ = program;
  const asked: string[] = [];
  program.client.setRequestHandler('elicitation/create', async ({ params }) => {
    asked.push(params.message);
    return { action: 'accept', content: { sure: true } };
  });
  program.client.setRequestHandler('sampling/createMessage', async () => ({
    model: 'none',
    role: 'assistant',
    content: { type: 'text', text: 'a completion of the client' },
  }));
  program.client.setRequestHandler('roots/list', async () => ({ roots: [{ uri: 'file:///the-folder-in-use' }] }));
  await ready(program.client, 'everyday', 'everything');
  const response = await run(
    program.client,
    `import { confirm } from '@codemode/servers/everyday';
     import * as everything from '@codemode/servers/everything';
     globalThis.__codemode_result__ = [
       await confirm(),
       JSON.stringify(await everything.trigger_sampling_request({ prompt: 'say something', maxTokens: 10 })),
       JSON.stringify(await everything.get_roots_list({})),
     ];`,
    { requestedCapabilities: ['everything'] },
  );
  expect(response).toMatchObject({
    diagnostics: [],
    result: [
      'sure: true',
      expect.stringContaining('a completion of the client'),
      expect.stringContaining('the-folder-in-use'),
    ],
  });
  expect(asked).toEqual(['everyday asks: Are you sure?']);
});

test('a server that asks where no client can answer is told so, and its call fails', async () => {
  using home = openHome(config);
  await using program = await openStdio(home);
  await ready(program.client, 'everyday');
  const response = await run(
    program.client,
    `import { confirm } from '@codemode/servers/everyday';
     globalThis.__codemode_result__ = await confirm().catch((error) => [error.constructor.name, error.message]);`,
  );
  expect(response.result).toEqual(['ToolCallError', expect.stringMatching(/elicit|input|capabilit/i)]);
});
