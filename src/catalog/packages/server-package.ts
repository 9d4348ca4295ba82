import type { Tool } from '../../domain/tool.js';
import { omitUndefined } from '../../lib/omit-undefined.js';
import { compareCodePoints, withoutDuplicates } from '../names.js';
import type { CatalogServer } from '../snapshot.js';

/** A server whose files are generated. */
export interface ServerPackage {
  readonly server: CatalogServer;
  /** Whether there is no room for types, nor for more than a sentence about each tool. */
  readonly isBrief: boolean;
}

/** `__meta__` of a server's module: the protocol's names for the names that programs use. */
export interface ServerMeta {
  readonly serverId: string;
  readonly serverName: string;
  readonly serverVersion?: string;
  readonly tools: readonly { readonly toolName: string; readonly exportName: string }[];
}

export function metaOf(server: CatalogServer, names: ReadonlyMap<string, string>): ServerMeta {
  return {
    serverId: server.id,
    serverName: server.name,
    ...omitUndefined({ serverVersion: server.version }),
    tools: [...names].map(([toolName, exportName]) => ({ toolName, exportName })),
  };
}

/** The names of these tools, out of the names assigned among all tools of a server. */
export function namesOf(tools: readonly Tool[], all: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  return new Map(tools.map(({ name }) => [name, all.get(name) as string]));
}

/** Sorted by name, so that the same tools give the same text, whatever order the server lists them in. */
export function sortedTools(server: CatalogServer): readonly Tool[] {
  const { tools } = withoutDuplicates(server.tools.map(({ tool }) => tool));
  return [...tools].sort((one, other) => compareCodePoints(one.name, other.name));
}
