import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CodemodeClient, startCodemode } from '../../support/codemode-client.js';
import { fixture } from '../../support/upstreams.js';

let codemode: CodemodeClient;
let locked: Server;
beforeAll(async () => {
  // A server that lets nobody in.
  locked = createServer((_, response) => response.writeHead(401, { 'www-authenticate': 'Bearer' }).end());
  await new Promise<void>((resolve) => locked.listen(0, '127.0.0.1', resolve));
  const { port } = locked.address() as AddressInfo;
  codemode = await startCodemode({
    scripts: {
      strict: {
        tools: [
          {
            name: 'create_issue',
            description: 'Creates an issue.',
            inputSchema: {
              type: 'object',
              properties: {
                title: { type: 'string' },
                labels: { type: 'array', items: { type: 'string' } },
                state: { type: 'string', enum: ['open', 'closed'] },
              },
              required: ['title'],
              additionalProperties: false,
              examples: [{ title: 'It does not work' }],
            },
          },
          {
            name: 'promise',
            inputSchema: { type: 'object' },
            outputSchema: { type: 'object', properties: { count: { type: 'number' } }, required: ['count'] },
          },
          {
            name: 'unreadable',
            inputSchema: { type: 'object', properties: { a: { $ref: 'https://example.invalid/x' } } },
          },
        ],
        replies: { promise: { content: [], structuredContent: { count: 'three' } } },
      },
    },
    servers: {
      everyday: { command: process.execPath, args: [fixture('everyday-server.mjs')] },
      missing: { command: 'no-such-command-anywhere', args: [] },
      locked: { url: `http://127.0.0.1:${port}/mcp` },
    },
  });
});
afterAll(async () => {
  await codemode[Symbol.asyncDispose]();
  await new Promise((resolve) => locked.close(resolve));
});

/** What a program sees when a call fails. */
const caught = (module: string, call: string, more?: Record<string, unknown>) =>
  codemode.value(
    `
    import * as errors from '@codemode/errors';
    import * as server from '@codemode/servers/${module}';
    try { globalThis.__codemode_result__ = { answered: await server.${call} } }
    catch (error) {
      const classes = Object.keys(errors).filter((name) => error instanceof errors[name]).sort();
      globalThis.__codemode_result__ = { classes, name: error.name, message: error.message, hint: error.hint, ...error };
    }`,
    more,
  ) as Promise<Record<string, unknown>>;

describe('input that does not fit', () => {
  test('is refused before the call leaves the host, with all that is needed to mend it [A27, A28]', async () => {
    const error = await caught('strict', 'create_issue({ title: 7 })');
    expect(error).toMatchObject({
      classes: ['CodemodeError', 'SchemaValidationError'],
      name: 'SchemaValidationError',
      toolName: 'create_issue',
      exportName: 'create_issue',
      path: '/title',
      example: { title: 'It does not work' },
    });
    expect(error.message).toContain('create_issue');
    expect(error.message).toContain('/title');
    expect(error.hint).toBeTruthy();
    const { example } = await caught('strict', 'create_issue({ title: "x", colour: "red" })');
    expect(example).toEqual({ title: 'It does not work' });
  });

  test.each([
    ['{}', 'title'],
    ['{ title: "x", labels: "bug" }', '/labels'],
    ['{ title: "x", labels: [1] }', '/labels/0'],
    ['{ title: "x", state: "opne" }', 'open'],
    ['{ title: "x", lables: [] }', 'labels'],
    ['"text"', 'object'],
  ])('create_issue(%s) says what is wrong [A27]', async (input, expected) => {
    const { classes, message, hint } = await caught('strict', `create_issue(${input})`);
    expect(classes).toContain('SchemaValidationError');
    expect(`${message} ${hint}`).toContain(expected);
  });

  test('two arguments are one too many, and the hint shows the right call', async () => {
    const { name, hint } = await caught('strict', `create_issue('x', ['bug'])`);
    expect([name, hint]).toEqual(['SchemaValidationError', expect.stringContaining('one object')]);
  });

  test('a schema that cannot be read does not block its tool [A27]', async () => {
    expect(await caught('strict', 'unreadable({ a: 1 })')).toMatchObject({ answered: { received: { a: 1 } } });
  });

  test('an uncaught one is a diagnostic with its class, its place and its hint [A11]', async () => {
    const { diagnostics, result } = await codemode.run(
      `import { create_issue } from '@codemode/servers/strict';\n\nawait create_issue({});`,
    );
    expect(result).toBeNull();
    expect(diagnostics).toEqual([
      {
        severity: 'error',
        code: 'UNCAUGHT_EXCEPTION',
        errorClass: 'SchemaValidationError',
        path: expect.stringMatching(/^main\.ts:3:\d+$/),
        message: expect.stringContaining('title'),
        hint: expect.any(String),
      },
    ]);
  });
});

