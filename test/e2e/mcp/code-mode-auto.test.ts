import { expect, test } from 'vitest';
import {
  AS_SHIPPED,
  everyday,
  openHome,
  openStdio,
  run,
  runProgram,
  startServe,
  until,
} from '../../support/program.js';

/** `codeMode: auto`: a client gets the tools themselves where they cost less to read than code mode does. */
const AUTO = { ...AS_SHIPPED, defaults: { codeMode: 'auto' } };

test('few small tools are given directly, without a word about programs', async () => {
  using home = openHome({ mcpServers: { everyday: everyday() }, ...AUTO });
  await using program = await openStdio(home);
  const { client } = program;
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['add', 'echo']));
  expect([tools.some(({ name }) => name === 'codemode_run'), client.getInstructions()]).toEqual([false, undefined]);
  expect(await client.callTool({ name: 'add', arguments: { a: 20, b: 22 } })).toMatchObject({
    structuredContent: { sum: 42 },
  });
  // What agents get is also what people are shown, and why.
  const { stdout: prompt } = await runProgram(home, 'prompt', '--json');
  expect(JSON.parse(prompt).instructions).toBe('');
  const { stdout: doctor } = await runProgram(home, 'doctor', '--json');
  const { findings } = JSON.parse(doctor) as { findings: { name: string; message: string }[] };
  expect(findings.find(({ name }) => name === 'Code mode')?.message).toMatch(
    /^agents get the tools directly \(defaults\.codeMode\.enabled: auto\): the definitions of \d+ tools have \d+ tokens, and code mode takes \d+$/,
  );
});

test('past the break-even a new client gets code mode, and one that is connected keeps its tools', async () => {
  using home = openHome({ mcpServers: { everyday: everyday() }, ...AUTO });
  await using server = await startServe(home);
  await using first = await server.connect('legacy');
  const namesOf = async (client: typeof first.client) => (await client.listTools()).tools.map(({ name }) => name);
  expect(await namesOf(first.client)).toContain('grow');
  const long = 'a_tool_with_a_name_that_says_much_of_what_it_does';
  const grown = Array.from({ length: 80 }, (_, number) => `${long}_${number}`);
  for (const name of grown) await first.client.callTool({ name: 'grow', arguments: { name } });
  await until(async () => (await namesOf(first.client)).includes(grown.at(-1) ?? ''));
  expect(await namesOf(first.client)).not.toContain('codemode_run');

  await using second = await server.connect('legacy');
  expect(await namesOf(second.client)).toEqual(['codemode_run']);
  expect(second.client.getInstructions()).toContain('everyday');
  const source =
    "import { add } from '@codemode/servers/everyday'; globalThis.__codemode_result__ = await add({ a: 1, b: 2 });";
  expect((await run(second.client, source)).result).toEqual({ sum: 3 });
  expect(await first.client.callTool({ name: 'add', arguments: { a: 20, b: 22 } })).toMatchObject({
    structuredContent: { sum: 42 },
  });
});
