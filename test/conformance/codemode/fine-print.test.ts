import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Home } from '../../support/cli.js';
import { type CodemodeClient, startCodemode } from '../../support/codemode-client.js';
import { slow } from '../../support/slow-server.js';

/** Statements of the contract that are short and easily lost: one program each. */

const SOUND = { type: 'audio', data: 'UklGRg==', mimeType: 'audio/wav' };

let codemode: CodemodeClient;
beforeAll(async () => {
  codemode = await startCodemode({
    scripts: {
      odd: {
        tools: [
          { name: 'get-it.now', inputSchema: { type: 'object' } },
          { name: 'sound', inputSchema: { type: 'object' } },
          { name: 'torn', inputSchema: 'object', outputSchema: 'object' },
          { name: 'locked', inputSchema: { type: 'object' } },
          {
            name: 'strict',
            inputSchema: { type: 'object', properties: { count: { type: 'number' } }, required: ['count'] },
          },
        ],
        replies: {
          'get-it.now': { content: [{ type: 'text', text: 'done' }] },
          sound: { content: [{ type: 'text', text: 'listen' }, SOUND] },
          locked: { content: [{ type: 'text', text: '401 Unauthorized' }], isError: true },
        },
      },
    },
  });
});
afterAll(() => codemode[Symbol.asyncDispose]());

describe('the result', () => {
  test('is the last of several values that were assigned [A5]', async () => {
    expect(
      await codemode.value('globalThis.__codemode_result__ = 1; globalThis.__codemode_result__ = { b: 2 };'),
    ).toEqual({ b: 2 });
  });

  test('is not the value of the last expression [A5]', async () => {
    expect((await codemode.run('const a = 1; a + 41;')).result).toBeNull();
  });

  test('is null where the program failed after it had assigned one [A12]', async () => {
    const { result, diagnostics } = await codemode.run(`globalThis.__codemode_result__ = 1; throw new Error('late');`);
    expect(result).toBeNull();
    expect(diagnostics[0]).toMatchObject({ code: 'UNCAUGHT_EXCEPTION' });
  });

  test('of a tool that answers with sound is its whole answer [A23]', async () => {
    const program = `import { sound } from '@codemode/servers/odd'; globalThis.__codemode_result__ = await sound();`;
    expect(await codemode.value(program)).toMatchObject({ content: [{ type: 'text', text: 'listen' }, SOUND] });
  });
});

describe('an entry of the trace', () => {
  test('has the name of the protocol, and whole milliseconds [A10]', async () => {
    const { toolTrace } = await codemode.run(`import { get_it_now } from '@codemode/servers/odd'; await get_it_now();`);
    expect(toolTrace).toMatchObject([{ serverId: 'odd', toolName: 'get-it.now', ok: true }]);
    expect(Number.isInteger(toolTrace[0]?.durationMs)).toBe(true);
  });

  test('has nothing of an input that was refused [A10]', async () => {
    const { toolTrace } = await codemode.run(
      `import { strict } from '@codemode/servers/odd'; await strict({ count: 'private-7391' }).catch(() => {});`,
    );
    expect(toolTrace).toMatchObject([{ toolName: 'strict', ok: false }]);
    expect(JSON.stringify(toolTrace)).not.toContain('private-7391');
  });

  test('is there for calls that were over before a limit [A30]', async () => {
    const { toolTrace, diagnostics } = await codemode.run(
      `import { get_it_now } from '@codemode/servers/odd'; await get_it_now(); for (;;) {}`,
      { limits: { timeoutMs: 400 } },
    );
    expect(diagnostics[0]).toMatchObject({ code: 'SANDBOX_LIMIT' });
    expect(toolTrace).toMatchObject([{ toolName: 'get-it.now', ok: true }]);
  });
});

