import { expect, test } from 'vitest';
import { estimateTokens } from '../../../src/catalog/briefing/tokens.js';
import { startCodemode } from '../../support/codemode-client.js';

/** More tools than the agent can be told about up front. */
const many = (server: string) =>
  Array.from({ length: 120 }, (_, index) => ({
    name: `${server}_tool_number_${index}`,
    description: 'Looks something up in a place where many things are kept, and says what was found there.',
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries(
        Array.from({ length: 12 }, (__, property) => [
          `property_number_${property}_of_${index}`,
          { type: 'string', description: 'One of several words that narrow down what is looked for.' },
        ]),
      ),
    },
  }));

test('too many tools get an index first, and a server’s declarations with its first answer [A18]', async () => {
  await using codemode = await startCodemode({
    scripts: { alpha: { tools: many('alpha') }, beta: { tools: many('beta') } },
  });
  await codemode.run('globalThis.__codemode_result__ = 1;');
  const types = async (code: string, more?: Record<string, unknown>) =>
    (await codemode.run(code, more)).types.map(({ path, message }) => [path, message]);

  const [first] = await types(
    `import { alpha_tool_number_7 } from '@codemode/servers/alpha'; await alpha_tool_number_7({});`,
  );
  expect(first?.[0]).toBe('@codemode/servers/alpha');
  expect(first?.[1]).toContain('export function alpha_tool_number_7(');
  expect(await types(`import '@codemode/servers/alpha';`)).toEqual([]);
  const beta = await types('1;', { requestedCapabilities: ['mcp:beta'] });
  expect(beta).toEqual([['@codemode/servers/beta', expect.stringContaining('beta')]]);
  // As many as there is room for, and how to get the others. Once in a session.
  const count = beta[0]?.[1]?.match(/export function /g)?.length ?? 0;
  expect(count).toBeGreaterThan(2);
  expect(beta[0]?.[1]).toContain(`// Not declared here: ${120 - count} of 120 tools`);
  expect(beta[0]?.[1]).toContain('; await getTypes("beta", ["<tool>"]) of @codemode/discovery\n');
  expect(estimateTokens(beta[0]?.[1] ?? '')).toBeLessThanOrEqual(800);
  expect(await types('1;', { requestedCapabilities: ['mcp:beta'] })).toEqual([]);
  // Those that a program names stand first, and those that came before do not come again.
  const used = `import { alpha_tool_number_99 } from '@codemode/servers/alpha'; await alpha_tool_number_99({});`;
  const [more] = await types(used, { requestedCapabilities: ['alpha'] });
  expect(more?.[1]).toContain('export function alpha_tool_number_99(');
  expect(more?.[1]?.match(/export function /g)?.length).toBeGreaterThan(2);
  expect(more?.[1]).not.toContain('export function alpha_tool_number_7(');

  const instructions = codemode.client.getInstructions() ?? '';
  expect(instructions).toContain('alpha');
  expect(instructions.length).toBeLessThan(80_000);
});

test('where they fit, all declarations are in the server’s instructions [A18]', async () => {
  await using codemode = await startCodemode({
    scripts: {
      small: {
        tools: [
          { name: 'look', inputSchema: { type: 'object', properties: { at: { type: 'string' } }, required: ['at'] } },
        ],
      },
    },
  });
  const { tools } = await codemode.client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(['codemode_run']);
  expect(tools[0]?.description?.length).toBeLessThanOrEqual(2_048);
  // The first start has nothing on disk: the servers are known once they have been asked.
  await codemode.run(`import '@codemode/servers/small';`);
  const { resources } = await codemode.client.listResources();
  const uri = resources.find(({ uri: each }) => each.includes('small'))?.uri ?? '';
  const { contents } = await codemode.client.readResource({ uri });
  expect(JSON.stringify(contents)).toContain('export function look(input: { at: string');
});

test('what tools without an output schema answer is learned as a type, without its values', async () => {
  await using codemode = await startCodemode({
    scripts: {
      shop: {
        tools: [{ name: 'orders', inputSchema: { type: 'object' } }],
        replies: { orders: { content: [], structuredContent: { orders: [{ id: 7, customer: 'sesame' }] } } },
      },
    },
  });
  await codemode.value(`import { orders } from '@codemode/servers/shop'; await orders({});`);
  const tool = (await codemode.value(
    `import { getTool } from '@codemode/discovery'; globalThis.__codemode_result__ = await getTool('shop', 'orders');`,
  )) as { observedOutputType: string };
  expect(tool.observedOutputType).toContain('customer: string');
  expect(JSON.stringify(tool)).not.toContain('sesame');
});
