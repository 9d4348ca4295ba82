import { describe, expect, test } from 'vitest';
import type { CatalogServer, CatalogSnapshot } from '../../catalog/snapshot.js';
import { serversNamedIn, usesDiscovery } from './named-servers.js';

function snapshotOf(...ids: string[]): CatalogSnapshot {
  const servers = ids.map(
    (id): CatalogServer => ({ id, path: id.toLowerCase(), name: id, isAvailable: true, tools: [] }),
  );
  return {
    version: 1,
    servers,
    serverByPath: new Map(servers.map((each) => [each.path, each])),
    toolByTarget: new Map(),
  };
}

const SNAPSHOT = snapshotOf('git', 'github', 'time', 'my-server', 'Linear');

function named(source: string): string[] {
  return serversNamedIn(source, SNAPSHOT, SNAPSHOT.servers).map(({ id }) => id);
}

describe('a source names a server', () => {
  test.each([
    ['by importing its module', `import { list } from '@codemode/servers/github';`, ['github']],
    ['in a dynamic import', 'await import("@codemode/servers/my-server")', ['my-server']],
    ['as an argument of discovery', "await getTool('github', 'x')", ['github']],
    ['with a prefix', 'call_tool("mcp:git", "log", {})', ['git']],
    ['by the name that the user gave it', `call_tool('Linear', 'list')`, ['Linear']],
    ['as a namespace', 'return mcp.github.list({})', ['github']],
    ['as a namespace in brackets', "mcp['my-server'].x()", ['my-server']],
    ['by taking a namespace apart', 'const { time, git } = mcp;', ['git', 'time']],
    ['as a Python module', 'from servers.my_server import list_all', ['my-server']],
    ['as a Python module without a path', 'from servers import (\n  time,\n  git)', ['git', 'time']],
    ['as a Node module', `import * as g from './servers/github/index.js';`, ['github']],
    ['in a call of Go', 'callTool(ctx, "time", "now", nil)', ['time']],
  ])('%s', (_, source, expected) => {
    expect(named(source)).toEqual(expected);
  });

  test.each([
    ['by a word of the language', 'import time\nresult = time.time()'],
    ['by a part of another name', `import '@codemode/servers/gith'; const timeout = 3;`],
    ['by a variable', 'const git = 1; const github_token = git;'],
  ])('but not %s', (_, source) => {
    expect(named(source)).toEqual([]);
  });
});

test.each([
  'await searchTools("issues")',
  'await listServers()',
  'await import(`@codemode/servers/${name}`)',
  `await import('@codemode/servers/' + name)`,
  'mcp[name].list()',
  'for (const each of Object.keys(mcp)) {}',
  "importlib.import_module('servers.' + name)",
])('%s looks for servers that it does not name', (source) => {
  expect(usesDiscovery(source)).toBe(true);
});

test.each([
  `await import('@codemode/servers/git')`,
  `import x from '@codemode/servers/git'`,
  'return 1',
  "mcp['git'].x()",
])('%s looks for nothing', (source) => {
  expect(usesDiscovery(source)).toBe(false);
});
