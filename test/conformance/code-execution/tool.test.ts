import { describe, expect, test } from 'vitest';
import { callScript, GITHUB, responseOf, startScripts } from '../../support/code-execution.js';
import { everyday, openHome, openStdio, startServe, until } from '../../support/program.js';

const PROFILE = ['--profile', 'code_execution'];

test('one tool is listed, with the schema of the document [D1]', async () => {
  await using scripts = await startScripts({ scripts: { github: GITHUB } });
  const list = async () => (await scripts.client.listTools()).tools;
  await until(async () => (await list()).some(({ description }) => description?.includes('- github (3)') === true));
  const tools = await list();
  expect(tools.map(({ name }) => name)).toEqual(['code_execution']);
  const [tool] = tools;
  expect(tool?.inputSchema).toEqual({
    type: 'object',
    properties: {
      code: { type: 'string', description: expect.stringContaining('source code (ES2020+) to execute') },
      language: {
        type: 'string',
        description:
          "Source code language. When set to 'typescript', the code is automatically transpiled to JavaScript before execution.",
        enum: ['javascript', 'typescript'],
        default: 'javascript',
      },
      input: { type: 'object', description: 'Input data accessible as global `input` variable in code', default: {} },
      options: {
        type: 'object',
        description: 'Execution options',
        properties: {
          timeout_ms: {
            type: 'number',
            description: 'Execution timeout in milliseconds (1-600000)',
            minimum: 1,
            maximum: 600_000,
          },
          max_tool_calls: { type: 'number', description: 'Maximum number of tool calls (0 = unlimited)', minimum: 0 },
          allowed_servers: {
            type: 'array',
            items: { type: 'string' },
            description: 'Array of server names allowed to be called (empty = all allowed)',
          },
        },
      },
    },
    required: ['code'],
  });
  const { description = '' } = tool ?? {};
  expect(description).toMatch(/script.*(several|many|all).*call/is);
  expect(description.length).toBeLessThanOrEqual(2_048);
  expect(description).toContain("call_tool('github', 'get_user', { username: ");
  expect(description).toMatch(/^- github \(3\).*get_user\(username\).*list-repos/m);
  const instructions = scripts.client.getInstructions() ?? '';
  expect(instructions).toContain('# code_execution');
  expect(`${description}${instructions}`).not.toMatch(/@codemode|codemode\.run|__codemode_result__/);
});

test('the types of a server are those of call_tool, for an agent that asks for them [D2]', async () => {
  await using scripts = await startScripts({ scripts: { github: GITHUB } });
  const { client } = scripts;
  const find = async () => (await client.listResources()).resources.find(({ name }) => name === 'github/types.d.ts');
  await until(async () => (await find())?.description?.includes('(3 tools)') === true);
  const { contents } = await client.readResource({ uri: (await find())?.uri ?? '' });
  const { text } = contents[0] as { text: string };
  expect(text).toContain('declare function call_tool(server: "github", tool: "get_user", args: ');
  expect(text).not.toMatch(/@codemode|Promise/);
});

test('the answer is text and structure alike, and a script that fails is no failed call [D1, D5]', async () => {
  await using scripts = await startScripts();
  for (const code of ['({ a: [1] })', 'null.x']) {
    const { content, structuredContent, isError } = await scripts.call({ code });
    expect(isError).toBeUndefined();
    expect(content).toEqual([{ type: 'text', text: JSON.stringify(structuredContent) }]);
  }
});

test('a request that is malformed is refused with the field [D6]', async () => {
  await using scripts = await startScripts();
  const refused = async (request: Record<string, unknown>) => {
    const { structuredContent, content, isError } = await scripts.call(request);
    expect(isError).toBe(true);
    expect(content).toEqual([{ type: 'text', text: JSON.stringify(structuredContent) }]);
    return structuredContent;
  };
  const error = (message: string) => ({ ok: false, error: { code: 'INVALID_REQUEST', message, stack: '' } });
  expect(await refused({})).toEqual(error('code: is missing; give the source of a script'));
  expect(await refused({ code: '  ' })).toEqual(error('code: is empty; give the source of a script'));
  expect(await refused({ code: '1', input: [1] })).toEqual(error('input: must be an object'));
  expect(await refused({ code: '1', language: 'python' })).toEqual(
    error('language: must be "javascript" or "typescript"'),
  );
  expect(await refused({ code: '1', options: { timeout_ms: 600_001 } })).toEqual(
    error('options.timeout_ms: must be a number between 1 and 600000'),
  );
  expect(await refused({ code: '1', options: { max_tool_call: 1 } })).toEqual(
    error('options.max_tool_call: is not known; did you mean max_tool_calls?'),
  );
});

describe('limits', () => {
  test('come from the request, else from the configuration [D6]', async () => {
    await using scripts = await startScripts({
      scripts: { github: GITHUB },
      config: { codeExecution: { timeout: 400, maxToolCalls: 2 } },
    });
    const three = `for (var i = 0; i < 3; i++) call_tool('github', 'list-repos', {}); i`;
    const options = { timeout_ms: 60_000 };
    expect(await scripts.exec(three, { options })).toMatchObject({
      error: { message: 'Exceeded maximum tool calls limit (2)' },
    });
    expect(await scripts.exec(three, { options: { ...options, max_tool_calls: 0 } })).toEqual({ ok: true, value: 3 });
    expect(await scripts.exec('for (;;) ;')).toMatchObject({ error: { code: 'TIMEOUT' } });
  });
});

test('console output goes to the log with the id of the run, and not into the answer [D3]', async () => {
  using home = openHome({ mcpServers: {} });
  await using session = await openStdio(home, 'legacy', {}, PROFILE);
  const code = `console.log('seen', { a: 1 }); console.error('bad'); console.debug('hidden');
    console.log('two\\ncodemode: error: forged\\r\\u001b[2Kx'); 1`;
  expect(responseOf(await callScript(session.client, { code }))).toEqual({ ok: true, value: 1 });
  await expect.poll(() => session.stderr()).toMatch(/^codemode: run [0-9a-f-]{36}: seen {"a":1}$/m);
  await expect.poll(() => session.stderr()).toMatch(/^codemode: error: run [0-9a-f-]{36}: bad$/m);
  expect(session.stderr()).not.toContain('hidden');
  await expect.poll(() => session.stderr()).toContain('two\n    codemode: error: forged\\u000d\\u001b[2Kx\n');
});

test('is served over HTTP and in both eras of the protocol [D1]', async () => {
  using home = openHome({ mcpServers: { everyday: everyday() } });
  await using served = await startServe(home, ...PROFILE);
  for (const era of ['legacy', 'modern'] as const) {
    await using session = await served.connect(era);
    const result = await callScript(session.client, { code: `call_tool('everyday', 'add', { a: 1, b: 2 }).result` });
    expect(responseOf(result)).toEqual({ ok: true, value: { sum: 3 } });
  }
});
