import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { expect, test } from 'vitest';
import { startCodemode } from '../../support/codemode-client.js';
import { openWorkFolder } from '../../support/command.js';
import { until } from '../../support/program.js';
import { typeCheck } from '../../support/type-check.js';
import { fixture } from '../../support/upstreams.js';

const RESULT = 'globalThis.__codemode_result__ =';
const slow = (...words: string[]) => ({ command: process.execPath, args: [fixture('slow-server.mjs'), ...words] });

test('the types of a server that started late come with the first answer that names it, once [A18]', async () => {
  await using codemode = await startCodemode({
    servers: { late: slow('--delay', '1500'), other: slow('--delay', '1500') },
  });
  expect(codemode.client.getInstructions()).not.toContain('function hello(');
  const imports = `import { hello } from '@codemode/servers/late'; ${RESULT} await hello();`;
  const first = await codemode.run(imports);
  expect(first.types).toMatchObject([
    { code: 'SERVER_TYPES', path: '@codemode/servers/late', message: expect.stringContaining('function hello(') },
  ]);
  expect((await codemode.run(imports)).types).toEqual([]);
  const { types } = await codemode.run('1', { requestedCapabilities: ['other'] });
  expect(types).toMatchObject([{ code: 'SERVER_TYPES', path: '@codemode/servers/other' }]);
  // Of a tool that was called the signature is enough; what all declarations share comes with the first whole ones.
  expect(first.types[0]?.message).not.toContain('type ToolOutput =');
  expect(types[0]?.message).toContain('type ToolOutput =');
});

test('every tool of a large server can be had as TypeScript, and the instructions say how [A18]', async () => {
  const tools = Array.from({ length: 400 }, (_, index) => ({
    name: `tool-${index}`,
    description: `Does thing ${index} and says so at some length, so that not all of them fit.`,
    inputSchema: { type: 'object', properties: { a: { type: 'string' }, b: { type: 'integer' } }, required: ['a'] },
    annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
  }));
  await using codemode = await startCodemode({ scripts: { large: { tools } } });
  await codemode.client.listTools();
  const [short] = (await codemode.run('1', { requestedCapabilities: ['large'] })).types;
  // Without destructiveHint a tool counts as destructive.
  expect(short?.message).toMatch(/@annotations destructiveHint: false, openWorldHint: false \*\//);
  const types = (more: string) =>
    codemode.value(`import { getTypes } from '@codemode/discovery'; ${RESULT} await getTypes('large'${more});`);
  const whole = (await types('')) as string;
  expect(whole.match(/export function /g)).toHaveLength(400);
  expect(whole.match(/@annotations readOnlyHint: false, destructiveHint: false/g)).toHaveLength(400);
  const some = (await types(", ['tool-7', 'tool_399']")) as string;
  expect([...some.matchAll(/export function (\w+)/g)].map(([, name]) => name)).toEqual(['tool_399', 'tool_7']);
  expect(typeCheck(new Map([['some.d.ts', some]]))).toEqual([]);
  await expect(types(", ['tool-x']")).rejects.toThrow(/large has no tool "tool-x"/);
  expect(codemode.client.getInstructions()).toContain('getTypes(serverId');
});

test('a call without a valid credential brings no types, a call with a wrong input does', async () => {
  const tools = Array.from({ length: 400 }, (_, index) => ({ name: `tool_${index}`, inputSchema: { type: 'object' } }));
  const replies = {
    tool_1: { rpcError: { code: -32001, message: 'Unauthorized' } },
    tool_2: { rpcError: { code: -32602, message: 'it must be green' } },
  };
  await using codemode = await startCodemode({
    scripts: { large: { tools, replies } },
    config: { prompt: { tokenBudget: 500 } },
  });
  const failed = async (tool: string) => {
    const { diagnostics, types } = await codemode.run(
      `import { ${tool} } from '@codemode/servers/large'; await ${tool}({});`,
    );
    return { errorClass: diagnostics[0]?.errorClass, types: types.map(({ path }) => path) };
  };
  expect(await failed('tool_1')).toEqual({ errorClass: 'AuthenticationError', types: [] });
  expect(await failed('tool_2')).toEqual({ errorClass: 'ToolCallError', types: ['@codemode/servers/large'] });
});

test('a changed list that takes 1.5 s is there for the next run, and not within one [A32]', async () => {
  await using codemode = await startCodemode({ servers: { s: slow('--list-delay', '1500') } });
  const during = await codemode.value(`
    import { grow } from '@codemode/servers/s';
    import { listTools, searchTools } from '@codemode/discovery';
    const seen = async () => [(await searchTools('added')).results.length, (await listTools('s')).length];
    const before = await seen();
    await grow({ name: 'added' });
    await new Promise((resolve) => setTimeout(resolve, 2500));
    ${RESULT} [before, await seen()];`);
  expect(during).toEqual([
    [0, 2],
    [0, 2],
  ]);
  const USES = [
    (name: string) => `import { ${name} } from '@codemode/servers/s'; ${RESULT} await ${name}() === '${name} world';`,
    (name: string) => `import { searchTools } from '@codemode/discovery';
      ${RESULT} (await searchTools('${name}')).results.some((hit) => hit.toolName === '${name}');`,
    (name: string) => `const path = 's'; ${RESULT} '${name}' in await import('@codemode/servers/' + path);`,
  ];
  for (const [index, use] of USES.entries()) {
    const name = `added${index}`;
    await codemode.value(`import { grow } from '@codemode/servers/s'; await grow({ name: '${name}' });`);
    expect(await codemode.value(use(name))).toBe(true);
  }
});

test('a call that waits for a person is not in the trace as a failed one [A10]', async () => {
  const tools = [
    { name: 'look', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } },
    { name: 'wipe', inputSchema: { type: 'object' }, annotations: { destructiveHint: true } },
  ];
  await using codemode = await startCodemode({ scripts: { disk: { tools } } });
  const program = `import { look, wipe } from '@codemode/servers/disk'; await look(); await wipe();`;
  const { diagnostics, toolTrace } = await codemode.run(program);
  expect(diagnostics.map(({ code }) => code)).toEqual(['APPROVAL_PENDING']);
  expect(toolTrace.map(({ toolName, ok }) => [toolName, ok])).toEqual([['look', true]]);
  expect(await codemode.run(program, { response: { toolTrace: 'none' } })).not.toHaveProperty('toolTrace');
});

