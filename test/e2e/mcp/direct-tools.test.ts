import { expect, test } from 'vitest';
import { startCodemode } from '../../support/codemode-client.js';
import {
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
import { fixture } from '../../support/upstreams.js';

const ERAS: readonly Era[] = ['legacy', 'modern'];
const config = {
  mcpServers: { everyday: everyday() },
  defaults: { codeMode: { excludedTools: ['everyday/image', 'add', 'fail', 'slo*', 'pid'] } },
};

test.each(ERAS)('excluded tools are listed and called as they are, and not from code, %s [E7, A1]', async (era) => {
  using home = openHome(config);
  await using program = await openStdio(home, era);
  const { client } = program;
  await ready(client, 'everyday');
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name).sort()).toEqual(['add', 'codemode_run', 'fail', 'image', 'pid', 'slow']);
  expect(tools.find(({ name }) => name === 'add')).toMatchObject({
    description: 'Adds two numbers.',
    inputSchema: { type: 'object', properties: { a: { type: 'number' } }, required: ['a', 'b'] },
    outputSchema: { type: 'object', properties: { sum: { type: 'number' } } },
  });

  // One connection for all of them.
  const { content } = await client.callTool({ name: 'pid', arguments: {} });
  expect((await client.callTool({ name: 'pid', arguments: {} })).content).toEqual(content);
  expect(await client.callTool({ name: 'image', arguments: {} })).toMatchObject({
    content: [{ type: 'image', mimeType: 'image/png', data: expect.stringMatching(/^iVBOR/) }],
  });
  expect(await client.callTool({ name: 'add', arguments: { a: 20, b: 22 } })).toMatchObject({
    content: [{ type: 'text', text: '42' }],
    structuredContent: { sum: 42 },
  });
  expect(await client.callTool({ name: 'fail', arguments: {} })).toMatchObject({
    content: [{ type: 'text', text: 'it did not work' }],
    isError: true,
  });
  const heard: unknown[] = [];
  const slow = await client.callTool(
    { name: 'slow', arguments: { ms: 500 } },
    { onprogress: (each) => heard.push(each) },
  );
  expect([slow.content, heard]).toEqual([
    [{ type: 'text', text: 'done' }],
    [{ progress: 1, total: 2, message: 'half' }],
  ]);

  const fromCode = await run(
    client,
    `import * as everyday from '@codemode/servers/everyday';
     import { listTools } from '@codemode/discovery';
     const names = (await listTools('everyday', { detail: 'name' })).map(({ toolName }) => toolName);
     globalThis.__codemode_result__ = [typeof everyday.echo, typeof everyday.add, names.includes('echo'), names.includes('add')];`,
  );
  expect(fromCode.result).toEqual(['function', 'undefined', true, false]);
});

test('a named model decides which tools are excluded, over both doors [E7]', async () => {
  using home = openHome({ ...config, models: [{ ref: 'small', codeMode: { excludedTools: ['echo'] } }] });
  await using program = await openStdio(home, 'legacy', {}, ['--model', 'small']);
  await using server = await startServe(home, '--model', 'small');
  await using connected = await server.connect('modern');
  for (const client of [program.client, connected.client]) {
    await ready(client, 'everyday');
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['codemode_run', 'echo']);
  }
});

test('without code mode every tool is listed under a free name, and nothing else [E7]', async () => {
  using home = openHome({
    mcpServers: { one: everyday(), two: everyday(), files: packageServer('server-filesystem', process.cwd()) },
    defaults: { codeMode: { enabled: false } },
  });
  await using program = await openStdio(home);
  const { client } = program;
  let names: string[] = [];
  await until(async () => {
    names = (await client.listTools()).tools.map(({ name }) => name);
    return names.includes('one__echo') && names.includes('read_text_file');
  });
  expect(names).not.toContain('codemode_run');
  expect(names).toEqual(expect.arrayContaining(['one__echo', 'two__echo', 'read_text_file']));
  expect(await client.callTool({ name: 'two__echo', arguments: { message: 'hello' } })).toMatchObject({
    content: [{ type: 'text', text: 'hello' }],
  });
  const read = await client.callTool({ name: 'read_text_file', arguments: { path: `${process.cwd()}/package.json` } });
  expect(JSON.stringify(read.content)).toContain('codemode');
});

test('unknown content types arrive as text, and odd names and schemas are listed [E7, X6]', async () => {
  using home = openHome({
    mcpServers: { awkward: nodeServer(fixture('awkward-server.mjs'), 'odd-tools') },
    defaults: { codeMode: { enabled: false } },
  });
  await using program = await openStdio(home);
  const { tools } = await program.client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['good', 'no-schema', 'a_b_c__', 'constructor']),
  );
  expect(await program.client.callTool({ name: 'good', arguments: {} })).toMatchObject({ content: [] });
});

test('errors of direct calls say what a client can do, and name no functions of programs [E7]', async () => {
  const named = (name: string) => ({ name, inputSchema: { type: 'object', properties: { path: { type: 'string' } } } });
  await using codemode = await startCodemode({
    scripts: {
      'my-files': {
        tools: [
          { ...named('read-file'), inputSchema: { ...named('').inputSchema, required: ['path'] } },
          named('list'),
        ],
        replies: { list: { rpcError: { code: -32602, message: 'no such folder' } } },
      },
    },
    config: { defaults: { codeMode: { enabled: false } } },
  });
  await until(async () => (await codemode.client.listTools()).tools.length === 2);
  const textOf = async (name: string, args: Record<string, unknown>) => {
    const { content } = await codemode.client.callTool({ name, arguments: args });
    return (content as { text: string }[]).map(({ text }) => text).join('\n');
  };
  expect(await textOf('read-file', { path: 1 })).toMatch(
    /^Invalid input for read-file at .* Example arguments: \{"path":".*"\}\nPass it as a string: "1"\.$/,
  );
  expect(await textOf('list', {})).toMatch(
    /^my-files refused the call: .*no such folder.*\nCorrect the arguments: tools\/list has the input schema\.$/,
  );
});
