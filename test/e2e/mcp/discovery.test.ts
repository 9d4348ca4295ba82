import { afterAll, beforeAll, expect, test } from 'vitest';
import { Home } from '../../support/cli.js';
import { fixture } from '../../support/upstreams.js';

const node = process.execPath;
let home: Home;
beforeAll(() => {
  home = new Home();
  home.write('codemode.config.yaml', {
    mcpServers: {
      'Every Day': { command: node, args: [fixture('everyday-server.mjs')] },
      odd: { command: node, args: [fixture('awkward-server.mjs'), 'odd-tools'] },
    },
  });
});
afterAll(() => home[Symbol.dispose]());

/** Runs a program that has everything of `@codemode/discovery` as `d`, and gives what it makes of it. */
async function discover<T>(expression: string): Promise<T> {
  const input = `import * as d from '@codemode/discovery';\nglobalThis.__codemode_result__ = ${expression};`;
  const { result, diagnostics } = await home.json<{ result: T; diagnostics: unknown[] }>(['run', '-'], { input });
  expect(diagnostics).toEqual([]);
  return result;
}

test('a program learns which servers and tools there are, and which contract it speaks [A15]', async () => {
  const found = await discover<Record<string, unknown>>(`{
    version: d.specVersion,
    servers: await d.listServers(),
    server: await d.describeServer('every-day'),
    tools: (await d.listTools('every-day')).map((tool) => tool.toolName),
    tool: await d.getTool('every-day', 'add'),
    hits: (await d.searchTools('add two numbers', { limit: 1 })),
    missing: await d.getTool('every-day', 'ad').catch((error) => [error.constructor.name, error.message, error.hint]),
  }`);
  expect(found).toEqual({
    version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
    servers: [
      { serverId: 'every-day', serverName: 'everyday', capabilities: ['every-day', 'mcp:every-day'] },
      { serverId: 'odd', serverName: 'awkward', capabilities: ['odd', 'mcp:odd'] },
    ],
    server: {
      serverId: 'every-day',
      serverName: 'everyday',
      capabilities: ['every-day', 'mcp:every-day'],
      description: 'Everyday tools.',
      version: '1.2.3',
    },
    tools: expect.arrayContaining(['echo', 'add', 'confirm']),
    tool: {
      toolName: 'add',
      exportName: 'add',
      signature: 'add({ a: number, b: number }): { sum: number }',
      description: 'Adds two numbers.',
      inputSchema: expect.objectContaining({ required: ['a', 'b'] }),
      outputSchema: expect.objectContaining({ required: ['sum'] }),
    },
    hits: {
      query: 'add two numbers',
      results: [
        {
          serverId: 'every-day',
          toolName: 'add',
          exportName: 'add',
          signature: 'add({ a: number, b: number }): { sum: number }',
          description: 'Adds two numbers.',
        },
      ],
    },
    missing: ['ToolNotFoundError', 'every-day has no tool "ad"', expect.stringContaining('"add"')],
  });
});

test('each level of detail omits what only higher ones have, and description is the default [A16]', async () => {
  const keys = await discover<Record<string, string[]>>(`Object.fromEntries(await Promise.all(
    [undefined, 'name', 'description', 'full'].map(async (detail) => {
      const tools = await d.listTools('every-day', detail === undefined ? undefined : { detail });
      return [String(detail), Object.keys(tools.find((tool) => tool.toolName === 'echo'))];
    }),
  ))`);
  expect(keys).toEqual({
    undefined: ['toolName', 'exportName', 'signature', 'description', 'annotations'],
    name: ['toolName', 'exportName'],
    description: ['toolName', 'exportName', 'signature', 'description', 'annotations'],
    full: ['toolName', 'exportName', 'signature', 'description', 'annotations', 'inputSchema'],
  });
});

test("search ranks the best tool first, honours server and limit, and names each hit's server [A17]", async () => {
  const found = await discover<Record<string, { serverId: string; toolName: string; inputSchema?: unknown }[]>>(`{
    best: (await d.searchTools('say it again')).results.slice(0, 1),
    limited: (await d.searchTools('a', { limit: 2 })).results,
    one: (await d.searchTools('good', { serverId: 'odd' })).results,
    full: (await d.searchTools('echo', { limit: 1, detail: 'full' })).results,
  }`);
  expect(found.best?.[0]).toMatchObject({ serverId: 'every-day', toolName: 'echo' });
  expect(found.limited?.length).toBeLessThanOrEqual(2);
  expect(found.one?.[0]).toMatchObject({ serverId: 'odd', toolName: 'good' });
  expect(found.one?.filter(({ serverId }) => serverId !== 'odd')).toEqual([]);
  expect(found.full?.[0]?.inputSchema).toBeDefined();
  const { results } = await home.json<{ results: unknown[] }>(['tools', 'say it again', '--limit', '1', '--json']);
  expect(results).toEqual(found.best);
});