test('JavaScript that TypeScript reads otherwise runs as JavaScript, and TypeScript as itself [A4]', async () => {
  await using codemode = await startCodemode({});
  const given = 'const a = 1, b = 2, c = 5, d = 3; const list = (...items) => items;';
  expect(await codemode.value(`${given} ${RESULT} list(a < b, c > (d));`)).toEqual([true, true]);
  expect(await codemode.value(`${given} ${RESULT} [a<b, c>(d)];`)).toEqual([true, true]);
  expect(await codemode.value(`${given} ${RESULT} [a<b>(d), a<c>b];`)).toEqual([false, false]);
  const generic = 'const both = <A, B>(a: A) => [a] as unknown as [A, B]; class Row {} class Cell {}';
  expect(await codemode.value(`${generic} ${RESULT} both<Row, Cell>(1);`)).toEqual([1]);
  expect(await codemode.value(`${RESULT} [...new Map<string, number>([['x', 1]]).keys()];`)).toEqual(['x']);
});

test("a failed import, or one of a server with a similar name, brings no other server's types [A18]", async () => {
  const tools = Array.from({ length: 30 }, (_, index) => ({
    name: `tool_${index}`,
    description: 'Does one of thirty things, and says so at some length so that types are not in the prompt.',
    inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
    annotations: { readOnlyHint: true },
  }));
  await using codemode = await startCodemode({ scripts: { git: { tools }, github: { tools } } });
  await codemode.client.listTools();
  for (const [module, hint] of [
    ['lodash', 'Leave the import out and write it in plain JavaScript: there are no packages here.'],
    ['./helper.js', 'Write everything into one program: there are no other files here.'],
    ['@codemode/fetching', expect.stringMatching(/^Import one of these modules: @codemode\/servers\/<serverId>, /)],
  ] as const) {
    const { diagnostics, types } = await codemode.run(`import x from '${module}';`);
    expect([diagnostics[0]?.hint, types]).toEqual([hint, []]);
  }
  const { types } = await codemode.run(
    `import { tool_3 } from '@codemode/servers/github'; globalThis.__codemode_result__ = await tool_3({});`,
  );
  expect(types.map(({ path }) => path)).toEqual(['@codemode/servers/github']);
});

