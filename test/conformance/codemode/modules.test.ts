import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CodemodeClient, startCodemode } from '../../support/codemode-client.js';

const named = (name: string, more: object = {}) => ({ name, inputSchema: { type: 'object' }, ...more });
const PIXEL = 'iVBORw0KGgo=';

let codemode: CodemodeClient;
beforeAll(async () => {
  codemode = await startCodemode({
    scripts: {
      'My_Server!!': { name: 'Mine', version: '3.0.0', tools: [named('plain', { description: 'A plain one.' })] },
      'my-server': { tools: [named('other')] },
      日本: { tools: [named('nihon')] },
      odd: {
        tools: [
          'b.c',
          'b-c',
          'b c',
          '123tool',
          'class',
          'await',
          'enum',
          'then',
          '__meta__',
          '__proto__',
          'constructor',
          'default',
          'Promise',
          'toString',
          '🎉',
          'x'.repeat(128),
          'a"b',
          "it's",
          'new\nline',
          '*/',
          '</script>',
        ].map((name) => named(name)),
      },
      shapes: {
        tools: [
          named('structured'),
          named('text'),
          named('two'),
          named('image'),
          named('empty'),
          named('nasty'),
          { name: 'nothing', inputSchema: {} },
          { name: 'absent' },
          { name: 'list', inputSchema: { type: 'array', items: { type: 'number' } } },
        ],
        replies: {
          structured: { content: [{ type: 'text', text: 'ignored' }], structuredContent: { a: [1, null] } },
          text: { content: [{ type: 'text', text: '{"looks":"like json"}' }] },
          two: {
            content: [
              { type: 'text', text: 'one' },
              { type: 'text', text: 'two' },
            ],
          },
          image: {
            content: [
              { type: 'text', text: 'see' },
              { type: 'image', data: PIXEL, mimeType: 'image/png' },
            ],
          },
          empty: { content: [] },
          nasty: {
            content: [],
            structuredContent: JSON.parse(
              '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"then":"text","toJSON":1}',
            ) as object,
          },
        },
      },
    },
  });
});
afterAll(() => codemode[Symbol.asyncDispose]());

const of = (module: string, expression: string) =>
  codemode.value(
    `import * as server from '@codemode/servers/${module}'; globalThis.__codemode_result__ = ${expression};`,
  );

describe('server modules', () => {
  test('lie under the normalised id of their server, with --2 where two are alike [A20]', async () => {
    expect(await of('my-server', '[server.__meta__.serverId, Object.keys(server)]')).toEqual([
      'my-server',
      expect.arrayContaining(['__meta__']),
    ]);
    expect(await of('my-server--2', 'server.__meta__.serverId')).toBe('my-server--2');
    expect(await of('server', 'Object.keys(server)')).toEqual(['__meta__', 'nihon']);
  });

  test('have one async function a tool and __meta__ [A21]', async () => {
    const [meta, isAsync, isFrozen] = (await codemode.value(`
      import { listServers } from '@codemode/discovery';
      const { serverId } = (await listServers()).find(({ serverName }) => serverName === 'Mine');
      const server = await import('@codemode/servers/' + serverId);
      const promise = server.plain({});
      globalThis.__codemode_result__ = [server.__meta__, promise instanceof Promise, Object.isFrozen(server.__meta__) && Object.isFrozen(server.__meta__.tools[0])];
      await promise;`)) as [object, boolean, boolean];
    expect(meta).toEqual({
      serverId: expect.stringMatching(/^my-server/),
      serverName: 'Mine',
      serverVersion: '3.0.0',
      tools: [{ toolName: 'plain', exportName: 'plain', description: 'A plain one.' }],
    });
    expect([isAsync, isFrozen]).toEqual([true, true]);
  });

  test('name their functions after the tools, deterministically and safely [A24]', async () => {
    const names = (await of(
      'odd',
      'server.__meta__.tools.map(({ toolName, exportName }) => [toolName, exportName])',
    )) as [string, string][];
    const exportOf = new Map(names);
    expect(exportOf.get('b c')).toBe('b_c');
    expect(exportOf.get('b-c')).toBe('b_c__2');
    expect(exportOf.get('b.c')).toBe('b_c__3');
    expect(exportOf.get('123tool')).toBe('_123tool');
    expect(exportOf.get('class')).toBe('class_');
    expect(exportOf.get('await')).toBe('await_');
    expect(exportOf.get('enum')).toBe('enum_');
    expect(exportOf.get('then')).toBe('then_');
    expect(exportOf.get('__meta__')).toBe('__meta___');
    expect(exportOf.get('default')).toBe('default_');
    expect(exportOf.get('Promise')).toBe('Promise');
    expect(new Set(exportOf.values()).size).toBe(exportOf.size);
  });

  test('send each tool’s own name upstream, however odd [A24]', async () => {
    const sent = (await of(
      'odd',
      'Object.fromEntries(await Promise.all(server.__meta__.tools.map(async ({ toolName, exportName }) => [exportName, (await server[exportName]({})).tool === toolName])))',
    )) as Record<string, boolean>;
    expect(Object.values(sent).every(Boolean)).toBe(true);
    expect(Object.keys(sent).length).toBeGreaterThanOrEqual(20);
  });

  test('several of them work together in one program, in parallel [A33]', async () => {
    const value = await codemode.value(`
      import * as odd from '@codemode/servers/odd';
      import { structured } from '@codemode/servers/shapes';
      const [a, b] = await Promise.all([structured({}), odd.Promise({ x: 1 })]);
      globalThis.__codemode_result__ = [a, b.received];`);
    expect(value).toEqual([{ a: [1, null] }, { x: 1 }]);
  });
});

describe('inputs and outputs', () => {
  test.each([
    ['structuredContent wins', 'structured({})', { a: [1, null] }],
    ['a single text block is its text', 'text({})', '{"looks":"like json"}'],
    [
      'an image comes as the whole result',
      'image({})',
      {
        content: [
          { type: 'text', text: 'see' },
          { type: 'image', data: PIXEL, mimeType: 'image/png' },
        ],
      },
    ],
    [
      'everything else comes as the whole result',
      'two({})',
      {
        content: [
          { type: 'text', text: 'one' },
          { type: 'text', text: 'two' },
        ],
      },
    ],
    ['no content is a whole result too', 'empty({})', { content: [] }],
  ])('%s [A23]', async (_, expression, expected) => {
    expect(await of('shapes', `await server.${expression}`)).toEqual(expected);
  });

  test('a result with hostile keys is plain data and pollutes nothing [A34]', async () => {
    expect(
      await of('shapes', '[JSON.stringify(await server.nasty({})), ({}).polluted, Object.prototype.polluted]'),
    ).toEqual([
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"then":"text","toJSON":1}',
      null,
      null,
    ]);
  });

  test('a tool without input takes nothing or {} ; other roots are passed as they are [A22]', async () => {
    expect(
      await of(
        'shapes',
        '[(await server.nothing()).received, (await server.nothing({})).received, (await server.absent()).received]',
      ),
    ).toEqual([{}, {}, {}]);
    expect(await of('shapes', '(await server.list([1, 2])).received')).toBeDefined();
  });
});
