import { expect, test } from 'vitest';
import { startCodemode } from '../../support/codemode-client.js';
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
    annotations: { readOnlyHint: true },
  }));
  await using codemode = await startCodemode({ scripts: { large: { tools } } });
  await codemode.client.listTools();
  await codemode.value('1', { requestedCapabilities: ['large'] });
  const types = (more: string) =>
    codemode.value(`import { getTypes } from '@codemode/discovery'; ${RESULT} await getTypes('large'${more});`);
  const whole = (await types('')) as string;
  expect(whole.match(/export function /g)).toHaveLength(400);
  expect(whole.match(/@annotations readOnlyHint: true/g)).toHaveLength(400);
  const some = (await types(", ['tool-7', 'tool_399']")) as string;
  expect([...some.matchAll(/export function (\w+)/g)].map(([, name]) => name)).toEqual(['tool_399', 'tool_7']);
  expect(typeCheck(new Map([['some.d.ts', some]]))).toEqual([]);
  await expect(types(", ['tool-x']")).rejects.toThrow(/large has no tool "tool-x"/);
  expect(codemode.client.getInstructions()).toContain('getTypes(serverId');
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
  const { diagnostics, toolTrace } = await codemode.run(
    `import { look, wipe } from '@codemode/servers/disk'; await look(); await wipe();`,
  );
  expect(diagnostics.map(({ code }) => code)).toEqual(['APPROVAL_PENDING']);
  expect(toolTrace.map(({ toolName, ok }) => [toolName, ok])).toEqual([['look', true]]);
});

test('JavaScript that TypeScript reads otherwise runs as JavaScript, and TypeScript as itself [A4]', async () => {
  await using codemode = await startCodemode({});
  const given = 'const a = 1, b = 2, c = 5, d = 3; const list = (...items) => items;';
  expect(await codemode.value(`${given} ${RESULT} list(a < b, c > (d));`)).toEqual([true, true]);
  expect(await codemode.value(`${given} ${RESULT} [a<b, c>(d)];`)).toEqual([true, true]);
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
    ['@codemode/fetching', expect.stringMatching(/^Modules that can be imported: @codemode\/servers\/<serverId>, /)],
  ] as const) {
    const { diagnostics, types } = await codemode.run(`import x from '${module}';`);
    expect([diagnostics[0]?.hint, types]).toEqual([hint, []]);
  }
  const { types } = await codemode.run(
    `import { tool_3 } from '@codemode/servers/github'; globalThis.__codemode_result__ = await tool_3({});`,
  );
  expect(types.map(({ path }) => path)).toEqual(['@codemode/servers/github']);
});
