import { describe, expect, test } from 'vitest';
import { needs } from '../../support/needs.js';
import { LANGUAGES, RunnerHome } from '../../support/runner.js';
import { fixture } from '../../support/upstreams.js';

const SERVERS = {
  mcpServers: {
    'every-day': { command: process.execPath, args: [fixture('everyday-server.mjs')] },
    'dead-one': { command: process.execPath, args: ['-e', 'process.exit(3)'] },
    awkward: { command: process.execPath, args: [fixture('awkward-server.mjs')] },
  },
};

describe.each(LANGUAGES)('servers as %s programs see them', needs('bubblewrap', 'python3'), (language) => {
  test('an import of a server that is down fails with its name and the reason [B4]', async () => {
    using home = new RunnerHome(SERVERS);
    const imports = {
      node: [
        `import * as dead from './servers/dead_one/index.js'; await dead.foo();`,
        `import { foo } from './servers/dead_one/index.js'; await foo();`,
        `await import('./servers/dead_one/index.js');`,
      ],
      python: ['import servers.dead_one as dead\nawait dead.foo()', 'from servers.dead_one import foo\nawait foo()'],
    };
    for (const source of imports[language])
      expect((await home.runner([language], source)).error, source).toMatchObject({
        type: 'ImportError',
        message: expect.stringMatching(/server dead-one is not available: .*codemode servers/),
      });
    const caught = {
      node: `try { await import('./servers/dead_one/index.js'); } catch (error) { globalThis.result = error.message; }`,
      python: 'try:\n    import servers.dead_one\nexcept ImportError as error:\n    result = str(error)',
    };
    expect((await home.runner([language], caught[language])).data).toContain('dead-one');
  });

  test('the catalog tells the names that a program has to write, and they can be called [B5, B13]', async () => {
    using home = new RunnerHome(SERVERS);
    const source = {
      node: `const found = await catalog.searchTools({ detail: 'name' });
        const wrong = [];
        for (const each of found) {
          const module = await import('./servers/' + each.module + '/index.js');
          if (typeof module[each.function] !== 'function') wrong.push(each);
        }
        const { module, function: name } = await catalog.getToolDefinition({ serverId: 'every-day', name: 'add' });
        globalThis.result = { count: found.length, wrong, module, name };`,
      python: `import importlib
found = await catalog.search_tools(detail='name')
wrong = [each for each in found if not callable(getattr(importlib.import_module('servers.' + each['module']), each['function'], None))]
told = await catalog.get_tool_definition(server_id='every-day', name='add')
result = {'count': len(found), 'wrong': wrong, 'module': told['module'], 'name': told['function']}`,
    };
    const { data, stderr } = await home.runner([language], source[language]);
    expect(data, stderr).toMatchObject({ wrong: [], module: 'every_day', name: 'add' });
    expect((data as { count: number }).count).toBeGreaterThan(14);
  });

  test('errors name server and tool as the program writes them, also where names were numbered [B5]', async () => {
    const everyday = SERVERS.mcpServers['every-day'];
    using home = new RunnerHome({
      mcpServers: { 'every-day': everyday, every_day: everyday },
      policy: [{ tools: '*/add', decision: 'ask' }],
    });
    const source = {
      node: `import * as one from './servers/every_day/index.js'; import * as two from './servers/every_day__2/index.js';
        import { normalize } from './client/mcp_client.js';
        const messages = [];
        for (const { add } of [one, two]) messages.push((await normalize(add({ a: 1, b: 2 }))).error.message);
        globalThis.result = messages;`,
      python: `import servers.every_day as one, servers.every_day__2 as two
from client.mcp_client import normalize
result = [(await normalize(module.add({'a': 1, 'b': 2})))['error']['message'] for module in [one, two]]`,
    };
    const { data, stderr } = await home.runner([language], source[language]);
    expect(data, stderr).toEqual(
      ['every_day', 'every_day__2'].map((name) => expect.stringContaining(`${name}.add was not called`)),
    );
  });
});

test("codemode tools has the catalog's server ids and detail levels, and names of both languages [B13]", async () => {
  const { 'every-day': everyday } = SERVERS.mcpServers;
  using home = new RunnerHome({ mcpServers: { 'every.day': everyday }, profile: 'runner' });
  const words = ['--config', home.config, 'tools', 'add numbers', '--server', 'every.day'];
  const { results } = await home.json<{ results: object[] }>([...words, '--detail', 'name+description', '--json']);
  expect(results[0]).toMatchObject({
    ...{ serverId: 'every.day', toolName: 'add', module: 'every_day', description: 'Adds two numbers.' },
    functions: { node: 'add', python: 'add' },
  });
  const { stdout } = await home.run([...words, '--detail', 'full']);
  expect(stdout).toContain(`import { add } from './servers/every_day/index.js';`);
  expect(stdout).toContain('from servers.every_day import add');
});

test('the library has the catalog: names first, whole definitions on demand [B13]', needs('bubblewrap'), async () => {
  const library = (await import(
    new URL('../../../dist/index.js', import.meta.url).href
  )) as typeof import('../../../src/index.js');
  const host = await library.createHost({ config: SERVERS });
  try {
    const found = await host.catalog.searchTools({ query: 'adds numbers', serverId: 'every-day', detail: 'name' });
    expect(found[0]).toEqual({
      ...{ serverId: 'every-day', toolName: 'add', module: 'every_day' },
      functions: { node: 'add', python: 'add' },
    });
    expect(await host.catalog.getToolDefinition({ serverId: 'every-day', name: 'add' })).toMatchObject({
      ...{ name: 'add', description: 'Adds two numbers.' },
      inputSchema: { required: ['a', 'b'] },
    });
    await expect(host.catalog.getToolDefinition({ serverId: 'every-day', name: 'ad' })).rejects.toMatchObject({
      ...{ errorClass: 'ToolNotFound', code: 'TOOL_NOT_FOUND' },
      hint: expect.stringContaining('add'),
    });
    const codeOf = (work: Promise<unknown>) => work.catch((error: { code?: string }) => error.code);
    expect([
      await codeOf(host.catalog.getToolDefinition({ serverId: 'none', name: 'add' })),
      await codeOf(host.catalog.searchTools({ detail: 'all' as never })),
    ]).toEqual(['SERVER_NOT_FOUND', 'INVALID_ARGUMENTS']);
  } finally {
    await host.close();
  }
});