test('the first answer about a server names its other functions, in at most 60 tokens, once', async () => {
  const tool = (name: string, parameters: string[] = [], annotations = {}) => ({
    name,
    inputSchema: { type: 'object', properties: Object.fromEntries(parameters.map((each) => [each, {}])) },
    annotations,
  });
  const numbered = (count: number, parameters: string[]) =>
    Array.from({ length: count }, (_, at) => tool(`do_${at}`, parameters));
  const small = [tool('rows', ['table']), tool('drop', ['table'], { destructiveHint: true }), tool('count')];
  await using codemode = await startCodemode({
    scripts: {
      small: { tools: small },
      wide: { tools: numbered(12, ['repository_path', 'revision_range', 'file_pattern']) },
      huge: { tools: numbered(90, ['a']) },
    },
    config: { prompt: { tokenBudget: 500 } },
  });
  const alsoOf = async (server: string, name: string) => {
    const { types } = await codemode.run(`import { ${name} } from '@codemode/servers/${server}'; await ${name}({});`);
    return /^\/\/ also: .*$/m.exec(types[0]?.message ?? '')?.[0];
  };
  expect(await alsoOf('small', 'count')).toBe('// also: rows(table?), drop(table?) @asks');
  expect(await alsoOf('small', 'rows')).toBeUndefined();
  // By name where too few would fit with their parameters, and not at all where too few would fit by name.
  const wide = (await alsoOf('wide', 'do_3')) ?? '';
  expect(wide).toBe('// also: do_0, do_1, do_10, do_11, do_2, do_4, do_5, do_6, do_7, do_8, do_9');
  expect(countTokens(wide)).toBeLessThanOrEqual(65);
  expect(await alsoOf('huge', 'do_3')).toBeUndefined();
});

test('servers that come late are announced together, in 800 tokens', async () => {
  using files = openWorkFolder();
  const sign = join(files.path, 'go-on');
  const names = (server: string) => Array.from({ length: 11 }, (_, at) => `list_all_entries_of_${server}_number_${at}`);
  const ids = ['one', 'two', 'three', 'four'];
  await using codemode = await startCodemode({
    servers: Object.fromEntries(ids.map((id) => [id, slow('--until', sign, '--tools', names(id).join())])),
    config: { catalog: { firstListing: '50ms' }, defaults: { codeMode: { excludedTools: ['grow'] } } },
  });
  await codemode.client.listTools();
  writeFileSync(sign, '');
  // A tool of its own shows that a server has come, and no program is told of it meanwhile.
  await until(async () => (await codemode.client.listTools()).tools.length > ids.length);
  const { types } = await codemode.run('1');
  expect(types.map(({ path }) => path)).toEqual(expect.arrayContaining(ids.map((id) => `@codemode/servers/${id}`)));
  expect(countTokens(types.map(({ message }) => message).join('\n'))).toBeLessThanOrEqual(800);
  expect((await codemode.run('1')).types).toEqual([]);
});

test('types of a failed program that do not fit name the tools that it calls first', async () => {
  const fields = Array.from({ length: 60 }, (_, at) => [`field_number_${at}`, { type: 'string' }]);
  const large = { type: 'object', properties: Object.fromEntries(fields), required: ['field_number_0'] };
  const tools = [
    ...Array.from({ length: 30 }, (_, at) => ({ name: `read_${at}`, inputSchema: { type: 'object' } })),
    ...['write_a', 'write_b'].map((name) => ({ name, inputSchema: large })),
  ];
  await using codemode = await startCodemode({ scripts: { s: { tools } }, config: { prompt: { tokenBudget: 500 } } });
  const { types } = await codemode.run(
    `import { write_a, write_b } from '@codemode/servers/s'; await write_a({ a: 1 }); await write_b({});`,
  );
  expect(types[0]?.message).toMatch(/Not declared here: \d+ of 32 tools \((?:write_a, )?write_b, read_0/);
});