describe('calls that fail', () => {
  test('by the tool’s own verdict are a ToolCallError with its words [A29]', async () => {
    expect(await caught('everyday', 'fail({})')).toMatchObject({
      classes: ['CodemodeError', 'ToolCallError'],
      message: 'it did not work',
      serverId: 'everyday',
      toolName: 'fail',
      hint: 'Change the input as the message says.',
    });
  });

  test('by a server that dies midway throw a ToolCallError with open outcome; the server returns [A29]', async () => {
    const error = await caught('everyday', 'crash({})');
    expect(error).toMatchObject({
      classes: ['CodemodeError', 'ToolCallError'],
      message: expect.stringContaining('may have taken effect'),
    });
    expect(await caught('everyday', `echo({ message: 'back' })`)).toEqual({ answered: 'back' });
  });

  test('one of several does not abort the program [A33]', async () => {
    const value = await codemode.value(`
      import { echo, fail } from '@codemode/servers/everyday';
      const settled = await Promise.allSettled([echo({ message: 'a' }), fail({}), echo({ message: 'b' })]);
      globalThis.__codemode_result__ = settled.map(({ status }) => status);`);
    expect(value).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });

  test('past the cap are a SandboxLimitError that can be caught, again and again [A29]', async () => {
    const value = await codemode.value(
      `import { echo } from '@codemode/servers/everyday';
       import { SandboxLimitError } from '@codemode/errors';
       const seen = [];
       for (let i = 0; i < 4; i++) await echo({ message: String(i) }).then(() => seen.push('ok'), (error) => seen.push(error instanceof SandboxLimitError));
       globalThis.__codemode_result__ = seen;`,
      { limits: { maxToolCalls: 2 } },
    );
    expect(value).toEqual(['ok', 'ok', true, true]);
  });

  test('past the cap are a SANDBOX_LIMIT where nobody catches them', async () => {
    const { diagnostics } = await codemode.run(
      `import { echo } from '@codemode/servers/everyday'; for (;;) await echo({ message: 'x' });`,
      { limits: { maxToolCalls: 2 } },
    );
    expect(diagnostics[0]).toMatchObject({ code: 'SANDBOX_LIMIT', errorClass: 'SandboxLimitError' });
  });

  test('with undefined are calls without input, and non-JSON input is a SchemaValidationError', async () => {
    const value = await codemode.value(`
      import { pid, echo } from '@codemode/servers/everyday';
      const failure = async (make) => {
        try { await make(); return 'called' } catch (error) {
          return [error.name, error.toolName, error.exportName, error.path, error.expected, error.received, error.hint];
        }
      };
      const circular = {}; circular.self = circular;
      globalThis.__codemode_result__ = [
        await pid() === await pid(undefined),
        await failure(() => echo({ message: 1n })),
        await failure(() => echo({ list: [0, { n: 1n }] })),
        await failure(() => echo({ 'a/b': circular })),
        await failure(() => echo({ message: 'a' }, 0, [])),
        await failure(() => echo({ toJSON() { throw new RangeError('mine') } })),
      ];`);
    const unfit = (path: string, received: string, hint: string) => [
      'SchemaValidationError',
      'echo',
      'echo',
      path,
      'a JSON value',
      received,
      hint,
    ];
    expect(value).toEqual([
      true,
      unfit('/message', 'a BigInt', 'Pass String(value).'),
      unfit('/list/1/n', 'a BigInt', 'Pass String(value).'),
      unfit('/a~1b/self', 'a circular reference', 'Leave it out.'),
      [
        'SchemaValidationError',
        'echo',
        'echo',
        '',
        'one argument',
        '3 arguments',
        expect.stringMatching(/^Pass one object/),
      ],
      ['RangeError', null, null, null, null, null, null],
    ]);
  });
});

describe('servers that are not there', () => {
  test('are named as soon as a request asks for them [A6]', async () => {
    const { diagnostics, result } = await codemode.run('globalThis.__codemode_result__ = 1;', {
      requestedCapabilities: ['everyday', 'mcp:missing', 'unheard-of', 'Everydya'],
    });
    expect(result).toBe(1);
    const named = diagnostics.filter(({ code }) => code === 'CAPABILITY_UNAVAILABLE').map(({ message }) => message);
    expect(named).toEqual(['missing', 'unheard-of', 'Everydya'].map((name) => expect.stringContaining(name)));
    expect(diagnostics.find(({ message }) => message.startsWith('Everydya'))?.hint).toBe('Did you mean "everyday"?');
  });

  test('are an import failure that lists the others [A11, A28]', async () => {
    const { diagnostics } = await codemode.run(`import * as x from '@codemode/servers/everydya';`);
    expect(diagnostics[0]).toMatchObject({
      code: 'IMPORT_FAILURE',
      hint: expect.stringContaining('@codemode/servers/everyday'),
    });
  });
});

test('a tool that an import misspells has its class, and the nearest name as hint [A11, A28]', async () => {
  const { diagnostics } = await codemode.run(`import { ehco } from '@codemode/servers/everyday'; await ehco({});`);
  expect(diagnostics[0]).toMatchObject({
    code: 'IMPORT_FAILURE',
    errorClass: 'ToolNotFoundError',
    hint: expect.stringContaining('`echo`'),
  });
});

test('an answer that breaks the tool’s own schema reaches the program, with a warning', async () => {
  const { result, diagnostics } = await codemode.run(
    `import { promise } from '@codemode/servers/strict'; globalThis.__codemode_result__ = await promise({});`,
  );
  expect(result).toEqual({ count: 'three' });
  expect(diagnostics).toMatchObject([
    { severity: 'warning', code: 'OUTPUT_SCHEMA_MISMATCH', message: expect.stringContaining('promise') },
  ]);
});

test('trace entries name server, tool, time and outcome, and neither inputs nor outputs [A10]', async () => {
  const { toolTrace } = await codemode.run(
    `import { echo, fail } from '@codemode/servers/everyday'; await echo({ message: 'sesame' }); await fail({}).catch(() => {});`,
  );
  expect(toolTrace).toEqual([
    { serverId: 'everyday', toolName: 'echo', durationMs: expect.any(Number), ok: true },
    {
      serverId: 'everyday',
      toolName: 'fail',
      durationMs: expect.any(Number),
      ok: false,
      error: 'ToolCallError: the tool reported an error',
    },
  ]);
  expect(JSON.stringify(toolTrace)).not.toContain('sesame');
});
