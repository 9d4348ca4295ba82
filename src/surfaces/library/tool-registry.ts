import type { JsonObject } from '../../domain/json.js';
import type { ToolAnnotations } from '../../domain/tool.js';
import type { UpstreamHealth, UpstreamState } from '../../domain/upstream.js';
import type { ServerFacts, ToolSource } from '../../host/server-control.js';
import type { CatalogServer, CatalogTool, ToolView } from '../../host/tool-view.js';

/** What there is to use, at one moment. */
export interface ToolRegistry {
  /** By the name the user gave them. */
  readonly servers: ReadonlyMap<string, ServerInfo>;
  /** By id: `server.tool`. */
  readonly tools: ReadonlyMap<string, ToolInfo>;
  /** The ids of the tools of each namespace. */
  readonly namespaces: ReadonlyMap<string, readonly string[]>;
}

export interface ServerInfo {
  readonly name: string;
  /** The name programs import it by. */
  readonly namespace: string;
  readonly source: ToolSource;
  readonly state: UpstreamState;
  readonly description?: string;
  readonly version?: string;
  readonly toolCount: number;
  /** Why its tools are not to be had, or may be old. */
  readonly problem?: string;
}

/** One tool, whatever kind of server it comes from. What a server says of its tools is untrusted text. */
export interface ToolInfo {
  /** `server.tool`, with the server's namespace. */
  readonly id: string;
  readonly name: string;
  readonly serverName: string;
  readonly namespace: string;
  /** The identifier programs import it under. */
  readonly exportName: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly annotations?: ToolAnnotations;
  readonly metadata: ToolMetadata;
}

export interface ToolMetadata {
  readonly source: ToolSource;
  /** Of its server. */
  readonly version: string;
  readonly tags: readonly string[];
  readonly deprecated?: boolean;
  /** The lowest rate that the configuration sets for it. */
  readonly rateLimit?: RateLimit;
  /** How its server is shown who calls; never a credential. */
  readonly auth?: ServerFacts['auth'];
}

export interface RateLimit {
  readonly calls: number;
  readonly perMs: number;
}

interface Knowledge {
  readonly factsOf: (id: string) => ServerFacts | undefined;
  readonly rateOf: (tool: CatalogTool) => RateLimit | undefined;
}

/** A server that does not say. */
const NO_VERSION = '0.0.0';

export function toolRegistryOf(
  { forCode, direct }: ToolView,
  health: readonly UpstreamHealth[],
  { factsOf, rateOf }: Knowledge,
): ToolRegistry {
  const states = new Map(health.map(({ id, state }) => [id, state]));
  const servers = new Map<string, ServerInfo>();
  const tools = new Map<string, ToolInfo>();
  const namespaces = new Map<string, string[]>();
  const addServer = (server: CatalogServer): void => {
    if (servers.has(server.id)) return;
    servers.set(server.id, serverInfo(server, states.get(server.id) ?? 'idle', factsOf(server.id)));
    namespaces.set(server.path, []);
  };
  const addTool = (tool: CatalogTool): void => {
    addServer(tool.server);
    const info = toolInfo(tool, factsOf(tool.server.id), rateOf(tool));
    tools.set(info.id, info);
    namespaces.get(info.namespace)?.push(info.id);
  };
  for (const server of forCode.servers) {
    addServer(server);
    for (const tool of server.tools) addTool(tool);
  }
  for (const { tool } of direct) addTool(tool);
  return { servers, tools, namespaces };
}

function serverInfo(server: CatalogServer, state: UpstreamState, facts: ServerFacts | undefined): ServerInfo {
  const { id, path, description, version, problem, tools } = server;
  return {
    name: id,
    namespace: path,
    source: facts?.source ?? 'mcp',
    state,
    ...(description === undefined ? {} : { description }),
    ...(version === undefined ? {} : { version }),
    toolCount: tools.length,
    ...(problem === undefined ? {} : { problem }),
  };
}

function toolInfo(
  { tool, exportName, server }: CatalogTool,
  facts: ServerFacts | undefined,
  rateLimit: RateLimit | undefined,
): ToolInfo {
  const { name, description = '', inputSchema = {}, outputSchema, annotations, deprecated, tags = [] } = tool;
  return {
    id: `${server.path}.${name}`,
    name,
    serverName: server.id,
    namespace: server.path,
    exportName,
    description,
    inputSchema,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(annotations === undefined ? {} : { annotations }),
    metadata: {
      source: facts?.source ?? 'mcp',
      version: server.version ?? NO_VERSION,
      tags,
      ...(deprecated === true ? { deprecated } : {}),
      ...(rateLimit === undefined ? {} : { rateLimit }),
      ...(facts?.auth === undefined ? {} : { auth: facts.auth }),
    },
  };
}
