import { memberNames } from './names.js';
import { allServerIds, allToolNames, type CatalogServer, type CatalogSnapshot, type CatalogTool } from './snapshot.js';

/** One server as `mcp.<name>`, for contracts in which tools are methods of an object. */
export interface Namespace {
  readonly name: string;
  readonly server: CatalogServer;
  readonly methods: readonly Method[];
}

export interface Method {
  readonly name: string;
  readonly tool: CatalogTool;
}

/** The namespaces of a snapshot, by server name. Computed once per snapshot. */
export function namespacesOf(snapshot: CatalogSnapshot): readonly Namespace[] {
  let namespaces = known.get(snapshot);
  if (namespaces === undefined) {
    const names = memberNames(allServerIds(snapshot));
    namespaces = snapshot.servers.map((server) => ({
      name: names.get(server.id) as string,
      server,
      methods: methodsOf(server),
    }));
    known.set(snapshot, namespaces);
  }
  return namespaces;
}

const known = new WeakMap<CatalogSnapshot, readonly Namespace[]>();

/** The expression that calls this tool: `mcp.<namespace>.<method>`. */
export function methodOf(tool: CatalogTool, snapshot: CatalogSnapshot): { namespace: string; method: string } {
  let names = knownMethods.get(snapshot);
  if (names === undefined) {
    names = new Map();
    for (const { name: namespace, methods } of namespacesOf(snapshot))
      for (const { name: method, tool: each } of methods) names.set(each.target, { namespace, method });
    knownMethods.set(snapshot, names);
  }
  return names.get(tool.target) ?? { namespace: tool.server.path, method: tool.exportName };
}

const knownMethods = new WeakMap<CatalogSnapshot, Map<string, { namespace: string; method: string }>>();

function methodsOf(server: CatalogServer): Method[] {
  const names = memberNames(allToolNames(server));
  return server.tools.map((tool) => ({ name: names.get(tool.tool.name) as string, tool }));
}
