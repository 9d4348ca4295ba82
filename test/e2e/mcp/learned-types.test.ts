import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { startCodemode } from '../../support/codemode-client.js';
import { AS_SHIPPED, everyday, type Home, openHome, openStdio, ready, run, runProgram } from '../../support/program.js';

const mcpServers = { everyday: everyday() };
const WEATHER = `import { echo } from '@codemode/servers/everyday';
  globalThis.__codemode_result__ = await echo({ message: JSON.stringify({ city: 'Canary Wharf', temperature: 3 }) });`;
const OBSERVED = 'Promise</** JSON text of: { city: string; temperature: number } */ string>';

async function learn(home: Home): Promise<void> {
  await using program = await openStdio(home);
  await ready(program.client, 'everyday');
  await run(program.client, WEATHER);
}

function stateOf({ state }: Home): string {
  const files = readdirSync(state, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.map((file) => readFileSync(join(file.parentPath, file.name), 'utf8')).join('\n');
}

test("an observed result shape is in the next start's prompt, marked, without any values", async () => {
  using home = openHome({ mcpServers });
  await learn(home);
  await using program = await openStdio(home);
  const { contents } = await program.client.readResource({ uri: 'codemode://servers/everyday/types.d.ts' });
  const { stdout: types } = await runProgram(home, 'types', 'everyday');
  for (const text of [program.client.getInstructions(), (contents[0] as { text: string }).text, types]) {
    expect(text).toContain(OBSERVED);
    expect(text).toContain('Observed, not declared');
    expect(text).not.toContain('Canary Wharf');
  }
  expect(stateOf(home)).toContain('temperature');
  expect(stateOf(home)).not.toContain('Canary');
});

test('a type observed under one contract is not used by another, whose answers differ', async () => {
  using home = openHome({ mcpServers });
  {
    await using unified = await openStdio(home, 'legacy', {}, ['--profile', 'unified']);
    const { structuredContent } = await unified.client.callTool({
      name: 'execute_code',
      arguments: { code: `return await mcp.everyday.echo('{"city":"a"}')`, capabilities: ['mcp:everyday'] },
    });
    expect(structuredContent).toMatchObject({ success: true, result: { city: 'a' } });
  }
  await using again = await openStdio(home, 'legacy', {}, ['--profile', 'unified']);
  await using codemode = await openStdio(home);
  const [told, other] = [again, codemode].map(({ client }) => client.getInstructions());
  expect([told?.includes('city: string'), other?.includes('city: string')]).toEqual([true, false]);
});

test('learnTypes: false learns nothing and writes nothing', async () => {
  using home = openHome({ mcpServers, learnTypes: false });
  await learn(home);
  await using program = await openStdio(home);
  expect(program.client.getInstructions()).toContain('function echo(');
  expect(program.client.getInstructions()).not.toContain(OBSERVED);
  expect(stateOf(home)).not.toContain('temperature');
});

describe('what kind of text a tool returns', () => {
  const tool = (name: string, more: object = {}) => ({
    name,
    inputSchema: { type: 'object' },
    annotations: { readOnlyHint: true },
    ...more,
  });
  const text = (words: string) => ({ content: [{ type: 'text', text: words }] });
  const scripts = {
    office: {
      tools: [
        ...['csv', 'dated', 'lines', 'table', 'literal', 'cut', 'plain', 'headless'].map((name) => tool(name)),
        tool('read_query', {
          description: 'Execute a SELECT query on the SQLite database',
          inputSchema: { type: 'object', properties: { query: { type: 'string' } } },
        }),
      ],
      replies: {
        csv: text('order_id,customer_name,total\n1,Ann Canary,3.5\n2,Ben,4\n'),
        dated: text('id,name,born\nuser-1,Ann Canary,\nuser-2,Ben,2001-02-03\nuser-3,Cleo,\n'),
        lines: text('{"level":"info","count":1}\n{"level":"warn","count":2}\n'),
        table: text('Found:\n\n| name | city | total |\n|---|---|---|\n| Ann Canary | Oslo | 3 |\n'),
        literal: text("[{'id': 1, 'parent': None, 'tags': ('a', 'b')}]"),
        cut: text('[{"id":1,"name":"Ann Canary"},{"id":2,"na'),
        plain: text('All is well, and Ann Canary, too.'),
        headless: text('Canary,Oslo,yes\nBen,Porto,no\n'),
        read_query: text('[{"canary_column":1,"other":"x"}]'),
      },
    },
  };
  let types = '';

  beforeAll(async () => {
    await using codemode = await startCodemode({ scripts });
    await codemode.value(`import * as office from '@codemode/servers/office';
      for (const name of ${JSON.stringify(Object.keys(scripts.office.replies))}) await office[name](name === 'read_query' ? { query: 'SELECT 1' } : {});`);
    types = (await codemode.value(`import { getTypes } from '@codemode/discovery';
      globalThis.__codemode_result__ = await getTypes('office');`)) as string;
  });

  test.each([
    ['csv', '/** CSV text of: { order_id: string; customer_name: string; total: string }[] */ string'],
    ['dated', '/** CSV text of: { id: string; name: string; born: string }[] */ string'],
    ['lines', '/** JSON lines of: { level: string; count: number }[] */ string'],
    ['table', '/** Markdown table of: { name: string; city: string; total: string }[] */ string'],
    ['literal', '/** Python literal of: { id: number; parent: null; tags: string[] }[] */ string'],
    ['cut', '/** JSON text, cut off by the server where it is long */ string'],
    ['plain', 'string'],
    // A first line of data would be kept as names of fields.
    ['headless', '/** CSV text */ string'],
    // The columns are the query's: the next one has others.
    ['read_query', '/** JSON text of: Record<string, unknown>[] */ string'],
  ])('is declared: %s', (name, type) => {
    expect(types).toMatch(new RegExp(`function ${name}\\([^)]*\\): Promise<${escaped(type)}>`));
  });

  test('keeps no value', () => {
    expect(types).not.toMatch(/canary/i);
  });
});

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

test('servers that this caller has used come first in the next session, and stay within one', async () => {
  const servers = { alpha: everyday(), beta: everyday(), gamma: everyday() };
  using home = openHome({ ...AS_SHIPPED, mcpServers: servers });
  const listed = async (used: string) => {
    await using program = await openStdio(home);
    await ready(program.client, 'alpha', 'beta', 'gamma');
    const order = async () => {
      const { tools } = await program.client.listTools();
      return [...(tools[0]?.description ?? '').matchAll(/^- (\w+) \(/gm)].map(([, name]) => name);
    };
    const before = await order();
    await run(program.client, `import { echo } from '@codemode/servers/${used}'; await echo({ message: 'a' });`);
    expect(await order()).toEqual(before);
    return before;
  };
  expect(await listed('gamma')).toEqual(['alpha', 'beta', 'gamma']);
  expect(await listed('gamma')).toEqual(['gamma', 'alpha', 'beta']);
});
