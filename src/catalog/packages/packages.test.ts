import { expect, test } from 'vitest';
import { snapshotOf } from '../../../test/support/catalog.js';
import { packagesFor, packagesNamedIn } from './packages.js';

const snapshot = snapshotOf([
  { id: 'git-hub', tools: [{ name: 'list_issues' }] },
  { id: 'slack', tools: [] },
]);

test('packages are made once for a snapshot and a language, and hold a module for each server [B10, B14]', () => {
  expect(packagesFor(snapshot, 'node')).toBe(packagesFor(snapshot, 'node'));
  expect([...packagesFor(snapshot, 'node').keys()]).toEqual([
    'client/mcp_client.d.ts',
    'servers/git_hub/index.js',
    'servers/git_hub/index.d.ts',
    'servers/slack/index.js',
    'servers/slack/index.d.ts',
  ]);
  expect([...packagesFor(snapshot, 'python').keys()].filter((path) => path.startsWith('servers/git_hub'))).toEqual([
    'servers/git_hub/__init__.py',
    'servers/git_hub/__init__.pyi',
    'servers/git_hub/_types.pyi',
  ]);
});

test('no type of a server has the name of a constant of Python', () => {
  // A type that holds itself has the name of its definition.
  const names = ['true', 'false', 'None'];
  const part = (name: string) => ({ $ref: `#/$defs/${name}` });
  const $defs = Object.fromEntries(
    names.map((name) => [
      name,
      { type: 'object', properties: { [`of${name}`]: part(name) }, additionalProperties: false },
    ]),
  );
  const properties = Object.fromEntries(names.map((name) => [`a${name}`, part(name)]));
  const inputSchema = { type: 'object', properties, $defs };
  const python = packagesFor(snapshotOf([{ id: 'server', tools: [{ name: 'tool', inputSchema }] }]), 'python');
  expect(python.get('servers/server/_types.pyi')).not.toMatch(/^(?:class )?(?:True|False|None)\b/m);
});

test('a program gets the modules that it names, and all of them where it may look for others', () => {
  const all = packagesFor(snapshot, 'node');
  const modules = (source: string) =>
    [...packagesNamedIn(source, all).keys()]
      .filter((path) => path.endsWith('index.js'))
      .map((path) => path.split('/')[1]);
  expect(modules('import * as x from "./servers/slack/index.js"')).toEqual(['slack']);
  expect(modules('await import("./servers/git_hub/index.js")')).toEqual(['git_hub']);
  for (const source of ['1 + 1', '/servers/.exec(text)']) expect(modules(source)).toEqual([]);
  for (const source of [
    'await import(`./servers/${name}/index.js`)',
    'createRequire("/workspace/")(name); require(name)',
    "readdirSync('servers')",
    'import importlib',
    'Path("servers").iterdir()',
    'exec("import servers." + name)',
  ])
    expect(modules(source)).toEqual(['git_hub', 'slack']);
});
