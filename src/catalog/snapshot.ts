import type { Tool } from '../domain/tool.js';

/** One tool as programs see it. */
export interface CatalogTool {
  readonly tool: Tool;
  /** The identifier under which its server's module exports it. */
  readonly exportName: string;
  /** The worker's name for it: `path/toolName`. */
  readonly target: string;
  readonly server: CatalogServer;
  /** The policy requires approval for this caller's calls: for all of them, or for some depending on their arguments. */
  readonly asks?: true;
}

/** One server as programs see it: `import ... from '@codemode/servers/<path>'`. */
export interface CatalogServer {
  /** The name the user gave it. */
  readonly id: string;
  /** The name programs use for it, everywhere. */
  readonly path: string;
  /** Its own name for itself, or its id. */
  readonly name: string;
  readonly version?: string;
  readonly description?: string;
  /** Whether its tools are known and it answered the last request. */
  readonly isAvailable: boolean;
  /** It has not answered yet, so its tools are unknown. A program that names it waits for it. */
  readonly isStarting?: true;
  /** Why it is not available; absent while it is starting. */
  readonly problem?: string;
  readonly tools: readonly CatalogTool[];
  /** Its tools are stored scripts: the host runs them itself. No server of the user is one of these. */
  readonly holdsScripts?: true;
  /** The server with all its tools, if this one has only those that a caller sees. Names are assigned among all of them. */
  readonly whole?: CatalogServer;
  /** Its tools that are not for code: the names that clients call them by, keyed by their own names. */
  readonly direct?: ReadonlyMap<string, string>;
}

/** The tools that exist at one moment. A program keeps the snapshot it started with; the next program gets the next one. */
export interface CatalogSnapshot {
  /** Changes with every change of the content. */
  readonly version: number;
  readonly servers: readonly CatalogServer[];
  readonly serverByPath: ReadonlyMap<string, CatalogServer>;
  readonly toolByTarget: ReadonlyMap<string, CatalogTool>;
  /** The notice if no server is configured: what was searched for, and what the user has to type. */
  readonly notice?: string;
  /** The snapshot that this one is a part of. Search uses one index for both. */
  readonly whole?: CatalogSnapshot;
}

/** Whether no tool of a server can be called because its tools are unknown: it is down, or still starting. */
export function isUnavailable({ isAvailable, tools }: CatalogServer): boolean {
  return !isAvailable && tools.length === 0;
}

/** Names of all tools of a server. A tool that is hidden from a caller keeps its name reserved. */
export function allToolNames({ whole, tools }: CatalogServer): string[] {
  return (whole?.tools ?? tools).map(({ tool }) => tool.name);
}

/** The same for the servers of a snapshot. */
export function allServerIds({ whole, servers }: CatalogSnapshot): string[] {
  return (whole?.servers ?? servers).map(({ id }) => id);
}

/** All tools, including those that a caller does not see. */
export function allTools({ whole, servers }: CatalogSnapshot): Tool[] {
  const seen = new Map(servers.map((server) => [server.id, server.whole ?? server]));
  return (whole?.servers ?? servers).flatMap((server) => (seen.get(server.id) ?? server).tools.map(({ tool }) => tool));
}

/** The tool of a server with this protocol name or export name. Undefined if the caller does not see it. */
export function toolNamed(name: string, server: CatalogServer): CatalogTool | undefined {
  const { tools } = server.whole ?? server;
  const meant = tools.find(({ tool }) => tool.name === name) ?? tools.find(({ exportName }) => exportName === name);
  return meant && server.tools.find(({ target }) => target === meant.target);
}

/** The error for a program that names a tool which only the client calls; undefined for other names. */
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

/** Finds a server among all servers. Undefined if the caller does not see it. */
export function seenServer(
  snapshot: CatalogSnapshot,
  find: (whole: CatalogSnapshot) => CatalogServer | undefined,
): CatalogServer | undefined {
  const meant = find(snapshot.whole ?? snapshot);
  return meant && snapshot.serverByPath.get(meant.path);
}

/** Names of the tools whose calls need approval. */
export function askingTools(tools: readonly CatalogTool[]): ReadonlySet<string> {
  return new Set(tools.filter(({ asks }) => asks === true).map(({ tool }) => tool.name));
}
