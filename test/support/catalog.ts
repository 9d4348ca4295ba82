import { exportNames, modulePaths } from '../../src/catalog/names.js';
import type { CatalogServer, CatalogSnapshot, CatalogTool } from '../../src/catalog/snapshot.js';
import type { Tool } from '../../src/domain/tool.js';
import { omitUndefined } from '../../src/lib/omit-undefined.js';
import { loadToolsets } from './corpus.js';

export interface ServerFixture {
  readonly id: string;
  readonly name?: string;
  readonly version?: string;
  readonly description?: string;
  /** Why it is not available. */
  readonly problem?: string;
  readonly tools: readonly Omit<Tool, 'serverId'>[];
}

/** A snapshot of these servers, with the names that programs know them by. */
export function snapshotOf(fixtures: readonly ServerFixture[]): CatalogSnapshot {
  const paths = modulePaths(fixtures.map(({ id }) => id));
  const servers = fixtures.map((fixture) => serverOf(fixture, paths.get(fixture.id) as string));
  return {
    version: 1,
    servers,
    serverByPath: new Map(servers.map((server) => [server.path, server])),
    toolByTarget: new Map(servers.flatMap(({ tools }) => tools.map((tool) => [tool.target, tool] as const))),
  };
}

export function corpusSnapshot(): CatalogSnapshot {
  return snapshotOf(loadToolsets().map(({ id, serverName, tools }) => ({ id, name: serverName, tools })));
}

/** Two small servers whose whole text can be read at a glance: the pins are made of them. */
export const SMALL_CATALOG: readonly ServerFixture[] = [
  {
    id: 'Notes',
    name: 'Notes',
    version: '1.2.0',
    description: 'Keeps notes in folders. Ask before you write.',
    tools: [
      {
        name: 'search_notes',
        description: 'Finds notes by their text.',
        inputSchema: {
          type: 'object',
          properties: {
            query: { type: 'string', description: 'Words to look for.' },
            limit: { type: 'integer', default: 10, minimum: 1 },
          },
          required: ['query'],
        },
        outputSchema: {
          type: 'object',
          properties: { hits: { type: 'array', items: { type: 'object', properties: { id: { type: 'string' } } } } },
          required: ['hits'],
        },
        annotations: { readOnlyHint: true },
      },
      {
        name: 'delete-note',
        description: 'Deletes a note for good.',
        inputSchema: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
        annotations: { destructiveHint: true },
      },
    ],
  },
  {
    id: 'clock',
    name: 'World clock',
    problem: 'the process ended with code 1',
    tools: [{ name: 'now', description: 'The time.' }],
  },
];

/** Every `ts` block of a text, without its fences. */
export function codeBlocks(text: string): readonly string[] {
  return [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code]) => code as string);
}

function serverOf(fixture: ServerFixture, path: string): CatalogServer {
  const names = exportNames(fixture.tools.map(({ name }) => name));
  const tools: CatalogTool[] = [];
  const server: CatalogServer = {
    id: fixture.id,
    path,
    name: fixture.name ?? fixture.id,
    ...omitUndefined({ version: fixture.version, description: fixture.description }),
    isAvailable: fixture.problem === undefined,
    ...omitUndefined({ problem: fixture.problem }),
    tools,
  };
  for (const tool of fixture.tools) {
    const exportName = names.get(tool.name) as string;
    tools.push({ tool: { ...tool, serverId: fixture.id }, exportName, target: `${path}/${tool.name}`, server });
  }
  return server;
}
