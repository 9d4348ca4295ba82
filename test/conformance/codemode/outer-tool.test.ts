import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  call,
  type Era,
  everyday,
  openHome,
  openStdio,
  packageServer,
  ready,
  run,
  startServe,
} from '../../support/program.js';

/** Each dialogue through every surface, in both eras of the protocol. */
const SURFACES: readonly { surface: 'stdio' | 'http'; era: Era }[] = [
  { surface: 'stdio', era: 'legacy' },
  { surface: 'stdio', era: 'modern' },
  { surface: 'http', era: 'legacy' },
  { surface: 'http', era: 'modern' },
];

describe.each(SURFACES)('over $surface in the $era era', ({ surface, era }) => {
  let client: Client;
  const opened: AsyncDisposable[] = [];
  const home = openHome({
    mcpServers: {
      everyday: everyday(),
      everything: packageServer('server-everything', 'stdio'),
      broken: { command: 'no-such-program-anywhere' },
    },
  });
  beforeAll(async () => {
    if (surface === 'stdio') {
      const program = await openStdio(home, era);
      opened.push(program);
      client = program.client;
    } else {
      const server = await startServe(home);
      const connected = await server.connect(era);
      opened.push(server, connected);
      client = connected.client;
    }
    await ready(client, 'everyday', 'everything');
  });
  afterAll(async () => {
    for (const each of opened.reverse()) await each[Symbol.asyncDispose]();
    home[Symbol.dispose]();
  });

  test('one tool is listed, with schemas for its request and its response [A1]', async () => {
    expect(client.getProtocolEra()).toBe(era);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['codemode_run']);
    expect(tools[0]?.inputSchema).toMatchObject({ type: 'object', required: ['code'] });
    expect(tools[0]?.outputSchema).toMatchObject({ required: ['logs', 'result', 'diagnostics'] });
  });

  test('an answer is structure, and the same as text [A2, A8]', async () => {
    const answer = await call(client, {
      code: `import { add } from '@codemode/servers/everyday';
             console.log('adding');
             globalThis.__codemode_result__ = await add({ a: 1, b: 2 });`,
    });
    expect(answer).toMatchObject({
      structuredContent: {
        logs: [{ level: 'log', message: 'adding' }],
        result: { sum: 3 },
        // The first answer brings the types of a server that was still starting when the client came.
        diagnostics: expect.any(Array),
        toolTrace: [{ serverId: 'everyday', toolName: 'add', ok: true }],
      },
    });
    expect(answer.isError).toBeUndefined();
    expect(answer.content).toEqual([{ type: 'text', text: JSON.stringify(answer.structuredContent) }]);
  });

  test.each([
    [{}, /^code: must be a string/],
    [{ code: 7 }, /^code: must be a string/],
    [{ code: '1', limits: { timeoutMs: -1 } }, /^limits.timeoutMs: must be at least 1/],
    [{ code: '1', limits: { timeoutMs: 1.5 } }, /^limits.timeoutMs: must be a whole number/],
    [{ code: '1', limits: { maxMemoryBytes: '1MB' } }, /^limits.maxMemoryBytes: must be a number/],
    [{ code: '1', limits: { timeoutMs: 9e9 } }, /^limits.timeoutMs: must be at most 600000/],
    [{ code: '1', limits: [] }, /^limits: must be an object/],
    [{ code: '1', requestedCapabilities: 'everyday' }, /^requestedCapabilities: must be an array/],
    [{ code: '1', requestedCapabilities: [1] }, /^requestedCapabilities.0: must be the name/],
  ])('the malformed request %j is answered with what is wrong [A2, X6]', async (request, message) => {
    const answer = await call(client, request);
    expect(answer.isError).toBeUndefined();
    expect(answer.structuredContent).toEqual({
      logs: [],
      result: null,
      diagnostics: [
        {
          severity: 'error',
          code: 'INVALID_REQUEST',
          message: expect.stringMatching(message),
        },
      ],
      toolTrace: [],
    });
    expect(answer.content).toEqual([{ type: 'text', text: JSON.stringify(answer.structuredContent) }]);
  });

  test('unknown fields and unknown limits are ignored [A2, A7]', async () => {
    const response = await run(client, 'globalThis.__codemode_result__ = 1', {
      limits: { colour: 'red' },
      mood: 'good',
    });
    expect(response).toEqual({ logs: [], result: 1, diagnostics: [], toolTrace: [], types: [] });
  });

  test.each([
    ['let x = ;', 'SYNTAX_ERROR'],
    [`console.log('so far'); throw new TypeError('no')`, 'UNCAUGHT_EXCEPTION'],
    [
      `Promise.reject(new Error('nobody listens')); await new Promise((resolve) => setTimeout(resolve, 1))`,
      'UNCAUGHT_EXCEPTION',
    ],
    [`import '@codemode/servers/nowhere'`, 'IMPORT_FAILURE'],
    ['for (;;);', 'SANDBOX_LIMIT'],
  ])('%s fails as a program and not as a call [A12]', async (code, diagnostic) => {
    const answer = await call(client, { code, limits: { timeoutMs: 500 } });
    expect(answer.isError).toBeUndefined();
    expect(answer.structuredContent).toMatchObject({
      result: null,
      diagnostics: [{ severity: 'error', code: diagnostic }],
      logs: code.includes('so far') ? [{ message: 'so far' }] : [],
    });
  });

  test('requested servers that are not available are reported before the program uses them [A6]', async () => {
    const response = await run(
      client,
      `import { echo } from '@codemode/servers/everyday';
       const met = await import('@codemode/servers/nowhere').catch((error) => error.constructor.name + ': ' + error.message);
       globalThis.__codemode_result__ = [await echo({ message: 'here' }), met];`,
      { requestedCapabilities: ['everyday', 'mcp:everything', 'mcp:nowhere', 'broken'] },
    );
    expect(response.diagnostics).toEqual([
      expect.objectContaining({
        code: 'CAPABILITY_UNAVAILABLE',
        message: 'mcp:nowhere is not available: there is no such server',
        hint: expect.stringMatching(/^Use one of: .*everyday/),
      }),
      expect.objectContaining({
        code: 'CAPABILITY_UNAVAILABLE',
        message: expect.stringMatching(/^broken .*no-such-program/),
      }),
    ]);
    expect(response.result).toEqual(['here', expect.stringContaining('nowhere')]);
  });

  test('the trace has every call and never what went in or came out [A10]', async () => {
    const response = await run(
      client,
      `import { echo, fail } from '@codemode/servers/everyday';
       await echo({ message: 'a secret message' });
       await fail().catch(() => {});`,
    );
    expect(response.toolTrace).toEqual([
      { serverId: 'everyday', toolName: 'echo', durationMs: expect.any(Number), ok: true },
      { serverId: 'everyday', toolName: 'fail', durationMs: expect.any(Number), ok: false, error: expect.any(String) },
    ]);
    expect(JSON.stringify(response)).not.toContain('a secret message');
  });

  test('calls to several servers run in parallel, and one that fails does not end the others [A33]', async () => {
    const response = await run(
      client,
      `import { meet, fail, add } from '@codemode/servers/everyday';
       import * as everything from '@codemode/servers/everything';
       // One after the other they would wait for each other forever.
       const settled = await Promise.allSettled([
         ...Array.from({ length: 10 }, () => meet({ count: 10 })),
         fail(),
         add({ a: 2, b: 2 }),
         everything.echo({ message: 'across' }),
       ]);
       globalThis.__codemode_result__ = settled.map(({ value, reason }) => value ?? reason.constructor.name);`,
    );
    expect(response.result).toEqual([
      ...Array.from({ length: 10 }, () => 'met'),
      'ToolCallError',
      { sum: 4 },
      'Echo: across',
    ]);
    expect(response.toolTrace).toHaveLength(13);
  });

  test('a picture that a program hands over reaches the agent as a picture [A23]', async () => {
    const answer = await call(client, {
      code: `import { image } from '@codemode/servers/everyday'; globalThis.__codemode_result__ = await image();`,
    });
    expect(answer.content.slice(1)).toEqual([
      { type: 'image', mimeType: 'image/png', data: expect.stringMatching(/^iVBOR/) },
    ]);
  });

  test('a made-up picture stays text and spoils nothing [X6]', async () => {
    const answer = await call(client, {
      code: `globalThis.__codemode_result__ = { content: [{ type: 'image', data: 'not base64!', mimeType: 'image/png' }, { type: 'audio' }, null, 7] };`,
    });
    expect(answer.content).toHaveLength(1);
    expect(answer.structuredContent).toMatchObject({ diagnostics: [] });
  });

  test('a tool that is called from programs is not called by its own name, and the error says how [A1, E7]', async () => {
    await expect(client.callTool({ name: 'echo', arguments: { message: 'x' } })).rejects.toThrow(
      /echo is called from a program: use codemode_run with import \{ echo \} from '@codemode\/servers\//,
    );
    await expect(client.callTool({ name: 'codemode.rum', arguments: {} })).rejects.toThrow(/did you mean codemode_run/);
  });

  test('the declarations of each server are a resource [A18]', async () => {
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(
      ['everyday', 'everything', 'broken'].map((path) => `codemode://servers/${path}/types.d.ts`),
    );
    const { contents } = await client.readResource({ uri: 'codemode://servers/everyday/types.d.ts' });
    expect(contents).toEqual([
      {
        uri: 'codemode://servers/everyday/types.d.ts',
        mimeType: 'text/x-typescript',
        text: expect.stringMatching(/declare module "@codemode\/servers\/everyday"[\s\S]*function add\(/),
      },
    ]);
    await expect(client.readResource({ uri: 'codemode://servers/nowhere/types.d.ts' })).rejects.toThrow(/not found/i);
  });
});

test('the tool has the name that the configuration gives it [A1]', async () => {
  using home = openHome({ toolName: 'codemode_run' });
  await using program = await openStdio(home);
  expect((await program.client.listTools()).tools.map(({ name }) => name)).toEqual(['codemode_run']);
  const answer = await program.client.callTool({ name: 'codemode_run', arguments: { code: '' } });
  // Nothing is configured here, and the first answer says so.
  expect(answer.structuredContent).toMatchObject({
    logs: [],
    result: null,
    diagnostics: [{ code: 'NO_SERVERS' }],
    toolTrace: [],
  });
});

test('limits of the configuration count for requests that set none, and bound those that do [A7]', async () => {
  using home = openHome({ sandbox: { limits: { calls: 1, maximum: { calls: 5 } } } });
  await using program = await openStdio(home);
  expect((await run(program.client, '', { limits: { maxToolCalls: 6 } })).diagnostics).toMatchObject([
    { code: 'INVALID_REQUEST', message: 'limits.maxToolCalls: must be at most 5' },
  ]);
});
