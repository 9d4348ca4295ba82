import { expect, test } from 'vitest';
import { Home } from '../support/cli.js';
import { AS_SHIPPED, everyday, openHome, openStdio, ready } from '../support/program.js';
import { fixture } from '../support/upstreams.js';

test('prompt prints what an agent’s client is given: the instructions, and the description of the tool [A36]', async () => {
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
