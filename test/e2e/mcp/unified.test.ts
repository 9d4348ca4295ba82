import type { CallToolResult } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { startCodemode } from '../../support/codemode-client.js';
import { everyday, nodeServer, openHome, openStdio, runProgram } from '../../support/program.js';
import { typeCheckPrograms } from '../../support/type-check.js';
import { fixture } from '../../support/upstreams.js';

const config = { profile: 'unified', mcpServers: { everyday: everyday() } };

test('over MCP the contract has one tool, execute_code, with the same fields [C1, C2]', async () => {
  using home = openHome(config);
  await using connected = await openStdio(home);
  const { client } = connected;
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(['execute_code']);
  expect(Object.keys(tools[0]?.inputSchema.properties ?? {})).toEqual([
    'code',
    'typescript',
    'timeout',
    'memoryLimit',
    'capabilities',
    'context',
  ]);
  const call = async (input: Record<string, unknown>) =>
    (await client.callTool({ name: 'execute_code', arguments: input })) as CallToolResult;
  const code = 'console.log(context.who); return (await mcp.everyday.echo("[1, 2]")).length';
  const answer = await call({ code, capabilities: ['mcp:everyday'], context: { who: 'me', requestId: 'r1' } });
  expect(answer.structuredContent).toMatchObject({ success: true, result: 2, logs: ['me'], requestId: 'r1' });
  // What a model has no use for is not in the text: metrics, ids, times.
  expect(JSON.parse((answer.content[0] as { text: string }).text)).toEqual({ success: true, result: 2, logs: ['me'] });
  const refused = await call({ code, capabilities: ['network:evil.example'] });
  expect(refused).toMatchObject({ isError: true, structuredContent: { error: { code: 'CAPABILITY_VIOLATION' } } });
});

