import type { JsonObject } from '../../domain/json.js';
import type { ToolAnnotations } from '../../domain/tool.js';
import type { UpstreamHealth, UpstreamState } from '../../domain/upstream.js';
import type { ServerFacts, ToolSource } from '../../host/servers/server-control.js';
import { apiNamespacesOf } from '../../host/tools/api-view.js';
import type { CatalogServer, CatalogTool, ToolView } from '../../host/tools/tool-view.js';
import { omitUndefined } from '../../lib/omit-undefined.js';

/** The available servers and tools at one moment. */
export interface ToolRegistry<Tool extends ToolInfo = ToolInfo, Server = unknown> {
  /** By the name that the user gave them. */
  readonly servers: Map<string, Server>;
  /** By id: `server.tool`. */
  readonly tools: Map<string, Tool>;
  /** The ids of the tools of each namespace. */
  readonly namespaces: Map<string, string[]>;
}

/** What a host discovers. */
export type HostTools = ToolRegistry<HostTool, ServerInfo>;

export interface ServerInfo {
  readonly name: string;
  /** Code of `execute` calls its tools as `mcp.<namespace>.<tool>`. */
  readonly namespace: string;
  /** Programs of `run` import them from `@codemode/servers/<path>`. */
  readonly path: string;
  readonly source: ToolSource;
  readonly state: UpstreamState;
  readonly description?: string;
  readonly version?: string;
  readonly toolCount: number;
  /** Why its tools are unavailable or may be out of date. */
  readonly problem?: string;
}

/** One tool, as any aggregator lists it. */
export interface ToolInfo {
  readonly name: string;
  readonly serverName: string;
  readonly description: string;
  readonly inputSchema: JSONSchema;
  readonly outputSchema?: JSONSchema | undefined;
  readonly namespace: string;
}

/** A JSON Schema object, of whatever type your program uses for it. */
export type JSONSchema = object;

/** One tool of any kind of server. What a server says about its tools is untrusted text. */
export interface HostTool extends ToolInfo {
  /** `server.tool`, with both original names. */
  readonly id: string;
  /** Code of `execute` calls it as `mcp.<namespace>.<methodName>`. Absent if code may not call it. */
  readonly methodName?: string;
  /** Programs of `run` import it under this name. */
  readonly exportName: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly annotations?: ToolAnnotations;
  readonly metadata: ToolMetadata;
}

export interface ToolMetadata {
  readonly source: ToolSource;
  /** The version that the adapter or the tool gives; else that of its server. */
  readonly version: string;
  readonly tags: string[];
  readonly deprecated?: boolean | undefined;
  /** The lowest rate limit that the configuration sets for it. */
  readonly rateLimit?: RateLimit | undefined;
  /** How its server authenticates callers; never a credential. */
  readonly auth?: AuthRequirement | undefined;
}

export interface RateLimit {
  readonly calls: number;
  readonly perMs: number;
}

export type AuthRequirement = NonNullable<ServerFacts['auth']>;

interface Knowledge {
  readonly factsOf: (id: string) => ServerFacts | undefined;
  readonly rateOf: (tool: CatalogTool) => RateLimit | undefined;
}

/** The contract's default for a server that gives no version. */
const NO_VERSION = '1.0';

export function toolRegistryOf(
  view: ToolView,
  health: readonly UpstreamHealth[],
  { factsOf, rateOf }: Knowledge,
): HostTools {
  const states = new Map(health.map(({ id, state }) => [id, state]));
  const names = namesInCode(view);
  const servers = new Map<string, ServerInfo>();
  const tools = new Map<string, HostTool>();
  const namespaces = new Map<string, string[]>();
  const addServer = (server: CatalogServer): ServerInfo => {
    const known = servers.get(server.id);
    if (known !== undefined) return known;
    const namespace = names.namespaces.get(server.id) ?? server.id;
    const info = serverInfo(server, namespace, states.get(server.id) ?? 'idle', factsOf(server.id));
    servers.set(server.id, info);
    if (!namespaces.has(namespace)) namespaces.set(namespace, []);
    return info;
  };
  const addTool = (tool: CatalogTool): void => {
    const { namespace } = addServer(tool.server);
    const id = freeId(`${tool.server.id}.${tool.tool.name}`, tools);
    const methodName = names.methods.get(tool.target);
    const info = toolInfo(tool, { id, namespace, ...omitUndefined({ methodName }) }, factsOf, rateOf);
    tools.set(id, info);
    namespaces.get(namespace)?.push(id);
  };
  for (const server of view.forCode.servers) {
    addServer(server);
    for (const tool of server.tools) addTool(tool);
  }
  for (const { tool } of view.direct) addTool(tool);
  return { servers, tools, namespaces };
}

/** The names in code of `execute`: namespaces by server, methods by target. */
function namesInCode(view: ToolView) {
  const all = apiNamespacesOf(view);
  return {
    namespaces: new Map(all.map(({ name, server }) => [server.id, name])),
    methods: new Map(all.flatMap(({ methods }) => methods.map(({ name, tool }) => [tool.target, name] as const))),
  };
}

/** `a.b` may have a tool `c`, and `a` a tool `b.c`. */
function freeId(id: string, taken: ReadonlyMap<string, unknown>): string {
  if (!taken.has(id)) return id;
  let number = 2;
  while (taken.has(`${id}__${number}`)) number++;
  return `${id}__${number}`;
}

function serverInfo(
  server: CatalogServer,
  namespace: string,
  state: UpstreamState,
  facts: ServerFacts | undefined,
): ServerInfo {
  const { id, path, description, version, problem, tools } = server;
  return {
    name: id,
    namespace,
    path,
    source: facts?.source ?? 'mcp',
    state,
    ...omitUndefined({ description, version }),
    toolCount: tools.length,
    ...omitUndefined({ problem }),
  };
}

function toolInfo(
  catalogTool: CatalogTool,
  names: Pick<HostTool, 'id' | 'namespace' | 'methodName'>,
  factsOf: Knowledge['factsOf'],
  rateOf: Knowledge['rateOf'],
): HostTool {
  const { tool, exportName, server } = catalogTool;
  const { name, description = '', inputSchema = {}, outputSchema, annotations, deprecated, version, tags = [] } = tool;
  const facts = factsOf(server.id);
  const rateLimit = rateOf(catalogTool);
  return {
    ...names,
    name,
    serverName: server.id,
    exportName,
    description,
    inputSchema,
    ...omitUndefined({ outputSchema, annotations }),
    metadata: {
      source: facts?.source ?? 'mcp',
      version: version ?? server.version ?? NO_VERSION,
      tags: [...tags],
      ...(deprecated === true ? { deprecated } : {}),
      ...omitUndefined({ rateLimit, auth: facts?.auth }),
    },
  };
}