test('a tool whose schema is unusable takes any object, and its declaration warns [A25]', async () => {
  const [types, received] = (await codemode.value(`
    import { getTypes } from '@codemode/discovery'; import { torn } from '@codemode/servers/odd';
    globalThis.__codemode_result__ = [await getTypes('odd', ['torn']), await torn({ a: [1] })];`)) as [string, object];
  expect(types).toMatch(
    /@warning its input schema is too large, too deep or no object, [\s\S]*@warning its output schema is too large, too deep or no object, and is left out\n?.*\*\/\n {2}export function torn\(input\?: Record<string, unknown>\)/,
  );
  expect(received).toEqual({ tool: 'torn', received: { a: [1] } });
});

describe('errors', () => {
  test('of a class that extends another are diagnosed as the nearest of ours [A11]', async () => {
    const program = `import { ToolCallError } from '@codemode/errors'; throw new (class Lost extends ToolCallError {})('x');`;
    expect((await codemode.run(program)).diagnostics[0]).toMatchObject({ errorClass: 'ToolCallError' });
  });

  test('are all CodemodeErrors [A19]', async () => {
    const names = await codemode.value(`import * as errors from '@codemode/errors';
      globalThis.__codemode_result__ = Object.entries(errors)
        .filter(([name, Class]) => typeof Class === 'function' && /^[A-Z]/.test(name))
        .map(([name, Class]) => [name, Class === errors.CodemodeError || Class.prototype instanceof errors.CodemodeError]);`);
    const classes = Object.fromEntries(names as [string, boolean][]);
    for (const name of ['CodemodeError', 'ServerNotFoundError', 'ToolNotFoundError', 'SchemaValidationError'])
      expect(classes[name], name).toBe(true);
    for (const name of ['ToolCallError', 'AuthenticationError', 'SandboxLimitError'])
      expect(classes[name], name).toBe(true);
    expect(Object.values(classes)).not.toContain(false);
  });

  test('of authentication are errors of a call [A33]', async () => {
    expect(
      await codemode.value(`import { AuthenticationError, ToolCallError } from '@codemode/errors';
        import { locked } from '@codemode/servers/odd';
        const error = await locked().catch((error) => error);
        globalThis.__codemode_result__ = [error instanceof AuthenticationError, error instanceof ToolCallError];`),
    ).toEqual([true, true]);
  });

  test('of calls past the cap have a hint [A28]', async () => {
    const hint = await codemode.value(
      `import { get_it_now } from '@codemode/servers/odd';
       await get_it_now();
       globalThis.__codemode_result__ = await get_it_now().catch(({ name, hint }) => ({ name, hint }));`,
      { limits: { maxToolCalls: 1 } },
    );
    expect(hint).toEqual({ name: 'SandboxLimitError', hint: expect.stringMatching(/\w/) });
  });

  test('of a program that used up its memory say SandboxLimitError [A29]', async () => {
    const { diagnostics } = await codemode.run(`const kept = []; for (;;) kept.push('x'.repeat(1e6) + kept.length);`, {
      limits: { maxMemoryBytes: 16 * 1024 * 1024 },
    });
    expect(diagnostics[0]).toMatchObject({ code: 'SANDBOX_LIMIT', errorClass: 'SandboxLimitError' });
  });
});

test('logs that were cut at the most entries name that limit [A9]', async () => {
  using home = new Home();
  const program = `for (let i = 0; i < 100_001; i += 1) console.log('');`;
  home.write('codemode.config.json', { mcpServers: {}, sandbox: { limits: { logs: '16MB' } } });
  const { logs } = await home.json<{ logs: { message: string }[] }>(['run', '-', '--json'], { input: program });
  expect(logs.at(-1)).toMatchObject({
    level: 'warn',
    message: 'logs were truncated: the limit of 100000 entries was reached, and later lines are lost',
  });
});

test('agents are advised not to poll in loops [A36]', () => {
  expect(codemode.client.getInstructions()).toContain('Do not poll in a loop');
});

test('a named server is waited for, though the program does not name it [A6]', async () => {
  await using late = await startCodemode({
    config: { catalog: { firstListing: '10ms' } },
    servers: { late: slow('--delay', '1500') },
  });
  const program = `import { listServers } from '@codemode/discovery';
    globalThis.__codemode_result__ = (await listServers()).map(({ serverId }) => serverId);`;
  expect(await late.value(program, { requestedCapabilities: ['late'] })).toEqual(['late']);
});
