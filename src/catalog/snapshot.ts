import type { Tool } from '../domain/tool.js';

/** One tool as programs know it. */
export interface CatalogTool {
  readonly tool: Tool;
  /** The identifier under which its server's module exports it. */
  readonly exportName: string;
  /** What a worker names it by: `path/toolName`. */
  readonly target: string;
  readonly server: CatalogServer;
  /** The policy makes this caller's calls wait for a person: all of them, or some by their arguments. */
  readonly asks?: true;
}

/** One server as programs know it: `import ... from '@codemode/servers/<path>'`. */
export interface CatalogServer {
  /** The name the user gave it. */
  readonly id: string;
  /** The name programs use for it, everywhere. */
  readonly path: string;
  /** What it calls itself, or its id. */
  readonly name: string;
  readonly version?: string;
  readonly description?: string;
  /** Whether its tools are known and it answered the last time it was asked. */
  readonly isAvailable: boolean;
  /** It has not answered yet, so its tools are not known. A program that names it waits for it. */
  readonly isStarting?: true;
  /** Why it is not available; absent while it is starting. */
  readonly problem?: string;
  readonly tools: readonly CatalogTool[];
  /** With all its tools, where this one has those only that a caller sees. Names are given out among all of them. */
  readonly whole?: CatalogServer;
  /** Its tools that are not for code: the names that clients call them by, under their own. */
  readonly direct?: ReadonlyMap<string, string>;
}

/** Which tools exist, at one moment. A program keeps the one it started with; the next gets the next. */
export interface CatalogSnapshot {
  /** Changes whenever anything in it does. */
  readonly version: number;
  readonly servers: readonly CatalogServer[];
  readonly serverByPath: ReadonlyMap<string, CatalogServer>;
  readonly toolByTarget: ReadonlyMap<string, CatalogTool>;
  /** Where no server is configured: what was searched for, and what the user has to type. */
  readonly notice?: string;
  /** The snapshot that this one is a part of. Search has one index for both. */
  readonly whole?: CatalogSnapshot;
}

/** Whether nothing of a server can be called because its tools are not known: it is down, or still starting. */
export function isUnavailable({ isAvailable, tools }: CatalogServer): boolean {
  return !isAvailable && tools.length === 0;
}

/** Names of all tools of a server: one that is hidden from a caller leaves its name to nobody. */
export function allToolNames({ whole, tools }: CatalogServer): string[] {
  return (whole?.tools ?? tools).map(({ tool }) => tool.name);
}

/** The same for the servers of a snapshot. */
export function allServerIds({ whole, servers }: CatalogSnapshot): string[] {
  return (whole?.servers ?? servers).map(({ id }) => id);
}

/** Every tool there is, also those that a caller does not see. */
export function allTools({ whole, servers }: CatalogSnapshot): Tool[] {
  const seen = new Map(servers.map((server) => [server.id, server.whole ?? server]));
  return (whole?.servers ?? servers).flatMap((server) => (seen.get(server.id) ?? server).tools.map(({ tool }) => tool));
}

/** The tool of a server that is meant by its own name, or by the one that programs use. Undefined where it is not seen. */
export function toolNamed(name: string, server: CatalogServer): CatalogTool | undefined {
  const { tools } = server.whole ?? server;
  const meant = tools.find(({ tool }) => tool.name === name) ?? tools.find(({ exportName }) => exportName === name);
  return meant && server.tools.find(({ target }) => target === meant.target);
}

/** What a program is told that asks for a tool which only the client calls; undefined where the name is none of those. */
export function notForCode(name: string, server: CatalogServer): { message: string; hint: string } | undefined {
  const { tools } = server.whole ?? server;
  const meant = tools.find(({ tool }) => tool.name === name) ?? tools.find(({ exportName }) => exportName === name);
  const listed = meant && server.direct?.get(meant.tool.name);
  if (listed === undefined) return undefined;
  return {
    message: `${server.path}/${meant?.tool.name} cannot be called from code: the client calls it directly`,
    hint: `Call the tool ${JSON.stringify(listed)} directly, without a program.`,
  };
}

/** The server of a snapshot among all there are: where another is meant that is not seen, none. */
export function seenServer(
  snapshot: CatalogSnapshot,
  find: (whole: CatalogSnapshot) => CatalogServer | undefined,
): CatalogServer | undefined {
  const meant = find(snapshot.whole ?? snapshot);
  return meant && snapshot.serverByPath.get(meant.path);
}

/** Names of the tools whose calls wait for a person. */
export function askingTools(tools: readonly CatalogTool[]): ReadonlySet<string> {
  return new Set(tools.filter(({ asks }) => asks === true).map(({ tool }) => tool.name));
}
