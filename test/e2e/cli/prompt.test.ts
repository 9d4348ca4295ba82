import { expect, test } from 'vitest';
import { Home } from '../../support/cli.js';
import { AS_SHIPPED, everyday, openHome, openStdio, ready } from '../../support/program.js';
import { fixture } from '../../support/upstreams.js';

test('prompt prints what an agent’s client gets: instructions and the tool’s description [A36]', async () => {
  using home = new Home();
  home.write('codemode.config.yaml', {
    mcpServers: { everyday: { command: process.execPath, args: [fixture('everyday-server.mjs')] } },
  });
  const { instructions, tools } = await home.json<{
    instructions: string;
    tools: { name: string; description: string }[];
  }>(['prompt', '--json']);
  expect(tools.map(({ name }) => name)).toEqual(['codemode_run']);
  expect(instructions).toContain('export function echo(input: {');

  using agentHome = openHome({ ...AS_SHIPPED, mcpServers: { everyday: everyday() } });
  {
    // The first start has nothing on disk; the second answers from there.
    await using first = await openStdio(agentHome);
    await ready(first.client, 'everyday');
  }
  await using second = await openStdio(agentHome);
  const { tools: listed } = await second.client.listTools();
  expect(listed[0]?.description).toBe(tools[0]?.description);
  expect(second.client.getInstructions()).toBe(instructions);
});

test('prompt --model shows what an agent of that entry of models reads, as `mcp --model` does [E7]', async () => {
  using home = new Home();
  home.write('codemode.config.yaml', {
    mcpServers: { everyday: { command: process.execPath, args: [fixture('everyday-server.mjs')] } },
    defaults: { codeMode: { excludedTools: ['pid'] } },
    models: [
      { ref: 'small', codeMode: { excludedTools: ['add', 'fail'] } },
      { ref: 'plain', codeMode: { enabled: false } },
    ],
  });
  const of = async (...more: string[]) => {
    const { instructions, tools } = await home.json<{ instructions: string; tools: { name: string }[] }>([
      ...['prompt', '--json'],
      ...more,
    ]);
    return { instructions, names: tools.map(({ name }) => name) };
  };
  const usual = await of();
  expect(usual.names).toEqual(['codemode_run', 'pid']);
  const small = await of('--model', 'small');
  expect(small.names).toEqual(['codemode_run', 'add', 'fail']);
  expect([usual, small].map(({ instructions }) => instructions.includes('export function add('))).toEqual([
    true,
    false,
  ]);
  const plain = await of('--model', 'plain');
  expect([plain.instructions, plain.names.includes('echo'), plain.names.includes('codemode_run')]).toEqual([
    '',
    true,
    false,
  ]);
  const { status, stderr } = await home.run(['prompt', '--model', 'smal']);
  expect([status, stderr]).toEqual([
    2,
    expect.stringMatching(/there is no model "smal" in the configuration; did you mean "?small/),
  ]);
});