test('a large result and many logs cost an agent a bounded answer, which says what is missing [C1]', async () => {
  using home = openHome({ ...config, response: { maxTokens: 2_000 } });
  await using connected = await openStdio(home);
  const code = `for (let i = 0; i < 2000; i++) console.log('line ' + i);
    return Array.from({ length: 3000 }, (_, id) => ({ id, name: 'row ' + id }));`;
  const { structuredContent } = await connected.client.callTool({ name: 'execute_code', arguments: { code } });
  const { result, logs } = structuredContent as { result: unknown[]; logs: string[] };
  expect(JSON.stringify(structuredContent).length).toBeLessThan(8_000);
  expect(result[0]).toEqual({ id: 0, name: 'row 0' });
  expect(logs.slice(-2)).toEqual([
    expect.stringMatching(
      /^logs were truncated: lines \d+ to \d+ of 2000 are left out\. The logs of this answer may have \d+ characters\. Return/,
    ),
    expect.stringMatching(
      /^warning: the result has \d+ characters \(3000 rows of .*: `result` is only its beginning\./,
    ),
  ]);
});

test('the description shows a connected server, and the instructions do not repeat it [C2]', async () => {
  using home = openHome(config);
  await using connected = await openStdio(home);
  const [tool] = (await connected.client.listTools()).tools;
  expect(tool?.description).toMatch(/const found = await mcp\.everyday\.\w+\(/);
  expect(tool?.description).toContain('as "mcp:everyday"');
  const instructions = connected.client.getInstructions() ?? '';
  expect(instructions).not.toContain('Nothing is granted by default');
  expect(instructions.slice(0, 2_048)).toContain('`APPROVAL_PENDING` is not a failure');
});

test('a capability that no request would be granted is not advised [C6]', async () => {
  using home = openHome(config);
  await using connected = await openStdio(home);
  const detailsOf = async (code: string) => {
    const answer = await connected.client.callTool({ name: 'execute_code', arguments: { code } });
    return (answer.structuredContent as { error: { details: object } }).error.details;
  };
  expect(await detailsOf(`return await fetch('https://example.com/')`)).toMatchObject({
    violation: 'network:example.com:443',
    hint: 'Continue without it: neither the token nor the configuration of this host would grant it.',
  });
  expect(await detailsOf(`return await mcp.everyday.echo('a')`)).toMatchObject({
    hint: 'Ask for it in the request: "capabilities": ["mcp:everyday"].',
  });
});

test('the types of all tools are one interface that compiles [C10]', async () => {
  using home = openHome(config);
  const { stdout, status } = await runProgram(home, 'types');
  expect(status).toBe(0);
  expect(stdout).toContain('export interface UnifiedAPI {\n  everyday: typeof Namespace1;\n}');
  const program = `${stdout}\nexport const answer: Promise<unknown> = mcp.everyday.echo({ message: 'x' });\n`;
  expect(typeCheckPrograms(new Map([['api.ts', program]]))).toEqual([]);
  expect(typeCheckPrograms(new Map([['api.ts', program.replace("message: 'x'", 'message: 5')]]))).not.toEqual([]);
  const byPosition = program.replace("{ message: 'x' }", "'x'");
  expect(typeCheckPrograms(new Map([['api.ts', byPosition]]))).toEqual([]);
  expect(stdout).toContain('@example await mcp.everyday.echo({ message: "text" })');
  const { stdout: prompt } = await runProgram(home, 'prompt');
  expect(prompt).toContain('UnifiedAPI');
  const [first, second] = stdout.split('\n');
  expect(first).toBe('// Auto-generated TypeScript API for Code Mode');
  expect(second).toMatch(/^\/\/ Generated at: \d{4}-\d\d-\d\dT[\d:.]+Z$/);
  // A prompt that changes by the second is cached nowhere.
  expect(prompt).toContain(first);
  expect(prompt).not.toContain('Generated at');
});

test('a forgotten await and a partial result are warned about in logs, with their lines', async () => {
  const paging = nodeServer(fixture('paging-server.mjs'));
  using home = openHome({ ...config, mcpServers: { everyday: everyday(), excel: paging } });
  await using connected = await openStdio(home);
  const logsOf = async (code: string) => {
    const request = { code, capabilities: ['mcp:everyday', 'mcp:excel'] };
    const answer = await connected.client.callTool({ name: 'execute_code', arguments: request });
    return (answer.structuredContent as { logs: string[] }).logs;
  };
  expect(await logsOf(`const text = mcp.everyday.echo('a');\nreturn { text };`)).toEqual([
    expect.stringMatching(
      /^warning: `result` has a promise at \/text; not awaited: .*echo\(\.\.\.\) at line 1\. Write `await` in front of the call$/,
    ),
  ]);
  expect(await logsOf(`const page = await mcp.excel.list_issues({});\nreturn page.issues;`)).toEqual([
    'warning: excel/list_issues gave a pagination.next_cursor, and the program did not ask for the rest (line 1). ' +
      'Pass it as `cursor` to get the rest, until there is none, or say that the result is a part.',
  ]);
  expect(await logsOf(`return await mcp.everyday.echo('a');`)).toEqual([]);
  expect(await logsOf(`mcp.everyday.echo('a');\nreturn 1;`)).toEqual([
    'warning: not awaited: echo(...) at line 1. Write `await` in front of the call',
  ]);
  // The promise is why the code failed.
  expect(await logsOf(`const text = mcp.everyday.echo('a');\nreturn text.split(',');`)).toContain(
    'warning: not awaited: echo(...) at line 1. Write `await` in front of the call',
  );
});

test('what is not there is answered with what to write instead, in words of the contract', async () => {
  const crm = { tools: [{ name: 'get-user', inputSchema: { type: 'object' } }] };
  await using codemode = await startCodemode({
    scripts: { crm },
    servers: { everyday: everyday() },
    config: {
      profile: 'unified',
      response: undefined,
      security: { capabilities: { mcp: { maxCallsPerSecond: 100 } } },
    },
  });
  const call = async (code: string) => {
    const capabilities = { mcp: { allowedServers: ['everyday', 'crm'], maxCallsPerSecond: 100 } };
    const answer = await codemode.client.callTool({ name: 'execute_code', arguments: { code, capabilities } });
    return answer.structuredContent as {
      logs: string[];
      error?: { message: string; details?: { hint?: string; position?: { line: number } } };
    };
  };
  const hints: [code: string, hint: string | RegExp][] = [
    [`const x = 1;\nreturn await mcp.everyday.ecko('a');`, 'Use mcp.everyday.echo instead.'],
    [`const x = 1;\nreturn await mcp['crm'].get_usr({});`, `Use mcp['crm'].getUser instead.`],
    [`const x = 1;\nreturn await mcp.everydai.echo('a');`, 'Use mcp.everyday instead.'],
    [`const x = 1;\nreturn await everyday.echo('a');`, 'Use mcp.everyday instead.'],
    [`const x = 1;\nreturn await get_user({});`, 'Write: await mcp.crm.getUser({ ... })'],
    [`const x = 1;\nconst fs = require('fs');`, 'There are no modules here: tools are functions of `mcp`.'],
    [`const x = 1;\nimport fs from 'fs';`, /^This is the body of a function: it imports nothing\. Tools are functions/],
    [`const x = 1;\nconst fs = await import('fs');`, /^This is the body of a function: it imports nothing\. Tools are/],
    [`const x = 1;\nawait fetch('https://example.com');`, /^Continue without it: neither the token nor/],
    [`const x = 1;\nreturn process.env.API_KEY;`, /^There is no environment here\. Write values into the program/],
  ];
  for (const [code, hint] of hints) {
    const { error } = await call(code);
    expect(error?.details, code).toMatchObject({
      hint: typeof hint === 'string' ? hint : expect.stringMatching(hint),
      position: { line: 2 },
    });
  }
  const { logs } = await call(`console.log('x'.repeat(100_000)); return 1;`);
  expect(logs.at(-1)).toMatch(/^logs were truncated: .* Return what matters instead of logging it\.$/);
  expect(logs.join('\n').length).toBeLessThan(10_000);
  // Nothing is said where there is nothing to do.
  const failed = await call('return await mcp.everyday.fail({});');
  expect(failed.error?.message).toContain('it did not work');
  expect(failed.error?.details).not.toHaveProperty('hint');
});

test('types come in logs, once, where a program lists a namespace or fails on one of its tools', async () => {
  using home = openHome({ ...config, mcpServers: { everyday: everyday() } });
  await using connected = await openStdio(home);
  const typesOf = async (code: string) => {
    const request = { code, capabilities: ['mcp:everyday'] };
    const answer = await connected.client.callTool({ name: 'execute_code', arguments: request });
    return (answer.structuredContent as { logs: string[] }).logs.filter((line) => line.startsWith('types: '));
  };
  expect(await typesOf(`return await mcp.everyday.echo('a')`)).toEqual([]);
  expect(await typesOf(`return await mcp.everyday.add({ x: 1 })`)).toEqual([
    'types: mcp.everyday: add({ a: number, b: number }): { sum: number }',
  ]);
  const [listed = ''] = await typesOf('return Object.keys(mcp.everyday)');
  expect(listed).toContain('; slow({ ms: number }); ');
  expect(listed).not.toContain('add({');
  expect(await typesOf('return Object.keys(mcp.everyday)')).toEqual([]);
});

test('a suspended run says how its result is had, in one sentence [C2]', async () => {
  using home = openHome({
    ...config,
    policy: { rules: [{ tools: 'everyday/echo', decision: 'ask' }] },
    approvals: { grace: '50ms' },
  });
  await using connected = await openStdio(home);
  const { structuredContent } = await connected.client.callTool({
    name: 'execute_code',
    arguments: { code: 'return await mcp.everyday.echo("a")', capabilities: ['mcp:everyday'] },
  });
  const { error } = structuredContent as {
    error: { code: string; message: string; details: { runId: string; approvals: { id: string }[] } };
  };
  const { runId, approvals } = error.details;
  expect(error.code).toBe('APPROVAL_PENDING');
  expect(error.message).toContain(
    `Ask the user to type: codemode approvals approve ${approvals[0]?.id}; then: codemode runs wait ${runId}, which prints the result`,
  );
  const { stdout } = await runProgram(home, 'runs', 'wait', '--help');
  expect(stdout).toContain('runs wait');
});

test('a cut description names every namespace, or counts the others and says how to list them [C2]', async () => {
  const mcpServers = Object.fromEntries(
    Array.from({ length: 12 }, (_, index) => [`everyday-number-${index}`, everyday()]),
  );
  using home = openHome({ ...config, mcpServers });
  const { stdout } = await runProgram(home, 'prompt', '--json');
  const { description } = (JSON.parse(stdout) as { tools: { description: string }[] }).tools[0] as {
    description: string;
  };
  expect(description.length).toBeLessThanOrEqual(2_048);
  const named = Object.keys(mcpServers).filter((_, index) =>
    new RegExp(`mcp\\.\\w+${index}\\b`, 'i').test(description),
  );
  const more = Number(/ and (\d+) more: return Object\.keys\(mcp\)/.exec(description)?.[1] ?? 0);
  expect(named.length + more).toBe(12);
  expect(description).toContain('The tools of one, with types in `logs`: return Object.keys(mcp.NAME)');
});
